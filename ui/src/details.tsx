import type { Page } from './page.ts'

export function Details({ page }: { page: Page }) {
  return <section aria-label="details">{page.picture.title}</section>
}

import type { Page } from './page.ts'

export function Compose({ page }: { page: Page }) {
  return <section aria-label="compose">{page.picture.title}</section>
}

import type { Page } from './page.ts'

export function Regulation({ page }: { page: Page }) {
  return <section aria-label="regulation">{page.picture.title}</section>
}

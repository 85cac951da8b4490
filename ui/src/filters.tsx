import type { Page } from './page.ts'

export function Filters({ page }: { page: Page }) {
  return <section aria-label="filters">{page.picture.title}</section>
}

import type { Page } from './page.ts'

export function CostsView({ page }: { page: Page }) {
  return <section aria-label="costs">{page.picture.title}</section>
}

import type { Page } from './page.ts'

export function Findings({ page }: { page: Page }) {
  return <section aria-label="findings">{page.picture.title}</section>
}

import type { Page } from './page.ts'

export function Stacks({ page }: { page: Page }) {
  return <section aria-label="stacks">{page.picture.title}</section>
}

import type { Page } from './page.ts'
import type { Shape } from './shape.ts'

export function Tree({ page, shape }: { page: Page; shape: Shape }) {
  return <section aria-label="tree">{page.picture.title}{shape.shown}</section>
}

import type { Page } from './page.ts'
import type { Shape } from './shape.ts'

export function Graph({ page, shape }: { page: Page; shape: Shape }) {
  return <section aria-label="graph">{page.picture.title}{shape.shown}</section>
}

// The frame: header with totals and connection, the choice of views, and the view.

import type { ComponentType } from 'preact'
import { useEffect, useReducer } from 'preact/hooks'
import { CostsView } from './costs.tsx'
import { Details } from './details.tsx'
import { Filters } from './filters.tsx'
import { Findings } from './findings.tsx'
import { Graph } from './graph.tsx'
import type { Page } from './page.ts'
import { Regulation } from './regulation.tsx'
import { shape } from './shape.ts'
import { Stacks } from './stacks.tsx'
import { Tree } from './tree.tsx'

/** compose is of the live page alone: a file does not carry it. */
export function Shell({ page, compose: Compose }: { page: Page; compose?: ComponentType<{ page: Page }> }) {
  const [, again] = useReducer((n: number) => n + 1, 0)
  useEffect(() => page.watch(() => again(0)), [page])
  const stack = page.stack()
  return (
    <main>
      <h1>{page.picture.title}</h1>
      {page.choice.view === 'stacks' && <Stacks page={page} />}
      {page.choice.view === 'stack' && stack && <StackView page={page} />}
      {page.choice.view === 'costs' && <CostsView page={page} />}
      {page.choice.view === 'findings' && <Findings page={page} />}
      {page.choice.view === 'regulation' && <Regulation page={page} />}
      {page.choice.view === 'compose' && Compose && <Compose page={page} />}
    </main>
  )
}

function StackView({ page }: { page: Page }) {
  const s = shape(page, page.stack()!)
  return (
    <>
      <Filters page={page} />
      <Tree page={page} shape={s} />
      <Graph page={page} shape={s} />
      <Details page={page} />
    </>
  )
}

// Paths equal those of pkg/graph: internal/app/page_twins_test.go writes the fixture.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { load } from './load.mjs'

const { path } = await load('path.ts')
const { Page } = await load('page.ts')
const twins = JSON.parse(readFileSync(new URL('fixtures/twins.json', import.meta.url)))

const pages = twins.map(({ kinds, namespaces, nodes }) => new Page({ kinds, namespaces, nodes, stacks: [], labels: [], rules: [] }, null, null))
const edgeOf = (page, { from, edge }) => [from, page.uiState.nodes[from].e.indexOf(edge)]

test('there are twins', () => {
  assert.ok(twins.length > 40)
  assert.ok(twins.some((t) => t.paths.some((p) => p.steps?.length > 4)) && twins.some((t) => t.paths.some((p) => !p.steps)))
})

test('paths', () => {
  twins.forEach((twin, i) => {
    for (const { ends, steps } of twin.paths) {
      const got = path(pages[i], ...ends)
      assert.deepEqual(got && got.map((s) => [...edgeOf(pages[i], s.arrow), s.against ? 1 : 0]), steps, `graph ${i}, ${ends}`)
    }
  })
})

// Path and impact are those of pkg/graph: internal/cli/ui_twins_test.go writes what they say.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { load } from './load.mjs'

const { path } = await load('path.ts')
const { impact } = await load('impact.ts')
const { Page } = await load('page.ts')
const twins = JSON.parse(readFileSync(new URL('fixtures/twins.json', import.meta.url)))

const pages = twins.map(({ kinds, namespaces, nodes }) => new Page({ kinds, namespaces, nodes, stacks: [], labels: [], rules: [] }, null, null))
const edgeOf = (page, { from, edge }) => [from, page.picture.nodes[from].e.indexOf(edge)]

test('there are twins', () => {
  assert.ok(twins.length > 40)
  assert.ok(twins.some((t) => t.impacts.some((i) => i.through?.length > 2)))
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

test('impacts', () => {
  twins.forEach((twin, i) => {
    twin.impacts.forEach((want, id) => {
      const got = impact(pages[i], id), list = (all) => all.map((d) => [d.id, d.cause, ...edgeOf(pages[i], d.arrow), d.optional ? 1 : 0])
      assert.deepEqual([got.deleted, got.orphaned, list(got.direct), list(got.through)], [want.deleted ?? [], want.orphaned ?? [], want.direct ?? [], want.through ?? []], `graph ${i}, node ${id}`)
    })
  })
})

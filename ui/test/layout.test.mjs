import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { test } from 'node:test'
import { load } from './load.mjs'

const { layout } = await load('layout.ts')
const fixtures = new URL('../../internal/layout/testdata/', import.meta.url)

/** The random forest of internal/layout/layout_test.go. */
function seeded({ Seed, Count, Reach, Roots }) {
  let x = Seed
  const random = (n) => (x = x * 48271 % 2147483647) % n
  return Array.from({ length: Count }, (_, i) => {
    const parent = i > 0 && random(Roots) > 0 ? Math.max(0, i - 1 - random(Reach)) : -1
    return [parent, 100 + 30 * random(5), 31 + 20 * random(4)]
  })
}

function forest(cards) {
  const nodes = cards.map(([, width, height]) => ({ width, height, children: [] }))
  cards.forEach(([parent], i) => parent >= 0 && nodes[parent].children.push(nodes[i]))
  return nodes.filter((_, i) => cards[i][0] < 0)
}

const lower = (o) => Object.fromEntries(Object.entries(o).map(([k, v]) => [k.toLowerCase(), v]))
const names = readdirSync(fixtures)

test('there are fixtures', () => assert.ok(names.length >= 7))

for (const name of names) {
  test(`${name}: coordinates are those of Go`, () => {
    const f = JSON.parse(readFileSync(new URL(name, fixtures)))
    const p = layout(forest(f.cards ?? seeded(f.made)), lower(f.options))
    if (f.boxes) assert.deepEqual(p.boxes.map((b) => [b.x, b.y]), f.boxes)
    assert.deepEqual([p.width, p.height], [f.width, f.height])
    assert.equal(p.boxes.reduce((s, b) => (s * 31 + b.x * 7 + b.y) % 2147483647, 0), f.sum)
  })
}

test('a chain of 50,000 has room', () => {
  const p = layout(forest(Array.from({ length: 50_000 }, (_, i) => [i - 1, 10, 10])), { across: 1, between: 1, apart: 1, aspect: 100 })
  assert.deepEqual(p.boxes.at(-1), { x: 11 * 49_999, y: 0 })
})

test('nothing takes no room', () => {
  assert.deepEqual(layout([], { across: 1, between: 1, apart: 1, aspect: 100 }), { boxes: [], width: 0, height: 0 })
})

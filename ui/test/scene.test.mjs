import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { load } from './load.mjs'

const { Page } = await load('page.ts')
const { shape } = await load('shape.ts')
const g = await load('graph_scene.ts')
const testdata = new URL('../../internal/render/testdata/', import.meta.url)

function open() {
  const page = new Page(JSON.parse(readFileSync(new URL('picture.json', testdata))), null)
  const [stack] = page.uiState.stacks
  page.choice.stack = stack.name
  return { page, stack, scene: () => g.scene(page, stack, shape(page, stack), 160) }
}

test('cards and lines are where the drawing of Go has them', () => {
  const { stack, scene } = open(), s = scene(), svg = readFileSync(new URL('picture.svg.golden', testdata), 'utf8')
  const part = svg.slice(svg.indexOf('>' + stack.name + '<'), svg.indexOf('>namespace/web<'))
  const drawn = [...part.matchAll(/<g transform="translate\((\d+) (\d+)\)"><title>/g)].map((m) => [Number(m[1]), Number(m[2])])
  assert.equal(drawn.length, 9)
  assert.deepEqual(s.cards.map((c) => [c.x, c.y]), drawn)
  const vias = [...part.matchAll(/class="edge cross (\w+) (\w+)"/g)].map((m) => `${m[1]} ${m[2]}`)
  assert.deepEqual(s.quiet.map((l) => `${['', 'owns', 'needs', 'serves'][l.relation]} ${l.via}`), vias)
  const tree = [...part.matchAll(/class="edge (\w+) (\w+)"/g)].map((m) => `${m[1]} ${m[2]}`)
  assert.deepEqual(s.cards.filter((c) => c.parent >= 0).map((c) => `${['', 'owns', 'needs', 'serves'][c.relation]} ${c.via}`), tree)
})

test('an edge is drawn once, and not where the tree has a line', () => {
  const { page, scene } = open(), s = scene()
  const names = s.cross.map((l) => `${page.node(s.cards[l.from].item.node).n} ${l.relation} ${page.node(s.cards[l.to].item.node).n}`)
  assert.equal(new Set(names).size, names.length)
  const [fold] = s.cards.filter((c) => c.item.fold)
  assert.equal(fold.item.fold.length, 5)
  assert.equal(s.at.get(s.cards.indexOf(fold)).length, 2, 'needs the secret, is served by the service')
  for (const l of s.cross) assert.ok(s.cards[l.from].parent !== l.to && s.cards[l.to].parent !== l.from)
})

test('health moves no card, and a scene takes over the items of now', () => {
  const { page, stack, scene } = open(), s = scene(), before = s.cards.map((c) => [c.x, c.y])
  page.uiState.nodes[2] = { ...page.uiState.nodes[2], h: 6 }
  page.uiState.at = 'later'
  const now = shape(page, stack)
  assert.ok(g.keep(s, stack, now))
  assert.ok(s.cards.some((c) => c.item.fold && c.item.worst === 6))
  assert.deepEqual(scene().cards.map((c) => [c.x, c.y]), before)
  page.choice.search = 'tls'
  assert.ok(!g.keep(s, stack, shape(page, stack)))
})

test('an open fold has a card, and its leaves hang below it', () => {
  const { page, stack, scene } = open()
  page.choice.open = [shape(page, stack).items.find((it) => it.fold).key]
  const s = scene(), at = s.cards.findIndex((c) => c.item.fold)
  assert.equal(s.cards.filter((c) => c.parent === at).length, 5)
  assert.equal(s.cards[s.of.get(2)].item.node, 2)
  assert.ok(!s.cards[s.of.get(2)].item.fold)
  assert.ok(s.cross.every((l) => l.from !== at && l.to !== at), 'lines go to the leaves')
})

const size = { width: 1000, height: 600 }

test('to fit stops where names can be read, and starts at the root or the selection', () => {
  const { page, stack, scene } = open(), s = scene()
  const small = g.fit(s, { width: 4000, height: 3000 }, -1)
  assert.equal(small.z, 1)
  const large = { ...s, width: 9000, height: 5000, cards: [{ ...s.cards[0], x: 0, y: 2400 }, { ...s.cards[1], x: 4000, y: 100, parent: 0 }] }
  const root = g.fit(large, size, -1)
  assert.equal(root.z, g.readable)
  assert.ok(root.x > 0 && root.x < 100)
  assert.ok(Math.abs(root.y + (2400 + g.cardHeight / 2) * root.z - size.height / 2) < 2, 'the root is in the middle')
  const chosen = g.fit(large, size, 1)
  assert.ok(Math.abs(chosen.x + (4000 + g.cardWidth / 2) * chosen.z - size.width / 2) < 2)
  const whole = g.fit(large, size, -1, 0)
  assert.ok(whole.z < 0.12 && whole.x >= 0 && 9000 * whole.z + whole.x <= size.width)
  assert.deepEqual(g.fit({ ...s, cards: [], width: 0, height: 0 }, size, -1).z, 1)
  assert.ok(page && stack)
})

test('zoom keeps the point below the pointer, within bounds', () => {
  const v = g.zoom({ x: 10, y: 20, z: 1 }, 1.5, 300, 200)
  assert.deepEqual([(300 - v.x) / v.z, (200 - v.y) / v.z].map(Math.round), [290, 180])
  assert.equal(g.zoom(v, 100, 0, 0).z, g.maxZoom)
  assert.equal(g.zoom(v, 0.0001, 0, 0).z, g.minZoom)
})

test('what is in sight is not moved, what is not is moved as little as can be', () => {
  const v = { x: 0, y: 0, z: 1 }
  assert.deepEqual(g.reveal(v, size, { x: 100, y: 100 }), v)
  assert.deepEqual(g.reveal(v, size, { x: -50, y: 590 }), { x: 74, y: 600 - 24 - g.cardHeight - 590, z: 1 })
  assert.deepEqual(g.reveal(v, { width: 100, height: 50 }, { x: 500, y: 500 }), { x: 24 - 500, y: 24 - 500, z: 1 })
})

test('what is selected elsewhere comes to the middle, unless it is in sight', () => {
  const v = { x: 0, y: 0, z: 0.5 }
  assert.equal(g.bring(v, size, { x: 100, y: 100 }), v)
  const to = g.bring(v, size, { x: 4000, y: 101 })
  assert.deepEqual([(4000 + g.cardWidth / 2) * 0.5 + to.x, (101 + g.cardHeight / 2) * 0.5 + to.y, to.z], [500, 300, 0.5])
})

test('arrows go to parent, first child and siblings, and stay where there is none', () => {
  const { page, scene } = open(), s = scene()
  const cardNamed = (name) => s.cards.findIndex((c) => !c.item.fold && page.node(c.item.node).n === name)
  const go = (from, key) => page.node(s.cards[g.neighbor(s, cardNamed(from), key)].item.node).n
  assert.equal(go('shop', 'ArrowRight'), 'web')
  assert.equal(go('shop', 'ArrowLeft'), 'shop')
  assert.equal(go('shop', 'ArrowDown'), 'shop')
  assert.equal(go('db-tls', 'ArrowLeft'), 'shop')
  assert.equal(go('db-tls', 'ArrowUp'), 'web')
  assert.equal(go('db-tls', 'ArrowRight'), 'db-tls')
  assert.equal(go('data', 'Home'), 'shop')
  assert.equal(go('shop', 'End'), 'front')
})

test('a hub has a count in place of lines, and selected one line to each workload', () => {
  const nodes = [{ k: 2, n: 'secret' }], tree = [{ n: 0 }]
  for (let i = 0; i < 15; i++) {
    nodes.push({ k: 0, n: 'app-' + i, e: [{ t: nodes.length + 1, r: 1, v: 'owner', u: 0 }] }, { k: 1, n: 'pod-' + i, e: [{ t: 0, r: 2, v: 'spec', u: 0 }] })
    tree.push({ n: nodes.length - 2 }, { n: nodes.length - 1, d: 1, w: 'owned' })
  }
  const stack = { name: 'x', roots: [0], tree, objects: nodes.length }
  const page = new Page({ mode: 'file', kinds: [{ kind: 'Deployment' }, { kind: 'Pod' }, { kind: 'Secret' }], namespaces: [''], labels: [], rules: ['owner'], nodes, stacks: [stack], objects: nodes.length }, null)
  page.choice.stack = 'x'
  page.choice.open = ['*']
  const s = g.scene(page, stack, shape(page, stack), 160), secret = s.of.get(0)
  assert.equal(s.hubs.get(secret), '15 need it')
  assert.deepEqual(s.quiet, [])
  assert.equal(s.at.get(secret).length, 15)
  const lines = g.linesAt(s, secret)
  assert.equal(lines.length, 15)
  assert.ok(lines.every((l) => l.to === secret && page.node(s.cards[l.from].item.node).n.startsWith('app-')))
  assert.equal(g.linesAt(s, s.of.get(2)).length, 1, 'a pod has its own line')
})

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { load } from './load.mjs'

const { broken, chosen, dependants, mapModel, part, titleOf } = await load('map_model.ts')
const { hasApps, wantedStacks } = await load('table.ts')
const { curves, heightOf, middle, placeCards, rounded } = await load('map_layout.ts')
const { decode, Page } = await load('page.ts')

/** A page of stacks: objects "Kind/namespace/name health", edges "from relation to flags", trees by stack with costs. */
function pageOf(objects, edges, stacks) {
  const uiState = { kinds: [], namespaces: [''], labels: [], rules: ['r'], nodes: [], stacks: [], objects: 0, at: '1', mode: 'snapshot' }
  const index = (list, v, key = (x) => x) => {
    const at = list.findIndex((x) => key(x) === key(v))
    return at < 0 ? list.push(v) - 1 : at
  }
  const number = new Map()
  for (const o of objects) {
    const [ref, h = '1'] = o.split(' '), [kind, ns, n] = ref.split('/')
    number.set(ref, uiState.nodes.push({ k: index(uiState.kinds, { kind }, (k) => k.kind), s: index(uiState.namespaces, ns), n, h: +h, ...(h === '5' && { t: 'missing' }) }) - 1)
  }
  for (const e of edges) {
    const [from, relation, to, flags = ''] = e.split(' ')
    ;(uiState.nodes[number.get(from)].e ??= []).push({ t: number.get(to), r: ['', 'owns', 'needs', 'serves'].indexOf(relation), v: 'spec', u: 0, w: to, ...(flags.includes('i') && { i: true }), ...(flags.includes('o') && { o: true }), ...(flags.includes('a') && { f: 1 }) })
  }
  for (const [root, { tree, health = 1, cost }] of Object.entries(stacks)) {
    uiState.stacks.push({ name: root, namespace: root.split('/')[1], roots: [number.get(root)], health, cost, objects: tree.length, tree: tree.map((t) => { const [ref, o] = t.split(' '); return { n: number.get(ref), ...(o && { o: +o }) } }) })
  }
  return new Page(uiState, null)
}
const of = (page) => {
  const m = mapModel(page, page.uiState.stacks), name = (i) => titleOf(m.cards[i]).name
  return { m, cards: m.cards.map((c) => (c.stack ? '' : 'part ') + titleOf(c).name), lines: m.lines.map((l) => `${name(l.from)} ${l.inferred ? '~' : l.optional ? '?' : '-'}> ${name(l.to)}`).sort() }
}

const shop = () => pageOf(
  ['App/shop/a', 'App/shop/b', 'Pod/shop/a-0', 'Pod/shop/b-0 6', 'Service/shop/db', 'Db/shop/db', 'Pod/shop/db-0', 'Secret/shop/db', 'ConfigMap/shop/own', 'Policy/shop/p', 'ConfigMap/shop/alone', 'App/other/x', 'Pod/other/x-0'],
  ['App/other/x owns Pod/other/x-0', 'App/shop/a owns Pod/shop/a-0', 'App/shop/b owns Pod/shop/b-0', 'Db/shop/db owns Pod/shop/db-0', 'Db/shop/db owns Service/shop/db', 'Db/shop/db needs Secret/shop/db',
    'App/shop/a needs Service/shop/db', 'Pod/shop/b-0 needs Service/shop/db i', 'App/shop/a needs ConfigMap/shop/own', 'Policy/shop/p serves Pod/shop/db-0', 'Policy/shop/p needs App/shop/a a'],
  {
    'App/shop/a': { tree: ['App/shop/a', 'Pod/shop/a-0 70', 'Service/shop/db', 'Db/shop/db', 'Pod/shop/db-0 15', 'Secret/shop/db', 'ConfigMap/shop/own', 'Policy/shop/p'], cost: 85 },
    'App/shop/b': { tree: ['App/shop/b', 'Pod/shop/b-0 20', 'Service/shop/db', 'Db/shop/db', 'Pod/shop/db-0 15', 'Secret/shop/db', 'Policy/shop/p'], cost: 35, health: 6 },
  })

test('what several stacks need stands once; what one card alone needs is in that card', () => {
  const { m, cards, lines } = of(shop())
  assert.deepEqual(cards, ['a', 'b', 'part db'])
  assert.deepEqual(lines, ['a -> db', 'b ~> db'])
  const [a, b, db] = m.cards
  assert.deepEqual([a.cost, a.shared, b.cost, b.shared], [85, 15, 35, 15])
  assert.deepEqual([db.cost, [...db.payers]], [30, [['App/shop/a', 15], ['App/shop/b', 15]]])
  assert.deepEqual(db.pods, [1, 1])
  assert.deepEqual(m.rest, [{ kind: 'App', why: 'nothing needs it; it owns Pod/x-0', nodes: [11] }, { kind: 'ConfigMap', why: 'nothing owns, needs or serves it, nor it anything', nodes: [10] }, { kind: 'Pod', why: 'only App/x owns it, which is in no stack', nodes: [12] }])
})

test('a part of the map keeps what its stacks need, with the costs and the users of the whole', () => {
  const { m } = of(shop()), p = part(m, (s) => s.name === 'App/shop/b'), [b, db] = p.cards
  assert.deepEqual(p.cards.map((c) => titleOf(c).name), ['b', 'db'])
  assert.deepEqual([b.shared, db.cost, db.users, db.dependants, db.payers.size], [15, 30, 2, 2, 2])
  assert.deepEqual(p.lines.map((l) => [l.from, l.to]), [[0, 1]])
})

test('regions are System apps: by the label, and by the record of an adopted System', () => {
  const page = shop(), { uiState } = page
  assert.ok(!hasApps(page))
  uiState.labels.push('app.kubernetes.io/part-of=store', 'applyset.kubernetes.io/part-of=id-1', 'applyset.kubernetes.io/id=id-1')
  const label = (ref, l) => { const n = uiState.nodes[page.find(ref)]; n.l = [...n.l ?? [], l] }
  label('App/shop/a', 0)
  label('App/shop/b', 1)
  label('ConfigMap/shop/alone', 2)
  page.choice.group = 'app'
  const { m } = of(page), grouped = chosen(page, m), names = () => wantedStacks(page).map((s) => titleOf({ key: s.name }).name)
  assert.deepEqual(grouped.cards.map((c) => [titleOf(c).name, c.group, c.namespace]), [['a', 'store', 'shop'], ['b', 'alone', 'shop'], ['db', '', 'shop']])
  assert.deepEqual(placeCards(grouped).regions.map((r) => r.name), ['alone', 'store', ''])
  assert.deepEqual(m.cards.map((c) => c.group), ['shop', 'shop', 'shop'], 'the map by namespace is as it was')
  page.choice.labels = ['store']
  assert.deepEqual(names(), ['a'])
  page.choice.labels = ['alone', 'store']
  assert.deepEqual(names(), ['b', 'a'])
  page.choice.labels = ['-']
  assert.deepEqual(names(), [], 'none is of no System app')
})

test('who is broken, and what depends on it', () => {
  const page = shop()
  page.uiState.nodes[6].h = 6
  const { m } = of(page)
  assert.deepEqual(broken(m).map((i) => titleOf(m.cards[i]).name), ['db', 'b'])
  assert.deepEqual(dependants(m, 2), [0, 1])
})

test('a stack that another stack needs is a card that a line leads to', () => {
  const page = pageOf(['App/x/web', 'App/y/api', 'App/x/cron'], ['App/x/web needs App/y/api', 'App/x/cron needs App/x/web o'], {
    'App/x/web': { tree: ['App/x/web', 'App/y/api'] }, 'App/y/api': { tree: ['App/y/api'] }, 'App/x/cron': { tree: ['App/x/cron', 'App/x/web'] },
  })
  const { m, lines } = of(page)
  assert.deepEqual(lines, ['cron ?> web', 'web -> api'])
  assert.deepEqual(dependants(m, m.cards.findIndex((c) => c.key === 'App/y/api')).map((i) => m.cards[i].key), ['App/x/web'])
})

const overlap = (a, b) => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height

test('cards do not overlap, each is in the region of its namespace, and who needs is left of what it needs', () => {
  let seed = 7
  const random = (n) => (seed = seed * 48271 % 2147483647) % n
  for (let round = 0; round < 60; round++) {
    const spaces = 1 + random(4), n = 2 + random(11), parts = random(4), objects = [], edges = [], stacks = {}
    for (let p = 0; p < parts; p++) objects.push(`Db/${p % 2 ? 'data' : 'ns0'}/db${p}`)
    for (let i = 0; i < n; i++) objects.push(`App/ns${i % spaces}/app${i}`)
    for (let i = 0; i < n; i++) {
      const me = `App/ns${i % spaces}/app${i}`, tree = [me]
      for (let p = 0; p < parts; p++) if (random(2)) { const db = `Db/${p % 2 ? 'data' : 'ns0'}/db${p}`; edges.push(`${me} needs ${db}`); tree.push(db + ' 5') }
      if (i && random(3) === 0) { const j = random(n); if (j !== i) edges.push(`${me} needs App/ns${j % spaces}/app${j}`) }
      stacks[me] = { tree, cost: 10, health: random(2) ? 6 : 1 }
    }
    const page = pageOf(objects, edges, stacks), m = mapModel(page, page.uiState.stacks), p = placeCards(m)
    assert.equal(p.paths.filter(Boolean).length, m.lines.length)
    m.cards.forEach((c, i) => {
      assert.equal(p.boxes[i].height, heightOf(c))
      const region = p.regions.find((r) => r.name === c.group), b = p.boxes[i]
      assert.ok(b.x >= region.x && b.y >= region.y && b.x + b.width <= region.x + region.width && b.y + b.height <= region.y + region.height, `round ${round}: ${c.key} is outside of ${c.group}`)
      for (let j = 0; j < i; j++) assert.ok(!overlap(b, p.boxes[j]), `round ${round}: ${c.key} and ${m.cards[j].key}`)
    })
    p.regions.forEach((r, i) => { for (let j = 0; j < i; j++) assert.ok(!overlap(r, p.regions[j]), `round ${round}: ${r.name} and ${p.regions[j].name}`) })
    // News moves nothing.
    for (const c of m.cards) if (c.stack) c.health = 7 - c.health
    assert.deepEqual(placeCards(m).boxes, p.boxes)
  }
})

test('a circle of needs is drawn', () => {
  const page = pageOf(['App/x/a', 'App/x/b'], ['App/x/a needs App/x/b', 'App/x/b needs App/x/a'], { 'App/x/a': { tree: ['App/x/a', 'App/x/b'] }, 'App/x/b': { tree: ['App/x/b', 'App/x/a'] } })
  const m = mapModel(page, page.uiState.stacks)
  assert.deepEqual(placeCards(m).paths.map((d) => d[0]), ['M', 'M'])
})

test('lines of a region leave it in the order of the parts, and reach a part in the order of the regions', () => {
  const box = (left, top) => ({ left, right: left + 100, top, height: 60 }), regions = [box(0, 0), box(0, 80), box(600, 0)], parts = [box(300, 0), box(300, 80), box(300, 160)]
  const ends = [[0, 2], [0, 0], [1, 0], [0, 1], [2, 1], [2, 0], [1, 2]], drawn = curves(ends.map(([r, p]) => [regions[r], parts[p]]))
  const [start, end] = [/^M\S+ (\S+)C/, / (\S+)$/].map((at) => drawn.map(({ d }) => +d.match(at)[1]))
  const of = (list, which) => ends.flatMap((e, i) => which(e) ? [i] : []).sort((a, b) => list[a] - list[b]).map((i) => ends[i].join(''))
  assert.deepEqual(of(start, ([r]) => r === 0), ['00', '01', '02'])
  assert.deepEqual(of(start, ([r]) => r === 2), ['20', '21'])
  assert.deepEqual(of(end, ([r, p]) => p === 0 && r < 2), ['00', '10'])
  assert.ok(drawn.every(({ x }) => x > 100 && x < 600), 'counts stand between the two')
  ends.forEach(([r, p], i) => assert.ok(start[i] >= regions[r].top && start[i] <= regions[r].top + 60 && end[i] >= parts[p].top && end[i] <= parts[p].top + 60))
  assert.deepEqual(curves([[box(0, 0), box(50, 80)], [undefined, box(0, 0)]]), [undefined, undefined], 'one above the other has no line')
})

test('corners are round, and no rounder than there is room', () => {
  assert.equal(rounded([[0, 0], [20, 0], [20, 10]]), 'M0,0L15 0Q20 0 20 5L20 10')
})

test('cards, boxes and paths are those of Go', () => {
  for (const want of JSON.parse(readFileSync(new URL('../../internal/stackmap/testdata/maps.json', import.meta.url)))) {
    const page = new Page(want.state, null)
    page.choice = decode(want.address ?? 'stacks')
    const m = chosen(page, mapModel(page, want.state.stacks)), p = placeCards(m)
    assert.deepEqual(m.cards.map((c) => [c.stack ? c.key : '', c.node, c.health, c.pods[0] ?? 0, c.pods[1] ?? 0, c.cost ?? -1, c.shared, c.users, c.payers.size]), want.cards)
    assert.deepEqual(p.boxes.map((b) => [b.x, b.y, b.width, b.height]), want.boxes)
    assert.deepEqual(p.regions.map((r) => [r.name, r.x, r.y, r.width, r.height]), want.regions)
    assert.deepEqual([p.paths, [p.width, p.height]], [want.paths, want.size])
  }
})

test('a name on the map shows characters that turn or hide text', () => {
  assert.equal(middle('a\u202eb'), 'a\\u202eb')
})

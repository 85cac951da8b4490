import assert from 'node:assert/strict'
import { test } from 'node:test'
import { load } from './load.mjs'

const { above, activeOf, columns, foldHealth, kinds, large, needs, opener, rowOf, rowsOf, titleOf, toggled, typed, usesOf } = await load('tree_rows.ts')
const { shape } = await load('shape.ts')
const { Page } = await load('page.ts')

/** A page of one stack, from lines such as "    Pod a 6": indentation by depth, kind, name, health. */
function pageOf(text) {
  const lines = text.split('\n').filter((l) => l.trim()), names = []
  const p = { kinds: [], namespaces: ['', 'ns'], labels: [], rules: [], nodes: [], stacks: [], objects: 0, at: '2026-01-01T00:00:00Z', mode: 'file' }
  const tree = lines.map((line) => {
    const [kind, n, h = '1', ...flags] = line.trim().split(' '), again = flags.includes('again')
    if (!p.kinds.some((k) => k.kind === kind)) p.kinds.push({ kind })
    let at = names.indexOf(kind + n)
    if (at < 0) {
      at = names.push(kind + n) - 1
      p.nodes.push({ k: p.kinds.findIndex((k) => k.kind === kind), s: 1, n, h: +h, ...(flags.includes('measured') && { u: { c: 100, m: 1024 } }) })
    }
    return { n: at, d: line.search(/\S/) / 2, w: 'owned', ...(again && { a: true }), ...(flags.includes('cost') && { c: 123456 }) }
  })
  tree.forEach((place, i) => {
    for (let j = i + 1; j < tree.length && tree[j].d > place.d; j++) place.b = Math.max(place.b ?? 0, p.nodes[tree[j].n].h)
  })
  p.stacks = [{ name: 's', roots: [0], tree, objects: tree.length }]
  const page = new Page(p, null, null)
  page.choice = { ...page.choice, view: 'stack', stack: 's' }
  return page
}

const stackOf = (page) => page.uiState.stacks[0]
const shaped = (page) => shape(page, stackOf(page))
const rows = (page) => rowsOf(shaped(page), opener(page, shaped(page)))
const seen = (page) => rows(page).map((r) => (r.open === undefined ? '' : r.open ? '-' : '+') + (r.item.fold ? '(' + r.item.fold.length + ')' : page.node(r.item.node).n))
const toggle = (page, name, to) => page.set(toggled(page, shaped(page), shaped(page).items.filter((it) => it.fold ? name === 'fold' : page.node(it.node).n === name), to))

const small = 'Shop shop\n  Deployment web\n    Pod a 1 measured\n    Pod b\n    Pod c 6\n  Service web\n    Pod a 1 again'

test('a small stack is open, and each row knows its place among its siblings', () => {
  const page = pageOf(small)
  assert.deepEqual(seen(page), ['-shop', '-web', 'a', 'b', 'c', '-web', 'a'])
  assert.deepEqual(rows(page).map((r) => `${r.at}/${r.of}`), ['1/1', '1/2', '1/3', '2/3', '3/3', '2/2', '1/1'])
})

test('what is closed hides what is below it, and opens again', () => {
  const page = pageOf(small)
  toggle(page, 'shop', false)
  assert.deepEqual(seen(page), ['+shop'])
  assert.equal(page.choice.closed.length, 1)
  toggle(page, 'shop', true)
  assert.deepEqual(seen(page).length, 7)
  assert.deepEqual([page.choice.open, page.choice.closed], [[], []])
})

test('a large stack begins closed, but for what leads to trouble, and for what is searched', () => {
  let text = 'Shop shop\n'
  for (let i = 0; i < large; i++) text += `  Deployment d${i}\n    Pod p${i} ${i === 7 ? 6 : 1}\n`
  const page = pageOf(text)
  assert.deepEqual(seen(page).filter((r) => !r.startsWith('+')), ['-shop', '-d7', 'p7'])
  toggle(page, 'd3', true)
  toggle(page, 'd7', false)
  assert.deepEqual(seen(page).filter((r) => !r.startsWith('+')), ['-shop', '-d3', 'p3'])
  page.set({ search: 'pod/p' })
  assert.ok(seen(page).includes('p100') && !seen(page).includes('p7'))
})

test('trouble that comes later opens nothing by itself: rows do not jump', () => {
  let text = 'Shop shop\n'
  for (let i = 0; i < large; i++) text += `  Deployment d${i}\n    Pod p${i}\n`
  const page = pageOf(text), before = seen(page), nodes = page.uiState.nodes, at = nodes.findIndex((n) => n.n === 'p9')
  page.apply({ at: '2026-01-01T00:00:01Z', nodes: { [at]: { ...nodes[at], h: 6 } }, stacks: { s: { ...stackOf(page), tree: stackOf(page).tree.map((p) => ({ ...p })) } } })
  assert.equal(page.node(at).h, 6)
  assert.deepEqual(seen(page), before)
})

test('a fold is one row, which opens', () => {
  const page = pageOf('Set set\n' + Array.from({ length: 12 }, (_, i) => `  Pod p${i} 1\n`).join(''))
  assert.deepEqual(seen(page), ['-set', '+(12)'])
  assert.equal(foldHealth(page, stackOf(page), rows(page)[1].item), 'all Healthy')
  assert.equal(rowOf(rows(page), stackOf(page), '', page.find('Pod/ns/p5')), 1, 'what is in a closed fold is selected in it')
  toggle(page, 'fold', true)
  assert.equal(seen(page).length, 14)
  assert.equal(rowOf(rows(page), stackOf(page), '', page.find('Pod/ns/p5')), 7)
  toggle(page, 'fold', false)
  assert.equal(seen(page).length, 2)
})

test('a selection is found where it was made, or else at its place', () => {
  const page = pageOf(small), all = rows(page), pod = page.find('Pod/ns/a')
  assert.equal(rowOf(all, stackOf(page), '', pod), 2)
  assert.equal(rowOf(all, stackOf(page), all[6].item.key, pod), 6)
  assert.equal(rowOf(all, stackOf(page), '', -1), -1)
  assert.deepEqual(above(shaped(page), stackOf(page), pod).map((it) => page.node(it.node).n), ['web', 'shop'])
})

test('typing goes to the next name that begins so', () => {
  const page = pageOf(small), all = rows(page)
  assert.deepEqual([typed(page, all, 0, 'w'), typed(page, all, 1, 'w'), typed(page, all, 5, 'ww'), typed(page, all, 1, 'we'), typed(page, all, 0, 'x')], [1, 5, 1, 1, -1])
})

test('columns go by need, the message first and the cost last', () => {
  const need = { marked: 200, name: 150, object: 300, health: 100, below: 90, cost: 80, pods: 50, uses: 120, since: 60, message: 250 }
  assert.deepEqual(columns(420, need), ['object', 'health', 'cost'])
  assert.deepEqual(columns(300, need), ['object', 'health'])
  assert.deepEqual(columns(600, need), ['object', 'health', 'below', 'cost'])
  assert.deepEqual(columns(1400, need), ['object', 'health', 'below', 'cost', 'pods', 'uses', 'since', 'message'])
  assert.deepEqual(columns(420, { ...need, name: 260 }), ['object', 'health'], 'a name keeps its room')
  assert.deepEqual(columns(1400, { ...need, cost: 0, below: 0 }), ['object', 'health', 'pods', 'uses', 'since', 'message'])
})

test('a column needs what its longest text takes; nothing to say is no need', () => {
  const page = pageOf(small + '\n  Secret x 1 cost'), got = needs(page, stackOf(page), shaped(page), usesOf(page, stackOf(page)), 10)
  assert.equal(got.cost, 8 * 10 + 18)
  assert.equal(got.message, 0)
  assert.ok(got.health >= 11 * 10 && got.pods > 0)
})

test('what is used below counts each pod once, and says how many were measured', () => {
  const page = pageOf(small)
  assert.deepEqual(usesOf(page, stackOf(page))[0], { pods: 3, measured: 1, c: 100, m: 1024 })
  assert.equal(usesOf(page, stackOf(page))[5], undefined)
})

test('kinds in the plural', () => assert.deepEqual(['Pod', 'Ingress', 'NetworkPolicy', 'Gateway'].map(kinds), ['Pods', 'Ingresses', 'NetworkPolicies', 'Gateways']))

test('where the row that was moved to goes, the one in its place is next, and not the first', () => {
  const before = rows(pageOf(small)), after = rows(pageOf(small.replace('    Pod b\n', ''))), key = before[3].item.key
  assert.equal(activeOf(before, key, 0), 3)
  assert.equal(activeOf(after, 'of one that is gone', 3), 3)
  assert.equal(activeOf(after, 'of one that is gone', 99), after.length - 1)
  assert.equal(activeOf([], key, 3), 0)
})

test('characters that turn or hide text are shown in a name', () => {
  const page = pageOf('Shop a\u202eb'), [row] = rows(page)
  assert.equal(titleOf(page, row.item).name, 'a\\u202eb')
})

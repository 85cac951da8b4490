import assert from 'node:assert/strict'
import { test } from 'node:test'
import { load } from './load.mjs'

const { Page, decode, encode, none } = await load('page.ts')

/** Reproducible random numbers. */
function random(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

function address(text = '') {
  const entries = [text]
  let changed = () => {}
  return {
    entries,
    read: () => entries.at(-1),
    write(next, push) { if (push) entries.push(next); else entries[entries.length - 1] = next },
    watch(f) { changed = f },
    back() { entries.pop(); changed() },
    go(next) { entries.push(next); changed() },
  }
}

const uiState = (nodes, stacks = [], more = {}) => ({
  apiVersion: 'sysop.dev/v1alpha1', kind: 'UIState', version: 'test', title: 'test', at: '2026-09-14T09:30:00Z', mode: 'live',
  kinds: [{ kind: 'Pod' }, { kind: 'Moodle', group: 'moodlecontroller.kubeplus' }], namespaces: ['', 'shop'], labels: [], rules: [], nodes, stacks, objects: nodes.length, ...more,
})

const odd = ['', 'a', 'b/c', 'Pod/shop/a&b=c#d?e%zz', '✖ ü', '(owned:Pod)<Deployment.apps/shop/web', 'a,b', '+', ' ', '%', 'key=value', '"><img>', '#', '*']

test('every choice comes back from the address', () => {
  const r = random(1), pick = (list) => list[Math.floor(r() * list.length)]
  const some = (list) => [...new Set(Array.from({ length: Math.floor(r() * 4) }, () => pick(list)))].filter((x) => x !== '')
  for (let i = 0; i < 3000; i++) {
    const c = {
      ...none(), view: pick(['stacks', 'stack', 'costs', 'findings', 'regulation', 'compose']),
      stack: pick(odd), root: pick(odd), node: pick(odd), to: pick(odd), search: pick(odd),
      kinds: some(odd), namespaces: some(odd), labels: some(odd), health: some([0, 1, 2, 3, 4, 5, 6]), relations: some(['owns', 'needs', 'serves']),
      open: some(odd), closed: some(odd), show: pick(['tree', 'graph', 'both']), sort: pick(['', 'cost', '-name']), by: pick(odd), group: pick(['', 'app']), tone: pick(['', 'cost']),
    }
    const text = encode(c)
    assert.deepEqual(decode(text), c, text)
    assert.match(text, /^[\x21-\x7e]*$/)
    assert.equal(new URL('http://127.0.0.1/#' + text).hash.slice(1), text, 'a browser leaves it as it is')
  }
})

test('an address is short and can be read', () => {
  assert.equal(encode(none()), 'stacks')
  assert.equal(encode({ ...none(), view: 'stack', stack: 'Moodle.example/shop/blog', health: [5, 6] }), 'stack?in=Moodle.example/shop/blog&health=Missing&health=Degraded')
})

test('what is not known in an address is left aside', () => {
  for (const text of ['', 'main', 'stacks2', '?in=x', 'token=abc', '%', '#', '__proto__']) assert.equal(decode(text), null, text)
  assert.deepEqual(decode('/stack?in=a&rel=owns&rel=eats&health=Fine&health=Degraded&show=upside&x=1&&=&%zz'), { ...none(), view: 'stack', stack: 'a', relations: ['owns'], health: [6] })
  assert.deepEqual(decode('stack?in=%E0%A4%A'), { ...none(), view: 'stack', stack: new URLSearchParams('in=%E0%A4%A').get('in') })
})

test('the page opens with what the address says, or what the picture says', () => {
  const one = [{ name: 'Pod/shop/a', roots: [0], tree: [{ n: 0 }], objects: 1 }]
  assert.equal(new Page(uiState([]), null, address()).choice.view, 'stacks')
  assert.deepEqual(new Page(uiState([{ k: 0, s: 1, n: 'a' }], one), null, address()).choice, { ...none(), view: 'stack', stack: 'Pod/shop/a' })
  assert.equal(new Page(uiState([], [], { view: 'costs' }), null, address()).choice.view, 'costs')
  assert.equal(new Page(uiState([], [], { view: 'costs' }), null, address('findings')).choice.view, 'findings')
  assert.equal(new Page(uiState([]), null, address('token=abc')).choice.view, 'stacks')
})

test('a jump goes into the history, a patch does not; back brings the choice of before', () => {
  const a = address(), page = new Page(uiState([]), null, a)
  let calls = 0
  const leave = page.watch(() => calls++)
  page.set({ search: 'x' })
  assert.deepEqual(a.entries, ['stacks?q=x'])
  page.set({ view: 'costs', search: '' }, true)
  assert.deepEqual(a.entries, ['stacks?q=x', 'costs'])
  a.back()
  assert.deepEqual(page.choice, { ...none(), search: 'x' })
  a.go('nonsense')
  assert.deepEqual(page.choice, none())
  assert.equal(calls, 4)
  leave()
  page.set({ search: 'y' })
  assert.equal(calls, 4)
})

test('each view keeps its filters', () => {
  const page = new Page(uiState([]), null, address())
  page.set({ search: 'x', health: [6] })
  page.go('costs')
  assert.equal(page.choice.search, '')
  page.go('stacks')
  assert.deepEqual([page.choice.search, page.choice.health], ['x', [6]])
  page.open('Pod/shop/a', 'Pod/shop/a')
  assert.deepEqual(page.choice, { ...none(), view: 'stack', stack: 'Pod/shop/a', node: 'Pod/shop/a' })
})

test('what was chosen and is gone is said, and kept', () => {
  const a = { k: 0, s: 1, n: 'a' }, stack = { name: 'Pod/shop/a', roots: [0], tree: [{ n: 0 }], objects: 1 }
  const page = new Page(uiState([a], [stack]), null, address('stack?in=Pod/shop/a&at=Pod/shop/a'))
  assert.deepEqual([page.selected(), page.gone()], [0, []])
  page.apply({ at: 'x', nodes: { 0: null }, stacks: { 'Pod/shop/a': null }, order: [] })
  assert.deepEqual([page.selected(), page.stack()], [-1, undefined])
  assert.deepEqual(page.gone(), [{ what: 'stack', ref: 'Pod/shop/a' }, { what: 'node', ref: 'Pod/shop/a' }])
  assert.equal(page.choice.node, 'Pod/shop/a')
  page.apply({ at: 'y', nodes: { 3: a }, stacks: { 'Pod/shop/a': { ...stack, roots: [3], tree: [{ n: 3 }] } }, order: ['Pod/shop/a'] })
  assert.deepEqual([page.selected(), page.gone()], [3, []])
})

test('topology counts what comes, goes and is connected, not how it fares', () => {
  const stack = { name: 's', roots: [0], tree: [{ n: 0 }, { n: 1, d: 1, w: 'owned' }], objects: 2 }
  const page = new Page(uiState([{ k: 0, n: 'a', e: [{ t: 1, r: 1, v: 'owner', u: 0 }] }, { k: 0, n: 'b' }], [stack]), null, null)
  const counts = (change, want, label) => {
    const before = page.topology
    page.apply({ at: 'x', ...change })
    assert.equal(page.topology - before, want, label)
  }
  counts({ nodes: { 1: { k: 0, n: 'b', h: 6, r: 'Crash', u: { c: 5 } } } }, 0, 'health')
  counts({ stacks: { s: { ...stack, health: 6, cost: 5, tree: [{ n: 0, b: 6, c: 5 }, { n: 1, d: 1, w: 'owned', c: 5 }] } } }, 0, 'cost')
  counts({ head: { ...page.uiState, nodes: null, stacks: null, notes: [{ reason: 'x', message: 'y' }] } }, 0, 'notes')
  assert.equal(page.uiState.nodes.length, 2)
  counts({ nodes: { 1: { k: 0, n: 'b', e: [{ t: 0, r: 2, v: 'spec', u: 0 }] } } }, 1, 'an edge')
  counts({ nodes: { 1: { k: 0, n: 'b', e: [{ t: 0, r: 2, v: 'spec', u: 0, f: 1 }] } } }, 1, 'what else is said of an edge')
  counts({ nodes: { 2: { k: 0, n: 'c' } } }, 1, 'a node')
  counts({ nodes: { 2: null } }, 1, 'a node less')
  counts({ stacks: { s: { ...stack, tree: [{ n: 0 }] } } }, 1, 'a place')
  counts({ stacks: { s: null }, order: [] }, 1, 'a stack less')
})

test('changes applied are the new picture', () => {
  const r = random(7), int = (n) => Math.floor(r() * n)
  const node = () => ({ k: int(2), s: int(2), n: 'n' + int(40), h: int(7), ...(r() < 0.5 && { e: [{ t: int(20), r: 1 + int(3), v: 'spec', u: 0 }] }) })
  const stackOf = (name) => ({ name, roots: [int(20)], tree: [{ n: int(20) }, { n: int(20), d: 1 }], objects: int(9), cost: int(999) })
  const key = (n) => n && `${n.k}/${n.s}/${n.n}`
  /** Makes the objects of nodes distinct. */
  const distinct = (nodes) => { const seen = new Set(); return nodes.map((n) => n && !seen.has(key(n)) ? (seen.add(key(n)), n) : null) }
  const same = (a, b) => JSON.stringify(a ?? null) === JSON.stringify(b ?? null)
  let now = uiState(distinct(Array.from({ length: 20 }, node)), ['a', 'b', 'c'].map(stackOf))
  const page = new Page(structuredClone(now), null, null)
  for (let i = 0; i < 500; i++) {
    if (r() < 0.5) page.find('Pod/n1')
    const moreNamespaces = r() < 0.1 && now.namespaces.length < 5 ? [...now.namespaces, 'ns' + i] : now.namespaces
    const shuffled = r() < 0.05 ? [...now.kinds].reverse() : now.kinds
    const nodes = distinct([...now.nodes, ...(r() < 0.2 ? [node()] : [])].map((n) => r() < 0.1 ? (r() < 0.3 ? null : node()) : n))
    if (nodes.length > now.nodes.length && !nodes.at(-1)) nodes.pop()
    const names = ['a', 'b', 'c', 'd', 'e'].filter(() => r() < 0.7).sort(() => r() - 0.5)
    const stacks = names.map((name) => r() < 0.7 && now.stacks.find((s) => s.name === name) || stackOf(name))
    const next = { ...now, at: 'T' + i, nodes, stacks, namespaces: moreNamespaces, kinds: shuffled }
    const change = { at: next.at, nodes: {}, stacks: {} }
    nodes.forEach((n, id) => { if (!same(n, now.nodes[id])) change.nodes[id] = n })
    for (const s of stacks) if (!same(s, now.stacks.find((x) => x.name === s.name))) change.stacks[s.name] = s
    for (const s of now.stacks) if (!names.includes(s.name)) change.stacks[s.name] = null
    if (!same(names, now.stacks.map((s) => s.name))) change.order = names
    if (moreNamespaces !== now.namespaces || shuffled !== now.kinds) change.head = { ...next, nodes: null, stacks: null }
    page.apply(structuredClone(change))
    assert.deepEqual(page.uiState, next, `change ${i}`)
    nodes.forEach((n, id) => { if (n) assert.equal(page.find(page.ref(id)), id, page.ref(id)) })
    const present = new Set(nodes.flatMap((n, id) => n ? [page.ref(id)] : []))
    for (const kind of ['Pod', 'Moodle.moodlecontroller.kubeplus']) for (let j = 0; j < 40; j++) if (!present.has(`${kind}/n${j}`)) assert.equal(page.find(`${kind}/n${j}`), -1)
    now = next
  }
})

test('a whole picture keeps the choice, and moves only what is other', () => {
  const now = uiState([{ k: 0, n: 'a', h: 1 }], [{ name: 's', roots: [0], tree: [{ n: 0 }], objects: 1 }])
  const page = new Page(now, null, address('stack?in=s&at=Pod/a'))
  page.replace({ ...now, nodes: [{ k: 0, n: 'a', h: 6 }] })
  assert.deepEqual([page.topology, page.selected(), page.choice.stack], [0, 0, 's'])
  page.replace({ ...now, nodes: [{ k: 0, n: 'b' }, { k: 0, n: 'a' }] })
  assert.deepEqual([page.topology, page.selected()], [1, 1])
})

test('the address of a server that was started again, opened in the same tab, is loaded', () => {
  const heard = {}, was = ['window', 'location', 'history', 'addEventListener'].map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)])
  let loaded = 0
  const give = (name, value) => Object.defineProperty(globalThis, name, { value, configurable: true })
  give('window', { setTimeout: () => 0 })
  give('location', { hash: '', reload: () => { loaded++ } })
  give('history', { pushState() {}, replaceState() {} })
  give('addEventListener', (name, f) => { heard[name] = f })
  try {
    new Page(uiState([]), null)
    location.hash = '#stacks?q=web'
    heard.popstate()
    assert.equal(loaded, 0)
    location.hash = '#token=abc'
    heard.popstate()
    assert.equal(loaded, 1)
  } finally {
    for (const [name, d] of was) if (d) Object.defineProperty(globalThis, name, d); else delete globalThis[name]
  }
})

test('an object that is no stack is found in its stack, and the changes of health are noted', () => {
  const state = () => ({ at: '2026-09-14T09:30:00Z', kinds: [{ kind: 'Pod' }], namespaces: ['', 'shop'], labels: [], rules: [], nodes: [{ k: 0, s: 1, n: 'web' }, { k: 0, s: 1, n: 'db' }, { k: 0, s: 1, n: 'loose' }], stacks: [{ name: 'Pod/shop/web', roots: [0], tree: [{ n: 0 }, { n: 1, d: 1 }], objects: 2, health: 1 }] })
  const at = (text) => new Page(state(), null, { read: () => text, write() {}, watch() {} })
  assert.deepEqual((({ stack, node, root }) => [stack, node, root])(at('stack?in=Pod/shop/db').choice), ['Pod/shop/web', 'Pod/shop/db', ''])
  assert.deepEqual((({ stack, node, root }) => [stack, node, root])(at('stack?in=Pod/shop/loose').choice), ['', '', 'Pod/shop/loose'])
  assert.equal(at('stack?in=Pod/shop/gone').choice.stack, 'Pod/shop/gone')
  const page = at('stacks')
  page.replace({ ...state(), at: '2026-09-14T09:31:00Z', stacks: [{ ...state().stacks[0], health: 6, causes: [{ n: 1, o: 0 }] }, { name: 'Pod/shop/new', roots: [2], tree: [{ n: 2 }], objects: 1, health: 6 }] })
  assert.deepEqual(page.changes, [{ at: Date.parse('2026-09-14T09:31:00Z') / 1000, stack: 'Pod/shop/web', from: 1, to: 6, cause: 'Pod/shop/db' }])
})

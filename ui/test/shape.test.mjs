import assert from 'node:assert/strict'
import { test } from 'node:test'
import { load } from './load.mjs'

const { shape, limit, all } = await load('shape.ts')
const { Page } = await load('page.ts')

/** A page of one stack, from lines such as "  owned Pod/web/a 6": indentation by depth, relation, ref, health. */
function pageOf(text, more = {}) {
  const uiState = { kinds: [], namespaces: [''], labels: ['app=web', 'app=db', 'tier=front'], rules: ['owner'], nodes: [], stacks: [], objects: 0, at: '1' }
  const numbers = new Map(), tree = []
  const index = (list, same, v) => {
    const at = list.findIndex(same)
    return at < 0 ? list.push(v) - 1 : at
  }
  for (const line of text.split('\n').filter((l) => l.trim())) {
    const [w, ref, h = '1', ...flags] = line.trim().split(' ')
    const [kind, ns, n] = ref.split('/')
    const [name, ...group] = kind.split('.')
    if (!numbers.has(ref)) {
      const k = index(uiState.kinds, (x) => x.kind === name, { kind: name, ...(group.length ? { group: group.join('.') } : {}) })
      numbers.set(ref, uiState.nodes.push({ k, s: index(uiState.namespaces, (x) => x === ns, ns), n, h: +h || undefined, ...more[ref] }) - 1)
    }
    const d = line.search(/\S/) / 2
    tree.push({ n: numbers.get(ref), ...(d ? { d } : {}), w, ...(flags.includes('again') ? { a: true } : {}), ...(flags.includes('cost') ? { c: 5 } : {}) })
  }
  for (let i = tree.length - 1; i >= 0; i--) {
    let b = 0
    for (let j = i + 1; j < tree.length && (tree[j].d ?? 0) > (tree[i].d ?? 0); j++) b = Math.max(b, uiState.nodes[tree[j].n].h ?? 0)
    if (b) tree[i].b = b
  }
  uiState.stacks = [{ name: 's', roots: [0], tree, objects: tree.length }]
  const page = new Page(uiState, null)
  page.choice.stack = 's'
  page.find = (ref) => uiState.nodes.findIndex((n, i) => n && page.ref(i) === ref)
  return page
}

const shaped = (page) => shape(page, page.uiState.stacks[0])
const nameOf = (page, it) => it.fold ? `${it.fold.length}x${page.kind(page.node(it.node)).kind}` : page.node(it.node).n
const lines = (page) => shaped(page).items.map((it) => '  '.repeat(it.depth) + nameOf(page, it) + (it.context ? '?' : ''))

const shop = `
root Shop.example.dev/web/shop 1
  owned Deployment.apps/web/web 1
    owned Pod/web/a 1 cost
    owned Pod/web/b 1 cost
    owned Pod/web/c 6 cost
    owned Pod/web/d 1 cost
    owned Pod/web/e 1 cost
  needed Secret/web/tls 1
    serving Ingress/web/front 5
  owned Service/web/web 1
`

test('everything is drawn, equal leaves as one, what is in trouble by itself', () => {
  const page = pageOf(shop), s = shaped(page)
  assert.deepEqual(lines(page), ['shop', '  web', '    4xPod', '    c', '  tls', '    front', '  web'])
  assert.deepEqual([s.shown, s.of, s.capped], [10, 10, 0])
  const fold = s.items[2]
  assert.deepEqual([fold.worst, fold.cost, fold.bad, fold.parent.node, fold.fold.map((p) => page.node(page.uiState.stacks[0].tree[p].n).n)], [1, 20, undefined, 1, ['a', 'b', 'd', 'e']])
  assert.equal(s.items[0].worst, 6)
  assert.equal(new Set(s.items.map((it) => it.key)).size, s.items.length)
})

test('three are no fold, and neither are leaves of another kind or another relation', () => {
  const page = pageOf(`
root A/x/a
  owned Pod/x/1
  owned Pod/x/2
  owned Pod/x/3
  needed Pod/x/4
  owned Job/x/5
  owned Pod/x/6
    owned Job/x/7
`)
  assert.deepEqual(lines(page), ['a', '  1', '  2', '  3', '  4', '  5', '  6', '    7'])
})

test('health moves nothing: a leaf of a fold that turns bad is named, one alone that is well again stays', () => {
  const page = pageOf(shop), before = shaped(page).items.map((it) => it.key)
  page.uiState.nodes[2] = { ...page.uiState.nodes[2], h: 6 }
  page.uiState.nodes[4] = { ...page.uiState.nodes[4], h: 1 }
  page.uiState.at = '2'
  const s = shaped(page)
  assert.deepEqual(s.items.map((it) => it.key), before)
  assert.deepEqual([s.items[2].worst, page.node(s.items[2].bad).n], [6, 'a'])
  assert.equal(s.items[3].worst, 1)
  // A new stack with the same tree, as after a change of costs, has the same topology.
  const [stack] = page.uiState.stacks
  page.uiState.stacks = [{ ...stack, tree: stack.tree.map((p) => ({ ...p })) }]
  assert.deepEqual(shaped(page).items.map((it) => it.key), before)
  // A changed tree has another topology: a is no longer folded, and c is.
  page.uiState.stacks = [{ ...stack, tree: stack.tree.slice(0, -1) }]
  assert.deepEqual(lines(page), ['shop', '  web', '    a', '    4xPod', '  tls', '    front'])
})

test('the same question has the same answer, not only an equal one', () => {
  const page = pageOf(shop), s = shaped(page)
  page.choice.node = 'Pod/web/a'
  assert.equal(shaped(page), s)
  page.choice.search = 'a'
  assert.notEqual(shaped(page), s)
})

test('a fold that is open has its leaves as children', () => {
  const page = pageOf(shop)
  page.choice.open = [shaped(page).items[2].key]
  assert.deepEqual(lines(page), ['shop', '  web', '    4xPod', '      a', '      b', '      d', '      e', '    c', '  tls', '    front', '  web'])
  const [, , fold, leaf] = shaped(page).items
  assert.equal(leaf.parent, fold)
  page.choice.open = [all]
  assert.equal(shaped(page).items.length, 10)
})

test('a search keeps what is above as context', () => {
  const page = pageOf(shop, { 'Pod/web/c': { r: 'CrashLoopBackOff', l: [1] }, 'Service/web/web': { l: [0, 2] } })
  const wants = (choice, want, shown) => {
    Object.assign(page.choice, { search: '', kinds: [], namespaces: [], labels: [], health: [], relations: [] }, choice)
    assert.deepEqual(lines(page), want, JSON.stringify(choice))
    assert.equal(shaped(page).shown, shown)
  }
  wants({ search: 'CRASH pod/' }, ['shop?', '  web?', '    c'], 1)
  wants({ search: 'nothing like it' }, [], 0)
  wants({ kinds: ['Deployment.apps', 'Secret'] }, ['shop?', '  web', '  tls'], 2)
  wants({ namespaces: ['db'] }, [], 0)
  wants({ labels: ['app=db', 'app=web'] }, ['shop?', '  web?', '    c', '  web'], 2)
  wants({ labels: ['app=db', 'tier=front'] }, [], 0)
  wants({ labels: ['app=web', 'tier=front'] }, ['shop?', '  web'], 1)
  wants({ health: [5, 6] }, ['shop?', '  web?', '    c', '  tls?', '    front'], 2)
  wants({ relations: ['serves'] }, ['shop', '  tls?', '    front'], 2)
  wants({ kinds: ['Pod'], search: 'web' }, ['shop?', '  web?', '    4xPod', '    c'], 5)
})

test('another root shows what is below it', () => {
  const page = pageOf(shop)
  page.choice.root = 'Secret/web/tls'
  assert.deepEqual(lines(page), ['tls', '  front'])
  assert.deepEqual([shaped(page).shown, shaped(page).of], [2, 2])
  page.choice.root = 'Secret/web/unheard'
  assert.equal(shaped(page).items.length, 7)
})

test('what is mentioned again is no leaf of a fold and not counted twice', () => {
  const page = pageOf(`
root A/x/a
  owned Pod/x/1
    needed Secret/x/s
  needed Secret/x/s 1 again
  needed Secret/x/t
  needed Secret/x/u
  needed Secret/x/v
`)
  assert.deepEqual([shaped(page).shown, shaped(page).of, shaped(page).items.length], [6, 6, 7])
})

test('an object that is gone leaves no hole', () => {
  const page = pageOf(shop)
  page.uiState.nodes[6] = null
  page.uiState.at = '2'
  assert.deepEqual(lines(page).slice(0, 4), ['shop', '  web', '    a', '    b'])
})

/** Apps with 4 claims of different kinds below each pod; every 50th app has an unhealthy pod. */
function large(apps) {
  let text = ''
  for (let i = 0; i < apps; i++) {
    text += `root App/n${i}/app\n  owned Set/n${i}/set\n`
    for (let p = 0; p < 5; p++) text += `    owned Pod/n${i}/p${p} ${i % 50 === 0 && p === 3 ? 6 : 1}\n      needed Claim/n${i}/c${p}\n`
  }
  return pageOf(text)
}

test('beyond the limit what is well is folded, and trouble never', () => {
  const page = large(800), s = shaped(page)
  assert.ok(s.items.length <= limit, `${s.items.length} items`)
  assert.ok(s.items.length > limit / 2, `${s.items.length} items`)
  assert.equal(s.of, 800 * 12)
  assert.equal(s.shown + s.capped, s.of)
  const single = new Set(s.items.filter((it) => !it.fold).map((it) => it.node))
  page.uiState.nodes.forEach((n, i) => n.h === 6 && assert.ok(single.has(i), page.ref(i)))
  const inItems = s.items.flatMap((it) => it.fold ?? [it.place])
  assert.equal(new Set(inItems).size, s.of, 'every object is in an item, and in one alone')
  assert.equal(inItems.length, s.of)
  const fold = s.items.find((it) => it.fold)
  page.choice.open = [fold.key]
  assert.ok(shaped(page).items.find((it) => it.key === fold.key).children.length > 0)
  page.choice.open = [all]
  assert.deepEqual([shaped(page).items.length, shaped(page).capped], [s.of, 0])
})

test('a limit hides no trouble even where there is nothing else', () => {
  const page = pageOf('root App/x/app\n' + Array.from({ length: 2000 }, (_, i) => `  owned Pod/x/p${i} 6`).join('\n'))
  assert.equal(shaped(page).items.length, 2001)
})

test('the worst is first on demand, by what is below it too, and ConfigMaps are last', () => {
  const page = pageOf(`
root Shop.example.dev/web/shop 1
  needed ConfigMap/web/conf 1
  owned Service/web/front 1
  owned Deployment.apps/web/web 1
    owned Pod/web/a 6
  owned Secret/web/tls 4
`)
  const top = () => shaped(page).items.filter((it) => it.depth === 1).map((it) => nameOf(page, it))
  assert.deepEqual(top(), ['front', 'web', 'tls', 'conf'])
  page.choice.sort = 'health'
  assert.deepEqual(top(), ['web', 'tls', 'front', 'conf'])
})

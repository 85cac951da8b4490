import assert from 'node:assert/strict'
import { test } from 'node:test'
import { load } from './load.mjs'

const { common, partsModel } = await load('parts_model.ts')
const { placeParts } = await load('parts.tsx')
const { whyAlone } = await load('links.ts')
const { Page } = await load('page.ts')

/** A page of one stack of objects "Kind/name health" with edges "from relation to". */
function pageOf(objects, edges, inStack = () => true) {
  const kinds = [], numbers = new Map(), nodes = objects.map((o, i) => {
    const [ref, h = '1'] = o.split(' '), [kind, n] = ref.split('/')
    if (!kinds.some((k) => k.kind === kind)) kinds.push({ kind })
    numbers.set(ref, i)
    return { k: kinds.findIndex((k) => k.kind === kind), s: 1, n, h: +h, ...(h === '5' && { t: 'missing' }) }
  })
  for (const e of edges) {
    const [from, relation, to, flags = ''] = e.split(' ')
    ;(nodes[numbers.get(from)].e ??= []).push({ t: numbers.get(to), r: ['', 'owns', 'needs', 'serves'].indexOf(relation), v: 'spec', u: 0, ...(flags === 'o' && { o: true }) })
  }
  const tree = objects.map((_, n) => ({ n })).filter(({ n }) => inStack(objects[n]))
  return new Page({ kinds, namespaces: ['', 'x'], labels: [], rules: [], nodes, stacks: [{ name: 's', roots: [0], tree, objects: tree.length }], objects: nodes.length, at: '1', mode: 'snapshot' }, null)
}

/** n Deployments of one name with two pods each, which need a ConfigMap; the first fails. */
function shop(n) {
  const objects = ['ConfigMap/settings', 'Ingress/front'], edges = []
  for (let i = 0; i < n; i++) {
    const name = 'web' + (i || '')
    objects.push(`Deployment/${name} ${i ? 1 : 6}`, `Service/${name}`, `Secret/${name}`)
    edges.push(`Service/${name} serves Pod/${name}-0`, `Service/${name} serves Pod/${name}-1`, `Deployment/${name} needs Secret/${name}`)
    for (const pod of [0, 1]) {
      objects.push(`Pod/${name}-${pod} ${!i && pod ? 6 : 1}`)
      edges.push(`Deployment/${name} owns Pod/${name}-${pod}`, `Pod/${name}-${pod} needs ConfigMap/settings`, `Pod/${name}-${pod} needs Secret/${name}`)
    }
  }
  edges.push('Ingress/front serves Service/web')
  return pageOf(objects, edges)
}
const model = (page) => partsModel(page, page.uiState.stacks[0])

test('workloads of one name are one part, from four on; what all need stands once', () => {
  const m = model(shop(5))
  assert.deepEqual(m.parts.map((p) => [p.name, p.units.length, p.pods, p.well, p.health]), [['web', 5, 10, 9, 6]])
  assert.deepEqual(m.needs.map((n) => [n.users, n.byPods, n.parts]), [[10, true, [0]]])
  assert.deepEqual(m.entries.map((e) => e.parts), [[0]])
  assert.deepEqual([...m.folded], [['Service', 5], ['Secret', 5]])
  assert.deepEqual(model(shop(3)).parts.map((p) => p.name), ['web', 'web1', 'web2'], 'what fails is first')
})

test('what is missing is a card, unless all say that it is optional', () => {
  const page = pageOf(['Deployment/a', 'Deployment/b', 'Secret/gone 5', 'Secret/may 5'], ['Deployment/a needs Secret/gone', 'Deployment/b needs Secret/gone', 'Deployment/a needs Secret/may o', 'Deployment/b needs Secret/may o'])
  assert.deepEqual(model(page).needs.map((n) => [page.node(n.node).n, n.health]), [['gone', 5], ['may', 0]])
})

test('no card lies on another one, and an open part has room for its workloads', () => {
  const m = model(shop(30)), closed = placeParts(m, () => false), open = placeParts(m, () => true)
  assert.ok(open.parts[0].height > closed.parts[0].height)
  const boxes = [...open.parts, ...open.needs, ...open.entries]
  boxes.forEach((a, i) => boxes.slice(0, i).forEach((b) => assert.ok(a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y)))
  for (const b of boxes) assert.ok(b.x + b.width <= open.width && b.y + b.height <= open.height)
})

test('the list of what is folded lies on no card, also where nothing is needed', () => {
  for (const m of [model(shop(30)), { ...model(shop(30)), needs: [] }, { ...model(shop(1)), needs: [] }]) {
    const { folded, parts, needs, entries, height } = placeParts(m, () => false)
    for (const b of [...parts, ...needs, ...entries]) assert.ok(folded.x >= b.x + b.width || folded.y >= b.y + b.height)
    assert.ok(folded.y + 44 + 20 * Math.min(m.folded.size, 8) <= height)
  }
})

test('the common beginning of names ends at a separator', () => {
  assert.deepEqual([common(['shop-01-api', 'shop-01-auth']), common(['a', 'b']), common(['web'])], ['shop-01-', '', ''])
})

test('an object in no stack has a reason', () => {
  const page = pageOf(['App/a', 'Job/old', 'Secret/s', 'ConfigMap/c'], ['Job/old needs Secret/s'], (o) => o === 'App/a')
  assert.deepEqual([1, 2, 3].map((i) => whyAlone(page, i)), ['nothing needs it; it needs Secret/s', 'only Job/old needs it, which is in no stack', 'nothing owns, needs or serves it, nor it anything'])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { load } from './load.mjs'

const { labelKeys, partsOf, series, stackCosts, unclaimed, wantedStacks } = await load('table.ts')
const { Page } = await load('page.ts')
const { byRule, levelOf } = await load('report.ts')

const stack = (name, more = {}) => ({ name, roots: [0], tree: [{ n: 0 }], objects: 1, ...more })
const page = (stacks, choice = {}) => {
  const p = new Page({ nodes: [{ k: 0, n: 'a', r: 'CrashLoopBackOff' }], kinds: [{ kind: 'Pod' }], namespaces: [''], labels: [], stacks, mode: 'file', at: '2026-09-14T09:30:00Z' }, null, null)
  Object.assign(p.choice, { view: 'stacks', ...choice })
  return p
}
const names = (p) => wantedStacks(p).map((s) => s.name)

test('those in trouble are first, then names; what is not known is last, either way', () => {
  const all = [stack('Pod/z', { health: 1, cost: 5 }), stack('Pod/b', { health: 6 }), stack('Pod/a', { health: 1, cost: 50 }), stack('Pod/k', { health: 4, cost: 7, cluster: true })]
  assert.deepEqual(names(page(all)), ['Pod/b', 'Pod/a', 'Pod/z'])
  assert.deepEqual(names(page(all, { open: ['cluster'] })), ['Pod/b', 'Pod/k', 'Pod/a', 'Pod/z'])
  assert.deepEqual(names(page(all, { sort: 'cost' })), ['Pod/a', 'Pod/z', 'Pod/b'])
  assert.deepEqual(names(page(all, { sort: '-cost' })), ['Pod/z', 'Pod/a', 'Pod/b'])
  assert.deepEqual(names(page(all, { sort: 'toString' })), ['Pod/b', 'Pod/a', 'Pod/z'])
  assert.deepEqual(names(page(all, { health: [6] })), ['Pod/b'])
  assert.deepEqual(names(page([all[3]])), ['Pod/k'], 'a page that has no others shows the cluster')
})

test('a search looks at names and causes, and wants every word', () => {
  const all = [stack('Moodle.example/shop/blog', { causes: [{ n: 0, o: -1 }] }), stack('Pod/shop/other')]
  assert.deepEqual(names(page(all, { search: 'SHOP' })).length, 2)
  assert.deepEqual(names(page(all, { search: 'shop crashloop' })), ['Moodle.example/shop/blog'])
  assert.deepEqual(names(page(all, { search: 'shop nothing' })), [])
})

test('costs by stack add up, with what is at no place', () => {
  const stacks = [
    stack('Pod/a', { cost: 100, tree: [{ n: 0, g: { cpu: 60, memory: 30 } }, { n: 0, a: true, g: { cpu: 999 } }], rest: [{ name: 'idle', cost: 10 }] }),
    stack('Pod/b', { cost: 250, tree: [{ n: 0, g: { cpu: 250 } }] }), stack('Pod/c'),
  ], costs = stackCosts(stacks)
  assert.deepEqual(costs, { groupBy: 'stack', total: 350, rows: [{ name: 'Pod/b', pods: undefined, cost: 250, parts: { cpu: 250 } }, { name: 'Pod/a', pods: undefined, cost: 100, parts: { cpu: 60, memory: 30, idle: 10 } }] })
  assert.deepEqual(partsOf(costs), [['cpu', 310], ['memory', 30], ['idle', 10]])
  const volumes = { name: 'unclaimed volumes', cost: 200, parts: { storage: 200 } }
  const all = stackCosts(stacks, unclaimed({ costs: [{ groupBy: 'namespace', rows: [{ name: 'x', cost: 350 }, volumes], total: 550 }] }))
  assert.deepEqual([all.total, all.rows.map((r) => r.name)], [550, ['Pod/b', 'unclaimed volumes', 'Pod/a']])
})

test('keys of labels', () => {
  assert.deepEqual(labelKeys(['b=1', 'a=2=3', 'b=2', 'team=x', 'app.kubernetes.io/name=n']), ['app.kubernetes.io/name', 'team', 'a', 'b'])
})

test('a history has the dearest, and all others as one', () => {
  const points = [{ from: 0, to: 1, total: 10, stacks: { a: 1, b: 5, c: 4 } }, { from: 1, to: 2, total: 11, stacks: { b: 6, a: 2, c: 3 } }]
  assert.deepEqual(series(points, 2), { names: ['b', 'c', 'others'], rows: [[5, 4, 1], [6, 3, 2]] })
  assert.deepEqual(series(points, 3), { names: ['b', 'c', 'a'], rows: [[5, 4, 1], [6, 3, 2]] })
  for (const [i, row] of series(points, 1).rows.entries()) assert.equal(row.reduce((a, b) => a + b), points[i].total)
})

test('findings by rule: the gravest first, waived ones last, each once, and every word is wanted', () => {
  const f = (severity, message, more = {}) => ({ severity, object: 'Pod/a', message, related: [], ...more })
  const subject = (name, rule, ...findings) => ({ scope: 'stack', name, id: name, scores: {}, results: [{ rule, category: 'security', guidelines: [], passed: 0, findings, unknown: [] }] })
  const report = { rules: [{ id: 'r', title: 'A rule', reason: 'so' }], subjects: [subject('a', 'q', f('info', 'one'), f('error', 'two', { waived: { reason: 'so', origin: 'x' } })), subject('b', 'r', f('info', 'three'), f('warning', 'four')), subject('c', 'r', f('warning', 'four'))] }
  const says = (...args) => byRule(report, ...args).map((r) => [r.title, ...r.found.map((x) => `${x.finding.message} of ${x.subjects.map((s) => s.name)}`)])
  assert.deepEqual(says(''), [['A rule', 'four of b,c', 'three of b'], ['q', 'one of a', 'two of a']])
  assert.deepEqual(byRule(report, '').flatMap((r) => r.found.map((x) => levelOf(x.finding))), ['warning', 'info', 'info', 'waived'])
  assert.deepEqual(says('SECURITY thr'), [['A rule', 'three of b']])
  assert.deepEqual(says('nothing'), [])
})

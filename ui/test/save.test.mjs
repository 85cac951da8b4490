import assert from 'node:assert/strict'
import { test } from 'node:test'
import { load } from './load.mjs'

const { commandOf } = await load('commands.ts')
const { safe } = await load('save.tsx')
const { Page } = await load('page.ts')

const pageAt = (address, title = 'all namespaces', more = {}) => new Page({
  ...more,
  kinds: [{ kind: 'Pod' }], namespaces: ['', 'shop'], labels: [], rules: [], nodes: [{ k: 0, s: 1, n: 'web' }], objects: 1, at: '1', mode: 'snapshot', title,
  stacks: [{ name: 'Pod/shop/web', namespace: 'shop', roots: [0], tree: [{ n: 0 }], objects: 1 }],
}, null, { read: () => address, write() {}, watch() {} })

test('no command draws an impact', () => {
  assert.equal(commandOf(pageAt('stack?in=Pod/shop/web&impact=Pod/shop/web'), 'SVG'), '')
  assert.notEqual(commandOf(pageAt('stack?in=Pod/shop/web'), 'SVG'), '')
})

test('a command has what is shown, or there is none', () => {
  assert.equal(commandOf(pageAt('stacks'), 'CSV'), 'kubectl sysop stacks -A -o csv > stacks.csv')
  const map = 'stacks?open=cluster&group=app&tone=cost'
  assert.equal(commandOf(pageAt(map), 'SVG'), 'kubectl sysop stacks -A --all --by app --tone cost -o svg > stacks.svg')
  assert.equal(commandOf(pageAt(map), 'HTML'), 'kubectl sysop stacks -A --all --by app --tone cost -o html > stacks.html')
  assert.equal(commandOf(pageAt(map + '&q=web'), 'HTML'), `kubectl sysop stacks -A --all --by app --tone cost -o html > stacks.html  # then open stacks.html#stacks?q=web&open=cluster&group=app&tone=cost`)
  // A command of a namespace has other shares of the costs than the page of all.
  for (const filter of ['q=web', 'health=Degraded', 'ns=shop', 'ns=-', 'label=store']) for (const format of ['CSV', 'SVG']) assert.equal(commandOf(pageAt('stacks?' + filter), format), '')
  for (const format of ['CSV', 'SVG']) assert.equal(commandOf(pageAt('stacks', 'Pod/shop/web'), format), '', 'graph has no map')
})

test('a command has the flags of the page that it takes, as they were typed', () => {
  const at = (address) => commandOf(pageAt(address, undefined, { source: 'snapshot a.json', flags: { from: '../a.json', prices: 'p.yaml', 'health-rules': 'r.yaml', prometheus: 'http://x' } }), 'CSV')
  assert.equal(at('stacks'), 'kubectl sysop stacks -A --from ../a.json --prices p.yaml --health-rules r.yaml -o csv > stacks.csv')
  assert.equal(at('costs'), 'kubectl sysop metrics -A --from ../a.json --prices p.yaml --prometheus http://x -o csv > costs.csv')
})

test('a root is drawn by itself, also without a stack', () => {
  for (const address of ['stack?root=Pod/shop/web', 'stack?in=Pod/shop/x&root=Pod/shop/web']) assert.equal(commandOf(pageAt(address), 'SVG'), 'kubectl sysop graph Pod/shop/web -o svg > web.svg')
})

test('a cell is no formula, and an amount is itself', () => {
  assert.deepEqual(['+1.50', '-12m', '+1.2Gi', '=1+1', '-1+cmd', '@x', 'web'].map(safe), ['+1.50', '-12m', '+1.2Gi', "'=1+1", "'-1+cmd", "'@x", 'web'])
})

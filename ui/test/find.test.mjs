import assert from 'node:assert/strict'
import { test } from 'node:test'
import { load } from './load.mjs'

const { find, texts } = await load('find.tsx')
const { Page } = await load('page.ts')

const uiState = {
  kinds: [{ kind: 'Pod' }, { kind: 'ConfigMap' }], namespaces: ['', 'shop'], labels: ['tier=front'], rules: [], objects: 4, at: '1', mode: 'snapshot',
  nodes: [{ k: 0, s: 1, n: 'web-0', h: 6, r: 'CrashLoopBackOff', l: [0] }, { k: 1, s: 1, n: 'web' }, null, { k: 1, s: 1, n: 'spare', m: 'says web' }],
  stacks: [{ name: 'Deployment.apps/shop/web', roots: [0], objects: 2, tree: [{ n: 0 }, { n: 1 }] }],
}
const page = new Page(uiState, null)
const found = (search) => { const f = find(page, texts(page), search); return [f.stacks, f.objects.map((o) => o.node), f.alone] }

test('names come before what only says so, and what is in no stack is found', () => {
  assert.deepEqual(found('web'), [['Deployment.apps/shop/web'], [1, 0], [3]])
})
test('kind, label and status are words too, and all words must be there', () => {
  assert.deepEqual(found('pod crashloop'), [[], [0], []])
  assert.deepEqual(found('degraded'), [[], [0], []])
  assert.deepEqual(found('tier=front'), [[], [0], []])
  assert.deepEqual(found('pod spare'), [[], [], []])
  assert.deepEqual(found('  '), [[], [], []])
})

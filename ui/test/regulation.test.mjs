import assert from 'node:assert/strict'
import { test } from 'node:test'
import { load } from './load.mjs'

const { course, effect, heldAs, known, needsAmong } = await load('regulation_model.ts')
const need = (from, to, more = {}) => ({ from, to, declared: false, inferred: false, ...more })
const target = (app, signal, ...path) => ({ app, path, signals: signal ? [{ signal, rule: 'r' }] : [] })
const what = (more) => ({ rules: [{ name: 'r', text: '', fails: true, upgraded: false, for: 30, recover: 60 }], bounds: '', maxUnavailable: 0, roots: {}, upgraded: [], effects: {}, ...more })

test('who is held from which step until which, and why in this order', () => {
  const w = what({
    fails: [{ app: 'db', neighbours: [target('api', 'Stop', need('api', 'db')), target('web', 'Stop', need('web', 'db', { inferred: true })), target('log', '', need('log', 'db'))], stopOrder: [['web'], ['api']], recoverOrder: [['api'], ['web']] }],
    effects: { 'Stop/web': { actions: [{ action: 'scale', text: 'replicas = 0', targets: ['Deployment.apps/shop/web'] }] }, 'Stop/api': { refused: 'GitOps keeps it' } },
  })
  const c = course(w, 'fails', 'db', { web: ['db', 'api'], api: ['db'] })
  assert.equal(c.sentence, 'If db fails, 2 apps get Stop in 2 steps, and Recover in the reverse order.')
  assert.deepEqual(c.held.map((h) => [h.app, h.from, h.until, heldAs(h), ...h.order]), [['web', 1, 2, 'held, 0 pods', 'before api, which it needs'], ['api', 2, 1, 'not held: refused', 'after web, which needs it']])
  assert.deepEqual([c.stops, c.recovers, c.after, c.over], [['Stop', 'Stop'], ['Recover', 'Recover'], 30, 60])
  assert.deepEqual(needsAmong(c).map((n) => [n.from, n.to, known(n)]), [['web', 'db', 'inferred'], ['api', 'db', 'said by the spec']], 'a line for each need, none for who is not held')
})

test('nobody is held, for one of two reasons', () => {
  const none = { app: 'db', neighbours: [target('web', '')], stopOrder: [['web']], recoverOrder: [['web']] }
  assert.equal(course(what({ fails: [none] }), 'fails', 'db', {}).sentence, 'If db fails, nobody is held: no rule sends a signal then.')
  assert.equal(course(what({ fails: [], upgraded: [none] }), 'upgraded', 'db', {}).sentence, 'If db is upgraded, nobody is held: the System has no rule about upgrades.')
  assert.deepEqual(course(what({ fails: [none] }), 'fails', 'db', {}).stops, [])
})

test('what is done, in words', () => {
  assert.equal(effect({ action: 'scale', text: 'replicas = 0', targets: ['Deployment.apps/shop/web'] }), 'scaled to 0: web')
  assert.equal(effect({ action: 'annotate', text: 'a=b', targets: ['Deployment.apps/shop/web'] }), 'annotate: a=b of web')
  assert.deepEqual([known(need('a', 'b')), known(need('a', 'b', { inferred: true })), known(need('a', 'b', { declared: true }))], ['said by the spec', 'inferred', 'declared'])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { load } from './load.mjs'

const c = await load('compose_model.ts')

test('values are set and got by path, and what is empty goes', () => {
  const whole = { a: { b: [1, 2] }, z: 1 }
  assert.deepEqual(c.set(whole, ['a', 'b', 1], 3), { a: { b: [1, 3] }, z: 1 })
  assert.deepEqual(whole, { a: { b: [1, 2] }, z: 1 }, 'the old one is as it was')
  assert.deepEqual(Object.keys(c.set(whole, ['a'], 0)), ['a', 'z'], 'a key keeps its place')
  assert.deepEqual(c.set({ a: { b: { c: 1 } }, z: 1 }, ['a', 'b', 'c'], undefined), { z: 1 })
  assert.deepEqual(c.set(undefined, ['a', 0, 'b'], 'x'), { a: [{ b: 'x' }] })
  assert.equal(c.get({}, ['toString', 'name']), undefined)
  assert.equal(c.get(whole, ['a', 'b', 0]), 1)
})

test('a schema says what a field is', () => {
  for (const [want, s] of [
    ['text', { type: 'string' }], ['enum', { type: 'string', enum: ['a'] }], ['bool', { type: 'boolean' }], ['number', { type: 'integer' }],
    ['text', { 'x-kubernetes-int-or-string': true }], ['group', { type: 'object', properties: { a: {} } }], ['map', { type: 'object', additionalProperties: { type: 'string' } }],
    ['list', { type: 'array', items: { type: 'string' } }], ['free', { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }], ['free', {}],
  ]) assert.equal(c.formOf(s), want, JSON.stringify(s))
})

test('what is typed is read, and judged', () => {
  const port = { 'x-kubernetes-int-or-string': true }
  assert.equal(c.read(port, '80'), 80)
  assert.equal(c.read(port, '50%'), '50%')
  const n = { type: 'integer', minimum: 1, maximum: 5 }
  for (const [typed, want] of [['', ''], ['3', ''], ['0', 'expected at least 1'], ['6', 'expected at most 5'], ['1.5', 'expected a whole number'], ['x', 'expected a number']]) {
    assert.equal(c.check(n, c.read(n, typed)), want, typed)
  }
  assert.equal(c.check(n, undefined, true), 'it is required')
  assert.equal(c.check({ ...n, default: 2 }, undefined, true), '')
  assert.equal(c.check({ type: 'string', pattern: '^a+$' }, 'b'), 'expected text like ^a+$')
  assert.equal(c.check({ type: 'string', pattern: '(?i)a' }, 'b'), '', 'a pattern that only Go reads')
  assert.equal(c.check({ type: 'string', nullable: true }, null), '')
  assert.equal(c.check({}, c.read({}, '{')), 'no JSON: texts stand in quotes')
  assert.ok(c.isSecret('password', { type: 'string' }) && !c.isSecret('passwordSecretName', { type: 'string' }) && !c.isSecret('secretRef', { type: 'object' }))
})

test('apps are added, connected, renamed and removed', () => {
  const end = (app) => (path) => ({ app, root: '', path }), db = end('db'), web = end('web')
  let m = c.addApp(c.addApp(c.empty(), 'Web', { roots: ['deployment/web'] }), 'db', { roots: ['statefulset/db'] })
  m = c.addApp(m, 'web', {})
  assert.deepEqual(c.appNames(m), ['web', 'db', 'web-2'])
  m = c.addOperator(c.addOperator(m, 'strimzi', ''), 'strimzi', '1.2.3')
  assert.deepEqual(m.spec.operators, [{ name: 'strimzi', version: '1.2.3' }])
  m = c.connect(m, 'dependency', db(''), web('it reads'))
  m = c.connect(m, 'annotation', db('status.rev'), { ...web('example.com/db'), root: 'deployment/web' })
  m = c.connect(m, 'field', db('metadata.name'), web('spec.dbName'))
  assert.deepEqual(m.spec.dependencies, [{ from: 'web', to: 'db', reason: 'it reads' }])
  assert.deepEqual(m.spec.connections.map((x) => x.to.path), ['metadata.annotations["example.com/db"]', 'spec.dbName'])
  assert.deepEqual(m.spec.connections.map((x) => x.to.root), ['deployment/web', undefined])
  assert.deepEqual(c.links(m).map((l) => l.word), ['needs', 'annotation', 'needs'])
  assert.deepEqual(c.links(m).map((l) => l.from + '>' + l.to), ['web>db', 'web>db', 'web>db'])
  m = c.rename(m, 1, 'data')
  assert.ok(!JSON.stringify(m).includes('"db"'))
  m = c.remove(m, 'apps', 1)
  assert.deepEqual(Object.keys(m.spec), ['apps', 'operators'])
})

test('a problem is found in the text', () => {
  assert.deepEqual(c.place('ab\ncdef\n', 2, 3), [5, 7])
  assert.deepEqual(c.place('ab', 9), [2, 2])
})

test('a sentence says what a connection will do', () => {
  const from = { app: 'db', root: '', path: 'status.host' }, to = { app: 'web', root: 'deployment/web', path: 'db' }
  assert.equal(c.says('label', from, to), 'status.host of db is waited for, and put into metadata.labels["db"] of deployment/web before web is installed.')
  assert.match(c.says('dependency', from, to), /^web needs db: /)
  for (const [as, path, want] of [['field', 'spec.a', 'spec.a'], ['label', '', ''], ['annotation', 'a', 'metadata.annotations["a"]']]) assert.equal(c.target(as, path), want)
})

test('fields that refer to something come first, and no secret is among them', () => {
  const text = { type: 'string' }, s = { properties: {
    a: text, size: { type: 'integer' }, password: text, port: { 'x-kubernetes-int-or-string': true }, issuerRef: { type: 'object', properties: { kind: text, name: text } },
    users: { type: 'array', items: { type: 'object', properties: { secretName: text } } },
  } }
  assert.deepEqual(c.paths({ properties: { spec: s } }), ['spec.issuerRef.name', 'spec.users[0].secretName', 'spec.a', 'spec.port', 'spec.issuerRef.kind'])
  const loop = { type: 'object', properties: {} }
  loop.properties.next = loop
  assert.deepEqual(c.paths(loop), [], 'a depth is the last')
})

test('the objects of an app are named as a root names them', () => {
  const a = { roots: ['statefulset/db'], resources: [{ apiVersion: 'v1', kind: 'Service', metadata: { name: 'db', namespace: 'shop' } }, { template: 'x' }, { kind: 'ConfigMap', metadata: { name: 'c' } }] }
  assert.deepEqual(c.objects(a), ['statefulset/db', 'service/shop/db', 'configmap/c'])
  assert.equal(c.kindOf({ apiVersion: 'cert-manager.io/v1', kind: 'Issuer' }), 'Issuer.cert-manager.io')
  assert.equal(c.kindOf(a.resources[0]), 'Service')
})

test('on the board what is needed is below who needs it, and a circle ends', () => {
  const app = (name, operator) => ({ name, ...(operator && { operator }) })
  const shape = (all) => all.map((t) => t.children.length ? [t.id, ...shape(t.children)] : t.id)
  const m = { spec: { operators: [{ name: 'op' }], apps: [app('web'), app('db', 'op'), app('worker', 'op'), app('alone')], dependencies: [{ from: 'web', to: 'db' }, { from: 'db', to: 'web' }] } }
  assert.deepEqual(shape(c.forest(m)), [[0, [1, -1]], 2, 3])
  const circle = [['a', 'b'], ['b', 'c'], ['c', 'a'], ['a', 'a'], ['a', 'gone']].map(([from, to]) => ({ from, to }))
  assert.deepEqual(shape(c.forest({ spec: { apps: ['a', 'b', 'c'].map((n) => app(n)), dependencies: circle } })), [[0, [1, 2]]])
})

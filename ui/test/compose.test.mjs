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
  for (const [typed, want] of [['', ''], ['3', ''], ['0', 'want at least 1'], ['6', 'want at most 5'], ['1.5', 'want a whole number'], ['x', 'want a number']]) {
    assert.equal(c.check(n, c.read(n, typed)), want, typed)
  }
  assert.equal(c.check(n, undefined, true), 'wanted')
  assert.equal(c.check({ ...n, default: 2 }, undefined, true), '')
  assert.equal(c.check({ type: 'string', pattern: '^a+$' }, 'b'), 'want text like ^a+$')
  assert.equal(c.check({ type: 'string', pattern: '(?i)a' }, 'b'), '', 'a pattern that only Go reads')
  assert.equal(c.check({ type: 'string', nullable: true }, null), '')
  assert.equal(c.check({}, c.read({}, '{')), 'no JSON: texts stand in quotes')
  assert.ok(c.isSecret('password', { type: 'string' }) && !c.isSecret('passwordSecretName', { type: 'string' }) && !c.isSecret('secretRef', { type: 'object' }))
})

test('apps are added, connected, renamed and removed', () => {
  let m = c.addApp(c.addApp(c.empty(), 'Web', { roots: ['deployment/web'] }), 'db', { roots: ['statefulset/db'] })
  m = c.addApp(m, 'web', {})
  assert.deepEqual(c.appNames(m), ['web', 'db', 'web-2'])
  m = c.addOperator(c.addOperator(m, 'strimzi', ''), 'strimzi', '1.2.3')
  assert.deepEqual(m.spec.operators, [{ name: 'strimzi', version: '1.2.3' }])
  m = c.connect(m, 'dependency', 'db', 'web', '', 'it reads')
  m = c.connect(m, 'annotation', 'db', 'web', 'status.rev', 'example.com/db')
  m = c.connect(m, 'spec', 'db', 'web', 'metadata.name', 'dbName')
  assert.deepEqual(m.spec.dependencies, [{ from: 'web', to: 'db', reason: 'it reads' }])
  assert.deepEqual(m.spec.connections.map((x) => x.to.path), ['metadata.annotations["example.com/db"]', 'spec.dbName'])
  assert.deepEqual(c.links(m).map((l) => l.from + '>' + l.to), ['db>web', 'db>web', 'db>web'])
  m = c.rename(m, 1, 'data')
  assert.ok(!JSON.stringify(m).includes('"db"'))
  m = c.remove(m, 'apps', 1)
  assert.deepEqual(Object.keys(m.spec), ['apps', 'operators'])
})

test('a problem is found in the text', () => {
  assert.deepEqual(c.place('ab\ncdef\n', 2, 3), [5, 7])
  assert.deepEqual(c.place('ab', 9), [2, 2])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { load } from './load.mjs'

const w = await load('words.ts')

const table = (f, cases) => { for (const [given, want] of cases) assert.equal(f(...[given].flat()), want, `${f.name}(${given})`) }

test('money', () => table(w.money, [
  [0, '0.00'], [5, '0.05'], [99, '0.99'], [100, '1.00'], [2056, '20.56'], [123456, '1,234.56'], [12345678901, '123,456,789.01'],
  [-5, '−0.05'], [-123456, '−1,234.56'], [[1364, 'USD'], 'USD 13.64'], [100000000, '1,000,000.00'],
]))

test('shares', () => table(w.shareOf, [[[631, 1892], '1/3'], [[40, 60], '2/3'], [[900, 1892], '48 %'], [[946, 1892], '1/2']]))

test('cores as the program writes them', () => table(w.cpu, [[0, '0m'], [7, '7m'], [343, '343m'], [9999, '9999m'], [10000, '10'], [12345, '12.35'], [10500, '10.5']]))

test('bytes as the program writes them', () => table(w.bytes, [
  [0, '0'], [1023, '1023'], [1024, '1Ki'], [319290368, '304Mi'], [25053975893, '23Gi'], [1181116006, '1.1Gi'], [10 * 2 ** 30, '10Gi'],
  [2 ** 30 * 9.97, '10Gi'], [1.5 * 2 ** 40, '1.5Ti'], [2 ** 70, '1024Ei'],
]))

test('ages as kubectl writes them', () => table(w.age, [
  [-5, '0s'], [0, '0s'], [119, '119s'], [120, '2m'], [125, '2m5s'], [599, '9m59s'], [600, '10m'], [6480, '108m'], [10799, '179m'], [10800, '3h'],
  [23280, '6h28m'], [8 * 3600, '8h'], [47 * 3600, '47h'], [48 * 3600, '2d'], [50 * 3600, '2d2h'], [8 * 86400, '8d'], [11.5 * 86400, '11d'],
  [729 * 86400, '729d'], [730 * 86400, '2y'], [800 * 86400, '2y70d'], [3000 * 86400, '8y'],
]))

test('counts', () => {
  table(w.plural, [[[1, 'pod'], '1 pod'], [[0, 'pod'], '0 pods'], [[5000, 'object'], '5,000 objects'], [[2, 'policy', 'policies'], '2 policies']])
})

test('refs', () => {
  assert.deepEqual(w.parse('Moodle.moodlecontroller.kubeplus/moodle/moodle-2'), { kind: 'Moodle', group: 'moodlecontroller.kubeplus', namespace: 'moodle', name: 'moodle-2' })
  assert.deepEqual(w.parse('Node/worker-a'), { kind: 'Node', group: '', namespace: '', name: 'worker-a' })
  table(w.short, [['Moodle.moodlecontroller.kubeplus/moodle/moodle-2', 'Moodle/moodle-2'], ['Node/worker-a', 'Node/worker-a'], ['odd', 'odd']])
})

test('what is pasted into a shell is one word', () => table(w.quote, [['a/b-c.d', 'a/b-c.d'], ['', "''"], ['a b', "'a b'"], ["it's", "'it'\\''s'"], ['$(x)', "'$(x)'"]]))

test('moments that are none are shown as they are', () => {
  assert.equal(w.moment('soon'), 'soon')
  assert.match(w.moment('2026-09-14T09:30:00Z'), /^2026-09-1\d \d\d:\d\d$/)
})

test('control characters and those that turn text round are escapes', () => table(w.visible, [
  ['plain é 名', 'plain é 名'], ['a\u202eb', 'a\\u202eb'], ['a\x1b[31m\n', 'a\\x1b[31m\\n'], ['\u{e0001}', '\\U000e0001'],
]))

test('flags that read the source of the page', () => table((of) => w.readFrom(of).join(' '), [
  [{}, ''], [{ source: 'snapshot s.yaml' }, '--from s.yaml'], [{ source: 'snapshot s.yaml', flags: { from: '../a b/s.yaml', kubeconfig: 'k' } }, '--from ../a b/s.yaml'],
  [{ source: 'context one', flags: { kubeconfig: 'k', as: 'ada', 'as-group': 'a\nb', prices: 'p' } }, '--context one --kubeconfig k --as ada --as-group a --as-group b'],
]))

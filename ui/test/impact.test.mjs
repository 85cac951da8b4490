// The layout and texts of an impact are those of the terminal; internal/cli/ui_ask_impact_test.go writes the fixture.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { load } from './load.mjs'

const { effectMore, effectWord, keptWhy, layout, notes, removalWhy, stackWord, toneOf, waiting, worst } = await load('impact_document.ts')
const { marksOf, together } = await load('impact_marks.ts')
const { parse, plural } = await load('words.ts')
const impacts = JSON.parse(readFileSync(new URL('fixtures/impacts.json', import.meta.url)))

const glyphs = { bad: '✖ ', warn: '! ', none: '' }

/** The lines of the terminal: depth, object, effect. */
function lines(im) {
  const home = parse(im.object).namespace
  const name = (ref) => { const { kind, namespace, name } = parse(ref); return [kind, ...(namespace && namespace !== home ? [namespace] : []), name].join('/') }
  const suffers = (d) => ['  ', name(d.id), `${glyphs[toneOf(d)]}${effectWord(d)}${effectMore(d)} (${d.cause === im.object ? '' : name(d.cause) + ', '}${d.edge.why})`]
  const { stacks, loose, data, rest } = layout(im), out = [['', name(im.object), im.summary]]
  for (const [title, text] of notes(im, name)) out.push([' ', title, text])
  for (const { touched: s, objects } of stacks) {
    out.push([' ', 'stack ' + name(s.stack), glyphs[toneOf(s)] + stackWord(s) + (s.cause ? ': ' + name(s.cause) : '') + (s.deleted ? `; ${plural(s.deleted, 'object')} of it also deleted` : '')], ...objects.map(suffers))
  }
  if (loose.length) out.push([' ', 'in no stack', ''], ...loose.map(suffers))
  if (im.deletions.length) {
    out.push([' ', 'deleted with it', `✖ ${plural(im.deletions.length, 'object')}${waiting(im)}`])
    for (const d of data) out.push(['  ', name(d.id), '✖ ' + removalWhy(d)])
    for (const d of rest) out.push(['  ', name(d.id), removalWhy(d)])
  }
  if (im.mayBeDeleted.length) out.push([' ', 'may be deleted with it', `! ${plural(im.mayBeDeleted.length, 'object')}: a controller decides`], ...im.mayBeDeleted.map((d) => ['  ', name(d.id), `by ${name(d.cause)} (${d.why})`]))
  if (im.retained.length) out.push([' ', 'stays', plural(im.retained.length, 'object')], ...im.retained.map((k) => ['  ', name(k.id), keptWhy(k.reason)]))
  return out
}

test('there is an impact of every sort', () => {
  const all = impacts.map((i) => i.document), effects = new Set(all.flatMap((im) => im.direct.map((d) => d.effect + d.inferred)))
  assert.ok(effects.size >= 14, [...effects].join())
  for (const part of ['appliesWhen', 'recreatedBy']) assert.ok(all.some((im) => im[part]), part)
  for (const part of ['finalizers', 'stacks', 'deletions', 'mayBeDeleted', 'retained', 'direct', 'indirect', 'unreadKinds']) assert.ok(all.some((im) => im[part].length), part)
})

for (const { document, lines: want } of impacts) {
  test(`the impact of ${document.object}`, () => {
    assert.deepEqual(lines(document), want.filter(([, effect]) => effect !== '? unread'))
  })
}

test('the worst that happens to a stack is how bad it is', () => {
  const tone = (...stacks) => worst({ stacks: stacks.map(([effect, inferred]) => ({ effect, inferred })) })
  assert.equal(tone(), 'none')
  assert.equal(tone(['only new ones', false]), 'none')
  assert.equal(tone(['does without', false], ['breaks', true]), 'warn')
  assert.equal(tone(['breaks on restart', true], ['breaks on restart', false]), 'bad')
  assert.equal(tone(['deleted', false]), 'bad')
})

test('a graph marks what an impact affects, and says what is inferred', () => {
  const names = new Map(), find = (ref) => names.get(ref) ?? (ref ? names.set(ref, names.size).size - 1 : -1)
  for (const { document: im } of impacts) {
    const { of, lines } = marksOf({ find }, im)
    for (const d of [...im.direct, ...im.indirect, ...im.served]) {
      const m = of.get(find(d.id))
      if (d.inferred && m.inferred) assert.match(m.text, /\(inferred\)$/)
      assert.ok(lines.some((l) => l.from === find(d.cause) && l.to === find(d.id) && l.inferred === d.edge.inferred), `no line to ${d.id}`)
      for (const below of d.controlled) assert.ok(of.get(find(below)), `${below} is not marked`)
    }
    for (const { id } of [...im.deletions, ...im.mayBeDeleted, { id: im.object }]) assert.ok(of.get(find(id)), `${id} is not marked`)
    assert.equal(of.get(find(im.object)).text, 'deleted')
  }
  const marks = { of: new Map([[1, { tone: 'warn', text: 'may break' }], [2, { tone: 'bad', text: 'breaks' }], [3, { tone: 'bad', text: 'breaks' }]]), lines: [] }
  assert.equal(together([0], marks), undefined)
  assert.equal(together([1], marks).text, 'may break')
  assert.deepEqual(together([0, 1, 2, 3], marks), { tone: 'bad', text: 'breaks: 2 of 4' })
})

test('the command of an impact reads what the page reads', async () => {
  const { commandOf } = await load('impact.tsx'), of = (uiState) => commandOf({ uiState }, 'Pod/shop/web', false)
  assert.equal(of({ source: 'snapshot s.yaml', flags: { from: '../snap dir/s.yaml' } }), "kubectl sysop impact Pod/shop/web --from '../snap dir/s.yaml'")
  assert.equal(of({ source: 'context one', flags: { kubeconfig: 'k', as: 'ada' } }), 'kubectl sysop impact Pod/shop/web --context one --kubeconfig k --as ada')
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { load } from './load.mjs'

const { reader } = await load('server.ts')

test('events come whole, however the text is cut', () => {
  const text = 'retry: 1000\n\nevent: picture\nid: 1\ndata: {"a":"\\n\\n"}\n\nevent: beat\nid: 1\ndata: {}\n\n: a comment\n\nevent: end\ndata: {}\n\n'
  const want = [{ name: 'picture', data: '{"a":"\\n\\n"}' }, { name: 'beat', data: '{}' }, { name: 'end', data: '{}' }]
  for (let size = 1; size <= text.length; size++) {
    const got = [], read = reader((e) => got.push(e))
    for (let i = 0; i < text.length; i += size) {
      read(text.slice(i, i + size))
      read('')
    }
    assert.deepEqual(got, want, `pieces of ${size}`)
  }
})

test('half an event is not told', () => {
  const got = [], read = reader((e) => got.push(e))
  read('event: change\ndata: {"at"')
  read(':1}\n')
  assert.deepEqual(got, [])
  read('\n')
  assert.deepEqual(got, [{ name: 'change', data: '{"at":1}' }])
})

/** Simulates a tab of a browser: its address, its storage, and the responses of its origin. */
async function tab({ hash = '', stored = {}, answer }, todo) {
  const names = ['location', 'history', 'sessionStorage', 'fetch'], was = names.map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)])
  const storage = new Map(Object.entries(stored)), asked = []
  const give = (name, value) => Object.defineProperty(globalThis, name, { value, configurable: true })
  give('location', { hash, pathname: '/' })
  give('history', { replaceState: () => { location.hash = '' } })
  give('sessionStorage', { getItem: (k) => storage.get(k) ?? null, setItem: (k, v) => { storage.set(k, v) } })
  give('fetch', async (url, init) => {
    asked.push({ url, headers: init.headers ?? {}, credentials: init.credentials, body: init.body })
    return answer(url, init)
  })
  try {
    await todo(await load('server.ts'), { storage, asked })
  } finally {
    for (const [name, d] of was) if (d) Object.defineProperty(globalThis, name, d); else delete globalThis[name]
  }
}

const json = (body, status = 200) => new Response(JSON.stringify(body), { status })
const session = (url) => url === '/api/session' ? json({ bearer: 'B1' }) : json({ ok: true })

test('the token is exchanged for a bearer, which every request carries and no cookie does', () => tab({ hash: '#token=T1', answer: session }, async ({ enter, server }, { storage, asked }) => {
  const { refused, leave } = await enter()
  try {
    assert.equal(refused, null)
    assert.equal(location.hash, '', 'the token stays in the address')
    assert.deepEqual([...storage], [['sysop-bearer', 'B1']])
    assert.deepEqual(JSON.parse(asked[0].body), { token: 'T1' })
    assert.equal(asked[0].headers.Authorization, undefined)
    await server.get('object', { ref: 'Pod/a/b' })
    await server.post('system', {})
    assert.deepEqual(asked.slice(1).map((a) => [a.url, a.headers.Authorization]), [['/api/object?ref=Pod%2Fa%2Fb', 'Bearer B1'], ['/api/system', 'Bearer B1']])
    assert.ok(asked.every((a) => a.credentials === 'omit'), 'a request takes cookies along')
  } finally {
    leave()
  }
}))

test('a reload has the bearer of its tab, and the address opened again keeps it', () => tab({ hash: '#token=T1', stored: { 'sysop-bearer': 'B0' }, answer: () => new Response(null, { status: 204 }) }, async ({ enter }, { storage, asked }) => {
  const { refused, leave } = await enter()
  leave()
  assert.equal(refused, null)
  assert.equal(asked[0].headers.Authorization, 'Bearer B0')
  assert.equal(storage.get('sysop-bearer'), 'B0')
}))

test('another tab of the origin is let in by the one that is open', () => tab({ hash: '#token=T1', answer: session }, async (first) => {
  const { leave } = await first.enter()
  try {
    await tab({ answer: session }, async (second, { storage, asked }) => {
      const entered = await second.enter()
      entered.leave()
      assert.equal(storage.get('sysop-bearer'), 'B1')
      assert.equal(asked.length, 0)
    })
  } finally {
    leave()
  }
}))

test('the stream carries the bearer', () => tab({ stored: { 'sysop-bearer': 'B0' }, answer: () => json({ error: 'this page is not known' }, 401) }, async ({ connect }, { asked }) => {
  const was = Object.getOwnPropertyDescriptor(globalThis, 'window')
  Object.defineProperty(globalThis, 'window', { value: { setTimeout: () => 0 }, configurable: true })
  Object.defineProperty(globalThis, 'document', { value: { addEventListener() {}, hidden: false }, configurable: true })
  try {
    await assert.rejects(connect(() => assert.fail('no Picture came'), () => {}), /not known/)
    assert.deepEqual(asked.map((a) => [a.url, a.headers.Authorization, a.credentials]), [['/api/stream', 'Bearer B0', 'omit']])
  } finally {
    delete globalThis.document
    if (was) Object.defineProperty(globalThis, 'window', was); else delete globalThis.window
  }
}))

test('without token, storage and other tabs nobody is in', () => tab({ answer: session }, async ({ enter }, { storage }) => {
  const { refused, leave } = await enter()
  leave()
  assert.equal(refused, null)
  assert.equal(storage.size, 0)
}))

test('a token that was used says so', () => tab({ hash: '#token=T1', answer: () => json({ error: 'this address was opened before' }, 401) }, async ({ enter }) => {
  const { refused } = await enter()
  assert.match(refused.message, /opened before/)
}))

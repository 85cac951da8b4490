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

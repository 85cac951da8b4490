// Files that -o html wrote, opened from disk: they ask nobody, and are as usable as the page.
import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { accessible, browsing, clean, paged, world } from './lib.mjs'

const opens = { graph: 'treegrid', health: 'treegrid', metrics: 'table', stacks: 'group' }

for (const [name, file] of Object.entries(world.files)) {
  test(`${name} -o html`, () => browsing(async (browser) => {
    const url = pathToFileURL(file).href
    const page = await paged(browser)
    await page.goto(url)
    await page.getByRole(opens[name]).first().waitFor()
    assert.deepEqual(page.asked, [url], 'requests')
    await accessible(page, name)
    await page.emulateMedia({ colorScheme: 'dark' })
    await accessible(page, `${name}, dark`)
    await clean(page, url)
  }))
}

test('the file of two stacks is small', () => {
  assert.ok(statSync(world.files.graph).size <= 79_000, `${statSync(world.files.graph).size} bytes`)
})

// By keyboard alone: from the stacks to a cause, its path to another object, what goes with it, and back.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accessible, browsing, clean, paged, world } from './lib.mjs'

const origin = new URL(world.address).origin
const focused = (page) => page.evaluate(() => {
  const e = document.activeElement
  return `${e.getAttribute('role') ?? e.tagName.toLowerCase()} ${e.getAttribute('aria-label') ?? e.textContent}`.replace(/\s+/g, ' ').slice(0, 120)
})
/** Tabs until the focus is on what is looked for; more than 60 is a trap. */
async function tabTo(page, what) {
  for (let i = 0; i < 60; i++) {
    if (what.test(await focused(page))) return
    await page.keyboard.press('Tab')
  }
  assert.fail(`Tab does not lead to ${what}; it is at ${await focused(page)}`)
}
const selected = (page) => page.locator('[role=row][aria-selected=true]').textContent()

test('the keyboard alone', () => browsing(async (browser) => {
  const page = await paged(browser)
  await page.goto(world.address)
  await page.getByRole('group', { name: 'Map of the stacks' }).waitFor()
  await page.keyboard.press('/')
  assert.match(await focused(page), /^input Find any object/)
  await page.keyboard.type('moodle-2')
  await page.getByRole('region', { name: 'Found objects' }).waitFor()
  await page.keyboard.press('Escape')
  assert.match(await focused(page), /^input Find any object/)
  await tabTo(page, /^a .*moodle-2 ?✖ Degraded/)
  await page.keyboard.press('Enter')
  await page.getByRole('treegrid').waitFor()

  // The tree: one stop of Tab, arrows within.
  await tabTo(page, /^row /)
  await page.keyboard.press('Home')
  assert.match(await selected(page), /Moodle.*moodle-2/)
  await page.keyboard.press('ArrowDown')
  assert.match(await selected(page), /Deployment/)
  const open = () => page.locator('[role=row][aria-selected=true]').getAttribute('aria-expanded')
  assert.equal(await open(), 'true')
  await page.keyboard.press('ArrowLeft')
  assert.equal(await open(), 'false')
  await page.keyboard.press('ArrowRight')
  assert.equal(await open(), 'true')
  await page.keyboard.press('ArrowRight')
  assert.match(await selected(page), /ReplicaSet/)
  await page.keyboard.press('ArrowLeft')
  assert.equal(await open(), 'false')
  await page.keyboard.press('ArrowLeft')
  assert.match(await selected(page), /Deployment/)
  await page.keyboard.press('End')
  const last = await selected(page)
  await page.keyboard.press('Control+Home')
  assert.notEqual(await selected(page), last)
  await page.keyboard.type('moodle-2-admin')
  assert.match(await selected(page), /moodle-2-admin/)

  // To the details, and what happens if it is deleted.
  await page.keyboard.press('Enter')
  await page.waitForFunction(() => document.activeElement?.closest('#details'))
  await tabTo(page, /Impact$/)
  await page.keyboard.press('Enter')
  await page.locator('#details').getByText(/stack.* break/).first().waitFor()
  await accessible(page, 'the details with an impact')
  await page.keyboard.press('Escape')
  await page.waitForFunction(() => document.activeElement?.closest('[role=treegrid]'))

  // To another root and back: neither button is there afterwards, and the focus stays on the page.
  const kept = () => page.waitForFunction(() => document.activeElement !== document.body)
  await page.keyboard.press('Control+Home')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await tabTo(page, /Re-root here$/)
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Back to the whole stack' }).waitFor()
  await kept()
  await tabTo(page, /Back to the whole stack$/)
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Back to the whole stack' }).waitFor({ state: 'detached' })
  await kept()

  // Details that were closed open again by a click on what is selected.
  await page.getByRole('button', { name: 'Close the details' }).click()
  await page.locator('#details').waitFor({ state: 'detached' })
  await page.locator('[role=row][aria-selected=true]').click()
  await page.locator('#details').waitFor()

  // Filters narrow the tree, and are taken away again; what leads to a hit stays.
  await page.getByRole('searchbox', { name: 'Search objects' }).focus()
  await page.keyboard.type('smtp')
  await page.getByRole('status').filter({ hasText: /\d+ of \d+ objects/ }).waitFor()
  assert.ok(await page.getByRole('row').count() < 8)
  await page.keyboard.press('Control+A')
  await page.keyboard.press('Delete')

  // The graph: arrows go to neighbours, and the tree follows.
  await tabTo(page, /^treeitem /)
  await page.keyboard.press('ArrowLeft')
  assert.match(await selected(page), /Deployment|Moodle/)
  // Enter on a card leads to the details, and Esc back to it.
  await page.keyboard.press('ArrowRight')
  const card = await focused(page)
  assert.match(card, /^treeitem /)
  await page.keyboard.press('Enter')
  await page.waitForFunction(() => document.activeElement?.closest('#details'))
  await page.keyboard.press('Escape')
  await page.waitForFunction(() => document.activeElement?.getAttribute('role') === 'treeitem')
  assert.equal(await focused(page), card)

  for (const [key, view] of [['1', 'Stacks'], ['3', 'Costs'], ['4', 'Findings'], ['5', 'Regulation'], ['6', 'Compose'], ['2', 'Stack']]) {
    await page.evaluate(() => document.activeElement?.blur())
    await page.keyboard.press(key)
    await page.getByRole('button', { name: view, exact: true }).and(page.locator('[aria-current=page]')).waitFor()
  }
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keys' }).waitFor()
  await accessible(page, 'the keys')
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await clean(page, origin)
}))

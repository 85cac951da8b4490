// By keyboard alone: from the stacks to a cause, its path to another object, what goes with it, and back.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accessible, browsing, clean, paged, until, world } from './lib.mjs'

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
/** Waits until the selected row, or the focus, is what a key leads to. */
const selects = (page, what) => page.locator('[role=row][aria-selected=true]').filter({ hasText: what }).waitFor()
const focuses = (page, what) => until(() => focused(page), what)
/** Presses a key in the graph, and waits until another card has the focus; returns it. */
async function toCard(page, key) {
  const before = await focused(page)
  await page.keyboard.press(key)
  for (let i = 0; i < 200; i++) {
    const card = await focused(page)
    if (card !== before && card.startsWith('treeitem ')) return card
    await page.waitForTimeout(50)
  }
  assert.fail(`${key} leads nowhere from ${before}`)
}

test('the keyboard alone', () => browsing(async (browser) => {
  const page = await paged(browser)
  await page.goto(world.address)
  await page.getByRole('group', { name: 'Map of the stacks' }).waitFor()
  await page.keyboard.press('/')
  await focuses(page, /^input Find any object/)
  await page.keyboard.type('moodle-2')
  await page.getByRole('region', { name: 'Found objects' }).waitFor()
  await page.keyboard.press('Escape')
  await focuses(page, /^input Find any object/)
  await tabTo(page, /^a .*moodle-2 ?✖ Degraded/)
  await page.keyboard.press('Enter')
  await page.getByRole('treegrid').waitFor()

  // The tree: one stop of Tab, arrows within.
  await tabTo(page, /^row /)
  await page.keyboard.press('Home')
  await selects(page, /Moodle.*moodle-2/)
  await page.keyboard.press('ArrowDown')
  await selects(page, /Deployment/)
  const open = (is) => page.locator(`[role=row][aria-selected=true][aria-expanded=${is}]`).waitFor()
  await open(true)
  await page.keyboard.press('ArrowLeft')
  await open(false)
  await page.keyboard.press('ArrowRight')
  await open(true)
  await page.keyboard.press('ArrowRight')
  await selects(page, /ReplicaSet/)
  await page.keyboard.press('ArrowLeft')
  await open(false)
  await page.keyboard.press('ArrowLeft')
  await selects(page, /Deployment/)
  await page.keyboard.press('End')
  await page.locator('[role=row][aria-selected=true]:not(:has-text("Deployment moodle-2"))').waitFor()
  await page.keyboard.press('Control+Home')
  await selects(page, /Moodle.*moodle-2/)
  await page.keyboard.type('moodle-2-admin')
  await selects(page, /moodle-2-admin/)

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
  await page.waitForFunction(() => document.querySelectorAll('[role=row]').length < 8)
  await page.keyboard.press('Control+A')
  await page.keyboard.press('Delete')
  await page.getByRole('status').filter({ hasText: /\d+ of \d+ objects/ }).waitFor({ state: 'detached' })

  // The graph: arrows go to neighbours, and the tree follows.
  await tabTo(page, /^treeitem /)
  await toCard(page, 'ArrowLeft')
  await selects(page, /Deployment|Moodle/)
  // Enter on a card leads to the details, and Esc back to it.
  const card = await toCard(page, 'ArrowRight')
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

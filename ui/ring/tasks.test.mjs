// The tasks of a user, and how many clicks each takes: three at the most, but for composing; by the
// keyboard alone it is presses of keys that are counted. What else the keyboard does is keyboard.test.mjs.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { browsing, clean, paged, picture, until, world } from './lib.mjs'

const origin = new URL(world.address).origin
const go = (page, view) => page.getByRole('navigation', { name: 'Views' }).getByRole('button', { name: view, exact: true }).click()
const details = (page) => page.getByRole('complementary', { name: 'Details' })
const map = (page) => page.getByRole('group', { name: 'Map of the stacks' })
const moodle1 = /^#stack\?in=Moodle\.moodlecontroller\.kubeplus\/moodle\/moodle-1$/
const card = async (page, href) => {
  for (const link of await map(page).getByRole('link').all()) if (href.test(await link.getAttribute('href'))) return link
  assert.fail(`no card leads to ${href}`)
}

const tasks = {
  'which stack is broken, and why': [0, async (page) => {
    assert.match(await page.getByRole('list', { name: 'What is broken' }).textContent(), /moodle-2.*Secret\/moodle-2-smtp is missing/)
  }],
  'what a stack costs, and who shares it': [3, async (page) => {
    const link = await card(page, moodle1)
    assert.match(await link.textContent(), /20\.56/)
    await link.click()
    await page.getByRole('row', { name: /MysqlCluster/ }).click()
    await details(page).getByText(/1\/3 of 18\.9\d, with moodle-2 and wordpress\./).waitFor()
  }],
  'why something belongs to a stack': [3, async (page) => {
    await page.getByRole('list', { name: 'What is broken' }).getByRole('link', { name: 'Show why' }).first().click()
    await details(page).getByRole('heading', { level: 2 }).waitFor()
    await page.getByRole('row', { name: /^Deployment/ }).first().click()
    await until(() => details(page).textContent(), /via (spec|owner|label|env)/)
  }],
  'find a ConfigMap': [0, async (page) => {
    await page.keyboard.press('/')
    await page.keyboard.type('configmap cluster1')
    await page.getByRole('region', { name: 'Found objects' }).getByRole('link', { name: 'ConfigMap/cluster1-mysql' }).first().waitFor()
    await page.keyboard.press('Enter')
    await details(page).getByRole('heading', { name: /ConfigMap cluster1-mysql/ }).waitFor()
  }],
  'compose a database, a certificate and an app': [10, async (page) => {
    await go(page, 'Compose')
    const search = page.getByRole('searchbox', { name: /Search operators/ }), add = (kind) => page.getByRole('button', { name: 'New ' + kind, exact: true }).first().click()
    await search.fill('postgresql cluster')
    await add('Cluster')
    await search.fill('certificate')
    await add('Certificate')
    await search.fill('')
    await add('Deployment')
    await add('Ingress')
    await page.getByRole('button', { name: 'Connect ingress to certificate' }).click()
    await page.getByRole('button', { name: 'Order alone: connect deployment to cluster' }).click()
    await page.getByRole('status').filter({ hasText: 'valid ✔' }).waitFor()
    assert.match(await page.getByRole('region', { name: /What it costs/ }).textContent(), /USD \d+\.\d\d a month.*deployment500m CPU, 512Mi memory/)
    assert.match(await page.locator('.compose-text').textContent(), /kubectl sysop install -f system\.yaml --dry-run=server/)
    const yaml = await page.getByRole('textbox', { name: 'Manifest' }).inputValue()
    for (const part of [/kind: Cluster/, /instances: 3/, /kind: Certificate/, /path: spec\.tls\[0\]\.secretName/, /from: deployment\n\s+to: cluster/]) assert.match(yaml, part)
  }],
  'send it to a colleague': [1, async (page) => {
    await (await card(page, moodle1)).click()
    await page.getByRole('treegrid').waitFor()
    const other = await page.context().newPage()
    await other.goto(page.url())
    await other.getByRole('treegrid').waitFor()
    assert.equal(await other.locator('.trail-says').textContent(), await page.locator('.trail-says').textContent(), 'the address shows the same')
    await other.close()
  }],
  'compare two stacks': [3, async (page) => {
    await go(page, 'Costs')
    const side = page.getByRole('region', { name: 'Two stacks side by side' })
    await side.getByRole('combobox').nth(1).click()
    await side.getByRole('combobox').nth(1).selectOption({ label: 'Deployment/wordpress' })
    await until(() => side.textContent(), /Cost, USD20\.5612\.21\+8\.35/)
  }],
  'who is held if the database fails': [1, async (page) => {
    await go(page, 'Regulation')
    await page.getByText('If db fails, 4 apps get Stop in 2 steps, and Recover in the reverse order.').waitFor()
  }],
}

/** A page that counts clicks of the mouse and presses of keys. */
async function counting(browser) {
  const page = await paged(browser, { viewport: { width: 1440, height: 900 } })
  await page.addInitScript(() => {
    globalThis.clicks = globalThis.presses = 0
    addEventListener('click', (e) => { if (e.isTrusted && e.detail) globalThis.clicks++ }, true)
    addEventListener('keydown', (e) => { if (e.isTrusted) globalThis.presses++ }, true)
  })
  return page
}

/** Does a task, and holds what it takes to the most that it may take. */
async function counted(page, task, most, does, what = 'clicks') {
  await page.evaluate(() => { globalThis.clicks = globalThis.presses = 0; document.activeElement?.blur() })
  await does(page)
  const took = await page.evaluate(() => ({ clicks: globalThis.clicks, presses: globalThis.presses }))
  console.log(`${task}: ${took[what]} ${what}`)
  assert.ok(took[what] <= most, `${task} takes ${took[what]} ${what}`)
  if (what === 'presses') assert.equal(took.clicks, 0, 'by the keyboard alone')
}

/** By the keyboard alone: what is broken, why, and what is affected. */
async function byKeyboard(page) {
  const focused = () => page.evaluate(() => document.activeElement?.matches('a') ? document.activeElement.textContent : '')
  await counted(page, 'the broken stack and its cause', 6, async () => {
    await page.keyboard.press('n')
    await until(focused, /moodle-2|wordpress-importer/)
    while (!/moodle-2/.test(await focused())) await page.keyboard.press('n')
    await page.keyboard.press('Enter')
    await page.getByRole('treegrid').waitFor()
    while (!/moodle-2-smtp/.test(await focused())) await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await details(page).getByText('missing: it is referenced, and does not exist').waitFor()
  }, 'presses')
  await picture(page, 'keyboard')
  await counted(page, 'what is affected if a Secret goes', 20, async () => {
    await page.keyboard.press('/')
    await page.keyboard.type('cluster1-secret')
    await page.keyboard.press('Enter')
    await details(page).getByRole('heading', { name: 'Secret cluster1-secret' }).waitFor()
    await page.keyboard.press('i')
    await details(page).getByText('2 stacks break, 3 may break').first().waitFor()
  }, 'presses')
}

test('the tasks of a user', () => browsing(async (browser) => {
  const page = await counting(browser)
  await page.goto(world.address)
  for (const [task, [most, does]] of Object.entries(tasks)) {
    await page.evaluate(() => { location.hash = 'stacks' })
    await map(page).waitFor()
    await counted(page, task, most, does)
  }
  await page.evaluate(() => { location.hash = 'stacks' })
  await map(page).waitFor()
  await byKeyboard(page)
  await clean(page, origin)
}))

test('a stack of 1,500 objects: what is broken in it', () => browsing(async (browser) => {
  const page = await counting(browser)
  await page.goto(world.many)
  await page.getByRole('treegrid').waitFor()
  await counted(page, 'what is broken in a stack of 1,500', 2, async () => {
    await page.getByRole('button', { name: 'Worst first' }).click()
    await page.getByRole('row', { name: /Pod.*Degraded/ }).first().click()
    await details(page).getByText('CrashLoopBackOff').first().waitFor()
  })
  await picture(page, 'many')
  await clean(page, new URL(world.many).origin)
}))

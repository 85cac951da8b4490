// A real cluster, while things happen to it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accessible, browsing, clean, deed, paged, world } from './lib.mjs'

const origin = new URL(world.address).origin

/** Where every card is, by its text without what health says. */
const cards = (page) => page.evaluate(() => Object.fromEntries([...document.querySelectorAll('.graph-card')].map((c) => {
  const { x, y, width, height } = c.getBoundingClientRect()
  return [c.querySelector('.graph-name')?.textContent ?? c.textContent, [x, y, width, height].map(Math.round)]
})))

/** Where every row of the tree is, by the number of the row. */
const rows = (page) => page.evaluate(() => [...document.querySelectorAll('[role=treegrid] [role=row][aria-rowindex]')].map((r) => `${r.getAttribute('aria-rowindex')} ${Math.round(r.getBoundingClientRect().y)}`))

test('a pod fails, and the program ends', () => browsing(async (browser) => {
  const page = await paged(browser)
  await page.goto(world.address)
  await page.getByRole('status').filter({ hasText: 'live' }).waitFor()
  await page.locator('main a[title$="/shop/web"]').first().click()
  await page.getByRole('treegrid').waitFor()
  await page.locator('.graph-card').first().waitFor()
  const before = await cards(page), lines = await rows(page)
  assert.ok(Object.keys(before).length > 3, 'cards in sight')
  const { pod } = await deed('fail', 'shop web')
  const failed = page.getByRole('row', { name: new RegExp(pod) }).filter({ hasText: 'Degraded' })
  const began = Date.now()
  await failed.waitFor({ timeout: 20_000 })
  console.log(`it shows ${Date.now() - began} ms after the pod was told to fail`)
  assert.deepEqual(await cards(page), before, 'a card has moved')
  assert.deepEqual(await rows(page), lines, 'a row has moved')
  // What has changed since the page is open is listed, with the cause; and its logs are a command away.
  await page.getByRole('button', { name: /\d+ changes? of health/ }).click()
  await page.getByRole('dialog').getByRole('row', { name: /web.*Healthy.*Degraded|web.*Healthy.*Progressing/ }).first().waitFor()
  await accessible(page, 'the changes of health')
  await page.keyboard.press('Escape')
  await failed.click()
  // The log of the pod is read when it is asked for, and the command stands beside it.
  const command = page.locator('#details .command code').filter({ hasText: 'kubectl logs' })
  await page.getByText('The last lines of its log').click()
  await page.getByText('no log yet: it waits to start (CrashLoopBackOff)').waitFor()
  await page.getByRole('row', { name: /^Pod web-/ }).filter({ hasNotText: pod }).first().click()
  await page.getByText('The last lines of its log').click()
  const log = page.getByRole('region', { name: /^Log of / })
  await log.waitFor()
  assert.match(await log.textContent(), /^starting\nlistening on :8080\nwarning: the container is played/)
  assert.match(await command.textContent(), /kubectl logs web-\S+ -n shop -c \S+ --tail=200 --context /)
  await accessible(page, 'the log of a pod')
  await page.getByLabel('Lines').selectOption('50')
  await page.waitForFunction(() => /--tail=50 /.test(document.querySelector('#details .details-yaml .command code').textContent))
  await log.waitFor()
  await accessible(page, 'a stack in trouble')
  // A kind that is defined meanwhile is read, and its objects are found.
  await deed('define')
  await page.getByRole('searchbox', { name: 'Find any object' }).fill('whistling')
  await page.getByRole('region', { name: 'Found objects' }).getByText('Kettle/whistling').first().waitFor({ timeout: 60_000 })
  await page.keyboard.press('Escape')
  await clean(page, origin)
  await deed('end')
  await page.getByRole('status').filter({ hasText: 'has ended' }).waitFor()
}))

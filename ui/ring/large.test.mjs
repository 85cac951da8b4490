// A stack of 1,506 objects: it opens as a picture of its parts, on the trouble.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accessible, browsing, clean, elements, paged, picture, until, world } from './lib.mjs'

const parts = (page) => page.getByRole('group', { name: 'Parts of the stack' })
const part = (page, name) => page.getByRole('region', { name, exact: true })

/** Nothing lies over an element, and it is in sight. */
const uncovered = (locator) => locator.evaluate((e) => {
  const r = e.getBoundingClientRect(), hit = document.elementFromPoint(r.left + r.width / 2, r.top + Math.min(r.height / 2, 20))
  return e === hit || e.contains(hit) || hit?.contains(e) && hit.closest('a, .graph-card') === e.closest('a, .graph-card')
})

test('a stack of 1,506 objects', () => browsing(async (browser) => {
  const origin = new URL(world.address).origin, page = await paged(browser, { viewport: { width: 1440, height: 900 } })
  await page.goto(world.address)
  await page.getByRole('button', { name: 'Graph', exact: true }).click()
  await parts(page).waitFor()
  await picture(page, 'large')

  // Few cards for all: eight parts, what comes in, and what they need, each once.
  assert.equal(await parts(page).locator('.card').count(), 13)
  const api = part(page, 'shop-01-api')
  assert.match(await api.textContent(), /13 workloads.*Degraded.*140\/143.*shop-01-api.*8\/11.*CrashLoopBackOff in 3 pods.*12 more, none in trouble/s)
  assert.match(await parts(page).getByRole('link', { name: /shop-01-config/ }).textContent(), /ConfigMap.*1,100 pods need it/)
  assert.deepEqual(await parts(page).locator('.parts-count').allTextContents(), ['1,100', '1,100', '1,100', '1,100'], 'lines that stand for many say for how many')
  assert.match(await parts(page).textContent(), /100 Services.*100 ReplicaSets.*1 PersistentVolume/)
  assert.ok(await elements(page) <= 600, `${await elements(page)} elements`)
  // The cause is in sight, without a click; one click selects it, and it stays in sight.
  const pod = api.getByRole('link', { name: /…-/ }).first()
  assert.ok(await uncovered(pod))
  await pod.click()
  await until(() => decodeURIComponent(page.url()), /at=Pod\/app\/shop-01-api-/)
  await page.getByRole('complementary', { name: 'Details' }).getByRole('heading', { name: /^Pod shop-01-api-/ }).waitFor()
  assert.ok(await uncovered(pod), 'the selection is not under a panel')
  // A part opens, and its workloads lead somewhere.
  await part(page, 'shop-01-web').getByRole('button', { name: /13 workloads/ }).click()
  await part(page, 'shop-01-web').getByRole('link', { name: 'web96' }).click()
  await until(() => decodeURIComponent(page.url()), /at=Deployment\.apps\/app\/shop-01-web96/)
  await page.getByRole('button', { name: 'Close the details' }).click()
  // Fit shows all; the overview is there while not all is in sight.
  await page.setViewportSize({ width: 1440, height: 600 })
  await page.getByRole('complementary', { name: 'Overview' }).waitFor()
  await page.getByRole('button', { name: 'Fit', exact: true }).click()
  await page.getByRole('complementary', { name: 'Overview' }).waitFor({ state: 'detached' })
  assert.ok(await parts(page).evaluate((e) => e.scrollHeight <= e.clientHeight + 2 && e.scrollWidth <= e.clientWidth + 2), 'all of it is in sight')
  for (const width of [420, 780, 1024, 1440]) {
    await page.setViewportSize({ width, height: 900 })
    for (const colorScheme of ['light', 'dark']) {
      await page.emulateMedia({ colorScheme })
      await accessible(page, `parts, ${width} wide, ${colorScheme}`)
    }
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth) <= 0, `it is wider than ${width}`)
  }

  // The objects: the graph opens on what fails, and a hub has a count in place of lines.
  await page.getByRole('button', { name: 'Objects', exact: true }).click()
  await page.getByRole('button', { name: 'Workloads', exact: true }).waitFor()
  assert.match(page.url(), /depth=objects/)
  await page.goto(`${origin}/#stack?in=app/app/shop-01&show=graph&depth=objects`)
  await page.reload()
  const failing = page.locator('.graph-card').filter({ hasText: 'CrashLoopBackOff' }).first()
  await failing.waitFor()
  assert.ok(await uncovered(failing))
  await page.locator('.graph-card').filter({ hasText: '100 need it' }).first().waitFor()
  await failing.click()
  await page.locator('.graph-selected').waitFor()
  assert.ok(await uncovered(page.locator('.graph-selected')), 'the selected card is not under a panel')

  // The worst first in the tree, on demand.
  await page.getByRole('button', { name: 'Tree', exact: true }).click()
  await page.getByRole('button', { name: 'Worst first' }).click()
  await until(() => page.getByRole('row').nth(1).textContent(), /shop-01-api.*Degraded/)
  await page.waitForURL(/sort=health/)
  await clean(page, origin)
}))

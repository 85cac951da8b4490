// Somebody who may read next to nothing: each view says what is missing where it would be.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { accessible, browsing, clean, deed, paged, world } from './lib.mjs'

test('without rights', () => browsing(async (browser) => {
  const page = await paged(browser)
  await page.goto(world.address)
  await page.getByRole('button', { name: /not read/ }).click()
  const why = page.getByRole('dialog')
  await why.getByText(/Forbidden/).first().waitFor()
  assert.match(await why.textContent(), /kubectl auth can-i list/)
  await accessible(page, 'what is not here')
  await page.keyboard.press('Escape')
  // A saved file says the same.
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('dialog').getByRole('button', { name: 'HTML', exact: true }).click()])
  const file = `${world.work}/rights.html`, saved = await page.context().newPage()
  await download.saveAs(file)
  await saved.goto(pathToFileURL(file).href)
  await saved.getByRole('button', { name: /not read/ }).click()
  await saved.getByRole('dialog').getByText(/^Missing permissions: /).waitFor()
  await saved.close()
  await page.keyboard.press('Escape')
  for (const view of ['Stacks', 'Costs', 'Findings', 'Regulation', 'Compose']) {
    await page.getByRole('navigation', { name: 'Views' }).getByRole('button', { name: view, exact: true }).click()
    await page.locator('main').getByRole('heading').first().waitFor()
    await page.waitForFunction(() => !/Loading|\.\.\.$/.test(document.querySelector('main [role=status]')?.textContent ?? ''))
    await accessible(page, `${view}, without rights`)
    // Nothing that was read is no good news, and each view says so.
    const says = await page.locator('main').textContent()
    if (view === 'Findings') assert.match(says, /Nothing was checked/)
    if (['Stacks', 'Costs', 'Findings'].includes(view)) assert.match(says, /could not be read:.*Forbidden/, view)
  }
  // What a server refuses is an answer on the page, and the browser notes it as failed requests.
  page.wrong = page.wrong.filter((w) => !/status of 50[02]/.test(w))
  await clean(page, new URL(world.address).origin)
}))

test('pods, and not their logs', () => browsing(async (browser) => {
  const page = await paged(browser)
  await page.goto(world.blind)
  await page.locator('main a[title^="Deployment.apps/shop/"], main a[title^="Pod/shop/"], main a[title^="ReplicaSet.apps/shop/"]').first().waitFor()
  await page.getByRole('searchbox', { name: 'Find any object' }).fill('pod')
  await page.getByRole('region', { name: 'Found objects' }).getByRole('link', { name: /^Pod\// }).first().click()
  await page.getByText('The last lines of its log').click()
  await page.getByText('cannot read logs in shop: forbidden').waitFor()
  assert.match(await page.locator('#details .command code').filter({ hasText: 'kubectl logs' }).textContent(), /kubectl logs \S+ -n shop -c \S+ --tail=200/)
  await accessible(page, 'logs that may not be read')
  await clean(page, new URL(world.blind).origin)
}))

test('the rights in one namespace, and then none', () => browsing(async (browser) => {
  const page = await paged(browser)
  await page.goto(world.shop)
  const stack = page.locator('main a[title="Deployment.apps/shop/web"]').first()
  await stack.waitFor()
  // The findings of the namespace are those of the command: what is forbidden elsewhere spoils none.
  const check = await deed('check')
  const report = JSON.parse(check.out)
  assert.ok(report.subjects.length > 0, `check -n says nothing: ${check.talk} ${check.out.slice(0, 3000)}`)
  await page.goto(`${new URL(world.shop).origin}/#findings`)
  await page.locator('.finding').first().waitFor()
  const rules = new Set(report.subjects.flatMap((s) => s.results.filter((r) => r.findings.length).map((r) => r.rule)))
  assert.ok(rules.size > 0)
  await page.goto(`${new URL(world.shop).origin}/#stacks`)
  await stack.waitFor()
  await deed('take')
  const began = Date.now()
  await page.getByRole('button', { name: /not read/ }).click()
  await page.getByRole('dialog').getByRole('row', { name: /^pods .*Forbidden/ }).first().waitFor({ timeout: 60_000 })
  console.log(`it shows ${Date.now() - began} ms after the rights were taken`)
  await accessible(page, 'the rights are taken away')
}))

// Somebody who may read next to nothing: each view says what is missing where it would be.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accessible, browsing, clean, paged, world } from './lib.mjs'

test('without rights', () => browsing(async (browser) => {
  const page = await paged(browser)
  await page.goto(world.address)
  await page.getByRole('button', { name: /not read/ }).click()
  const why = page.getByRole('dialog')
  await why.getByText(/Forbidden/).first().waitFor()
  assert.match(await why.textContent(), /kubectl auth can-i list/)
  await accessible(page, 'what is not here')
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

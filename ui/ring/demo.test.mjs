// Every view, on the embedded example: by mouse, by keyboard alone, narrow, dark.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accessible, browsing, clean, paged, picture, until, world } from './lib.mjs'

const origin = new URL(world.address).origin
const views = { Stacks: 'group', Stack: 'treegrid', Costs: 'table', Findings: 'heading', Regulation: 'heading', Compose: 'textbox' }
const go = (page, view) => page.getByRole('navigation', { name: 'Views' }).getByRole('button', { name: view, exact: true }).click()
const row = (page, name) => page.getByRole('row', { name })
const selected = (page) => page.locator('[role=row][aria-selected=true]')
const details = (page) => page.getByRole('complementary', { name: 'Details' })

test("the page", () => browsing(async (browser) => {
  const page = await paged(browser)
  await page.goto(world.address)
  await page.getByRole('group', { name: 'Map of the stacks' }).waitFor()
  assert.ok(!page.url().includes('token'), 'the token is not in the address any more')

  // What is broken needs no click; one click leads to its cause in its stack.
  const broken = page.getByRole('list', { name: 'What is broken' }).getByRole('listitem').filter({ hasText: 'moodle-2' })
  assert.match(await broken.textContent(), /Secret\/moodle-2-smtp is missing.*needed by Deployment\/moodle-2/)
  await broken.getByRole('link', { name: 'Show why' }).click()
  await page.getByRole('treegrid').waitFor()
  assert.match(await selected(page).textContent(), /moodle-2-smtp.*Missing/s)
  await until(() => details(page).textContent(), /Secret\s*moodle-2-smtp/) // its script comes when it is first shown
  assert.match(await details(page).textContent(), /spec\.template\.spec\.containers\[0\]\.env\[5\]\.valueFrom\.secretKeyRef\.name = "moodle-2-smtp"/, 'why the edge is there')
  await picture(page, 'stack')
  assert.ok((await page.getByRole('banner').boundingBox()).height < 50, 'the header has one row')

  // One selection in both: a card in the graph selects the row.
  await page.locator('.graph-card', { hasText: 'Ingress' }).first().click()
  await until(() => selected(page).textContent(), /Ingress/)

  // The text of an option selects it, not the box alone.
  const filters = page.getByRole('search', { name: 'Objects of the stack' })
  await filters.getByRole('button', { name: 'Kind' }).click()
  await filters.locator('.filters-text', { hasText: /^Ingress/ }).click()
  await page.getByRole('list', { name: 'Filters that are set' }).getByText('Ingress').waitFor()
  await page.keyboard.press('Escape')
  await filters.getByRole('button', { name: 'Reset' }).click()

  // The address has all of it: loaded again, it shows the same.
  await page.waitForURL((url) => !url.hash.includes('kind='))
  const address = page.url()
  await page.reload()
  await page.getByRole('treegrid').waitFor()
  assert.equal(page.url(), address)
  assert.match(await selected(page).textContent(), /Ingress/)
  await page.goBack()
  await page.waitForFunction(() => /smtp/.test(document.querySelector('[role=row][aria-selected=true]')?.textContent ?? '') || !document.querySelector('[role=treegrid]'))
  await clean(page, origin)

  // Deep in a tree, with marks beside them, names show 30 characters and their end, and the header is one row.
  for (const width of [1024, 1100, 1280]) {
    await page.setViewportSize({ width, height: 800 })
    await page.goto(`${origin}/#stack?in=Moodle.moodlecontroller.kubeplus/moodle/moodle-1&at=Secret/moodle/cluster1-secret`)
    await page.locator('.tree-object', { hasText: 'pvc-f5ab274a' }).first().waitFor()
    assert.ok((await page.getByRole('banner').boundingBox()).height < 50, `the header at ${width}`)
    for (const media of ['print', 'screen']) {
      await page.emulateMedia({ media })
      assert.ok(await page.getByText('and 2.00 for unclaimed volumes').isVisible(), `the unclaimed volumes at ${width}, ${media}`)
    }
    const least = await page.locator('.tree-object .name').evaluateAll((all) => Math.min(...all.map((e) => {
      const [head, end] = [...e.children].slice(1), cell = e.closest('.tree-object').getBoundingClientRect()
      if (end.getBoundingClientRect().right > cell.right + 1) return 0
      const whole = head.textContent.length, part = Math.floor(whole * Math.min(1, head.clientWidth / head.scrollWidth))
      return part === whole ? 99 : part + end.textContent.length
    })))
    assert.ok(least >= 30, `${least} characters of a name at ${width}`)
  }

  // Every view, light and dark, wide and narrow.
  for (const [width, height] of [[1280, 800], [420, 800]]) {
    await page.setViewportSize({ width, height })
    for (const [view, role] of Object.entries(views)) {
      await go(page, view)
      await page.locator('main').getByRole(role).first().waitFor()
      for (const colorScheme of ['light', 'dark']) {
        await page.emulateMedia({ colorScheme })
        await accessible(page, `${view}, ${width} wide, ${colorScheme}`)
      }
      const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
      assert.ok(beyond <= 0, `${view} is ${beyond} px wider than ${width}`)
      assert.ok(await page.getByRole('navigation', { name: 'Views' }).getByRole('list').evaluate((e) => e.scrollWidth <= e.clientWidth), `every view is in sight at ${width}`)
    }
  }
  await clean(page, origin)
}))

// What happens when an object is deleted, as the impact command tells it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { accessible, browsing, clean, paged, picture, world } from './lib.mjs'

const origin = new URL(world.address).origin
const details = (page) => page.getByRole('complementary', { name: 'Details' })
const panel = (page) => page.getByRole('region', { name: /^If .* is (deleted|drained)$/ })

/** Selects an object, and asks for its impact. */
async function impactOf(page, stack, ref) {
  await page.goto(`${new URL(page.url()).origin}/#stack?in=${stack}&at=${ref}`)
  await details(page).getByRole('heading', { name: ref.split('/').at(-1) }).first().waitFor()
  if (await panel(page).count() === 0) await details(page).getByRole('button', { name: 'Impact' }).click()
  await panel(page).waitFor()
  return panel(page)
}

test('an impact', () => browsing(async (browser) => {
  const page = await paged(browser)
  await page.goto(world.address)
  await page.getByRole('group', { name: 'Map of the stacks' }).waitFor()
  const stack = 'Moodle.moodlecontroller.kubeplus/moodle/moodle-1'

  // The summary first; stacks below it, each object once, and all of them lead somewhere.
  let told = await impactOf(page, stack, 'Secret/moodle/cluster1-secret')
  await told.getByText('2 stacks break, 3 may break').waitFor()
  let text = await told.textContent()
  assert.match(text, /Moodle\/moodle-2 ✖ breaks: MysqlCluster\/cluster1/)
  assert.match(text, /Deployment\/wordpress ▲ may break: MysqlCluster\/cluster1/)
  assert.match(text, /MysqlCluster\/cluster1 ✖ breaks, with 3 objects below it: it cannot work without\s*spec\.secretName = "cluster1-secret"/)
  assert.match(text, /Not looked at: \d+ kinds/)
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme })
    await accessible(page, `an impact, ${colorScheme}`)
  }
  // The graph marks the same: glyph and text, what is inferred, and the address has it.
  const card = (name) => page.getByRole('treeitem', { name })
  await card(/cluster1-secret .*by the impact: ✖ deleted/).waitFor()
  await card(/^MysqlCluster .* by the impact: ✖ breaks$/).waitFor()
  await page.locator('.graph-impact', { hasText: '✖ breaks' }).first().waitFor()
  assert.match(decodeURIComponent(page.url()), /&impact=Secret\/moodle\/cluster1-secret/)
  if (world.update) {
    await page.emulateMedia({ colorScheme: 'light' })
    await page.setViewportSize({ width: 1440, height: 900 })
    await page.getByRole('button', { name: 'Graph', exact: true }).click()
    await page.getByRole('button', { name: 'Fit', exact: true }).click()
    await page.waitForTimeout(300)
    await picture(page, 'impact')
    await page.getByRole('button', { name: 'Both', exact: true }).click()
    await page.setViewportSize({ width: 1280, height: 800 })
  }
  // By the keyboard: one affected object after the other.
  const next = page.getByRole('button', { name: 'Next affected' })
  await next.focus()
  const chosen = new Set()
  for (let i = 0; i < 3; i++) {
    const before = page.locator('[role=row][aria-selected=true]'), text = await before.textContent()
    await page.keyboard.press('Enter')
    await page.waitForFunction((text) => { const row = document.querySelector('[role=row][aria-selected=true]'); return row && row.textContent !== text }, text)
    chosen.add(await before.textContent())
  }
  assert.equal(chosen.size, 3)
  await panel(page).getByText('2 stacks break, 3 may break').waitFor()
  await told.getByRole('link', { name: 'Deployment/wordpress', exact: true }).first().click()
  await page.getByRole('treegrid').waitFor()
  assert.match(decodeURIComponent(page.url()), /stack\?in=Deployment\.apps\/moodle\/wordpress&at=MysqlCluster.*&impact=Secret/)
  await page.reload()
  await card(/^Deployment .*by the impact: ▲ may break on restart \(inferred\)/).first().waitFor()
  for (const [width, tab] of [[420, 'Graph'], [780, 'Graph'], [1024, 'Both'], [1440, 'Both']]) {
    await page.setViewportSize({ width, height: 900 })
    await page.getByRole('button', { name: tab, exact: true }).click()
    await page.getByText(/If Secret\/cluster1-secret is deleted: 2 stacks break, 3 may break\. \d+ objects of this stack marked/).waitFor()
    for (const colorScheme of ['light', 'dark']) {
      await page.emulateMedia({ colorScheme })
      await accessible(page, `a marked graph, ${width} wide, ${colorScheme}`)
    }
  }
  await page.getByRole('button', { name: 'Close the impact' }).click()
  await page.locator('.graph-impact').first().waitFor({ state: 'detached' })

  // Data that goes with it is in front.
  told = await impactOf(page, stack, 'PersistentVolumeClaim/moodle/wordpress-content')
  await told.getByText(/Deleted along: ✖ 1 object, once their finalizers are removed/).waitFor()
  assert.match(await told.textContent(), /PersistentVolume\/pvc-34bf1710\S* ✖ its reclaim policy is Delete: the data is deleted/)

  // Children stay where they are orphaned.
  await page.getByRole('button', { name: 'Close the impact' }).click()
  told = await impactOf(page, stack, stack)
  await told.getByText(/Deleted along/).waitFor()
  await told.getByLabel('Cascade').selectOption('orphan')
  await told.getByText(/^Stays: \d+ objects/).waitFor()
  assert.match(await told.textContent(), /it is orphaned, by --cascade/)

  // What is not there is not deleted, and a Node is drained.
  await page.goto(`${origin}/#stack?in=Moodle.moodlecontroller.kubeplus/moodle/moodle-2&at=Secret/moodle/moodle-2-smtp`)
  await details(page).getByText('missing: it is referenced').waitFor()
  assert.equal(await panel(page).count(), 0, 'another address has no impact')
  assert.equal(await details(page).getByRole('button', { name: 'Impact' }).count(), 0)
  told = await impactOf(page, stack, 'Node/worker-a')
  assert.match(await told.textContent(), /If Node\/worker-a is drained.*kubectl sysop impact Node\/worker-a --from demo/)
  await clean(page, origin)
}))

test('a page of one namespace says that it looked at no other', () => browsing(async (browser) => {
  const page = await paged(browser)
  await page.goto(world.namespace)
  await page.getByRole('group', { name: 'Map of the stacks' }).waitFor()
  const told = await impactOf(page, 'Moodle.moodlecontroller.kubeplus/moodle/moodle-1', 'Secret/moodle/cluster1-secret')
  await told.getByText('2 stacks break, 3 may break').waitFor()
  assert.match(await told.textContent(), /Namespace moodle was looked at, and what reaches into it\. This looks at all:kubectl sysop impact Secret\/moodle\/cluster1-secret -A --from demo/)
  await accessible(page, 'an impact in one namespace')
  assert.equal(await page.locator('.head-source').getAttribute('title'), 'snapshot demo · namespace moodle', 'the source may be cut off, its title not')
  await clean(page, new URL(world.namespace).origin)
}))

test('a file says which command tells it', () => browsing(async (browser) => {
  const url = pathToFileURL(world.file).href, page = await paged(browser)
  await page.goto(url + '#stack?in=Moodle.moodlecontroller.kubeplus/moodle/moodle-1&at=Secret/moodle/cluster1-secret')
  await details(page).getByRole('button', { name: 'Impact' }).click()
  await panel(page).getByText('A saved page cannot read the cluster').waitFor()
  assert.match(await panel(page).textContent(), /kubectl sysop impact Secret\/moodle\/cluster1-secret -A --from demo/)
  await accessible(page, 'an impact in a file')
  await clean(page, url)
}))

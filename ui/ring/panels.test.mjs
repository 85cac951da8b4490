// The panels beside map, tree and graph: regulation over time, costs and shares, findings by rule, details.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accessible, browsing, clean, paged, picture, world } from './lib.mjs'

const origin = new URL(world.address).origin
const open = async (page, hash) => { await page.evaluate((h) => { location.hash = h }, hash) }
const go = (page, view) => page.getByRole('navigation', { name: 'Views' }).getByRole('button', { name: view, exact: true }).click()
const details = (page) => page.getByRole('complementary', { name: 'Details' })
const moodle = (n) => `Moodle.moodlecontroller.kubeplus/moodle/moodle-${n}`

/** Every width and both themes: nothing wider than the page, nothing that axe finds. */
async function everywhere(page, what) {
  for (const width of [420, 780, 1024, 1440]) {
    await page.setViewportSize({ width, height: 900 })
    for (const colorScheme of ['light', 'dark']) {
      await page.emulateMedia({ colorScheme })
      await accessible(page, `${what}, ${width} wide, ${colorScheme}`)
    }
    const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    assert.ok(beyond <= 0, `${what} is ${beyond} px wider than ${width}`)
  }
  await page.emulateMedia({ colorScheme: 'light' })
}

/** One sentence, then who is held from which step until which, by which signal, and why. */
async function regulation(page) {
  await go(page, 'Regulation')
  await page.getByText('If db fails, 4 apps get Stop in 2 steps, and Recover in the reverse order.').waitFor()
  const row = (name) => page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: new RegExp(`^${name} `) }) }).first()
  assert.match(await row('moodle-1').textContent(), /No traffic, its Service selects no pods.*from step 1 until step 4: held, no traffic.*needs db said by the specspec\.mySQLServiceName = "cluster1-mysql-master"Before moodle-2, which it needs/)
  assert.match(await row('wordpress').textContent(), /CronJobs suspended: wordpress-backupScaled to 0: wordpress.*from step 2 until step 3: held, 0 pods.*needs db inferred.*After importer, which needs it/)
  assert.match(await row('importer').textContent(), /declared.*it reads the tables of WordPress.*Degraded already now/)
  const main = await page.locator('main').textContent()
  assert.match(main, /At most 3 are held at a time, and 4 would be/)
  assert.match(main, /Nobody is held\. The plan has 1 step:Stop moodle-1: moodle-2 is Degraded/)
  assert.match(main, /kubectl sysop regulate neighbours -f demo --from demo/)
  // A line from each app to the one that it needs, left of their icons, by how that is known.
  const lines = page.locator('.course-needs > .line-mark'), middle = (name) => row(name).locator('.course-app > .icon').evaluate((e) => { const r = e.getBoundingClientRect(), at = e.closest('.scroll').getBoundingClientRect(); return r.top + r.height / 2 - at.top })
  assert.deepEqual([await lines.count(), await page.locator('.course-needs .dashed').count(), await page.locator('.course-needs .dotted').count()], [4, 1, 1])
  const ends = await lines.evaluateAll((all) => all.map((e) => [e.getPointAtLength(0).y, e.getPointAtLength(e.getTotalLength()).y])), db = await middle('db')
  for (const [i, name] of ['moodle-1', 'importer', 'moodle-2', 'wordpress'].entries()) {
    assert.ok(Math.abs(ends[i][0] - await middle(name)) < 1.5, `the line of ${name} begins at ${ends[i][0]}`)
    assert.ok(Math.abs(ends[i][1] - db) < 10, `the line of ${name} ends at ${ends[i][1]}`)
  }
  assert.match(await row('db').textContent(), /4 apps are held because of it\. 4 need it: 2 by their spec, 1 inferred, 1 declared\./)
  await picture(page, 'regulation')
  await page.getByRole('button', { name: 'is upgraded' }).click()
  await page.getByText('If db is upgraded, wordpress gets drain, and Recover afterwards.').waitFor()
  await page.getByRole('button', { name: /^moodle-1 / }).click()
  await page.getByText('If moodle-1 is upgraded, nobody is held: no rule sends a signal then.').waitFor()
  await page.goBack()
  await page.getByText('If db is upgraded, wordpress gets drain').waitFor()
  await everywhere(page, 'regulation')
}

/** Totals are the same by every grouping; no cell is blank; two stacks side by side. */
async function costs(page) {
  const totals = []
  for (const by of ['', '?by=namespace', '?by=label+app']) {
    await open(page, 'costs' + by)
    const table = page.getByRole('region', { name: 'Table of costs' })
    await table.getByRole('columnheader', { name: by ? by.slice(4).replace('label+', '') : 'Stack' }).waitFor()
    totals.push((await table.locator('tfoot td').allTextContents()).join(' '))
    const blank = await table.locator('tbody tr').evaluateAll((rows) => rows.flatMap((r) => [...r.cells].filter((c, i) => i !== 2 && !c.textContent.trim())).length)
    assert.equal(blank, 0, `blank cells by ${by}`)
  }
  assert.deepEqual([...new Set(totals)], ['49.96   36.92 8.04 5.00'], 'totals by stack, namespace and label')
  await open(page, 'costs')
  const side = page.getByRole('region', { name: 'Two stacks side by side' })
  await side.waitFor()
  const row = (name) => side.getByRole('row').filter({ has: page.getByRole('rowheader', { name, exact: true }) })
  assert.equal(await row('Cost, USD').textContent(), 'Cost, USD20.5613.64+6.92')
  await side.getByRole('combobox').nth(1).selectOption({ label: 'Deployment/wordpress' })
  await page.getByText(/Both need MysqlCluster\/cluster1 of USD 18\.9\d: Moodle\/moodle-1 pays 1\/3, Deployment\/wordpress 1\/3\./).waitFor()
  await everywhere(page, 'costs')
}

/** What is shared says its share and with whom; nothing mixes the usage of all with the cost of a share. */
async function shares(page) {
  await page.setViewportSize({ width: 1440, height: 900 })
  await open(page, `stack?in=${moodle(1)}&at=MysqlCluster.mysql.presslabs.org/moodle/cluster1`)
  await details(page).getByText(/1\/3 of 18\.9\d/).waitFor()
  const text = await details(page).textContent()
  assert.match(text, /1\/3 of 18\.9\d, with moodle-2 and wordpress\./)
  assert.match(text, /Usage of all of it2 pods below.*this stack paysUSD 6\.31of all of it, which several stacks shareUSD 18\.9\d/)
}

/** Each rule once, with its objects and the remedy; a warning of what five stacks need is one. */
async function findings(page) {
  await go(page, 'Findings')
  const rule = page.getByRole('group').filter({ hasText: 'Stored data is backed up' })
  await rule.waitFor()
  assert.equal(await rule.count(), 1)
  assert.match(await rule.textContent(), /3 objects.*Remedy: Set up backups/)
  assert.equal(await rule.getByRole('listitem').filter({ hasText: 'StatefulSet/cluster1-mysql' }).count(), 1)
  assert.match(await rule.getByRole('listitem').filter({ hasText: 'StatefulSet/cluster1-mysql' }).textContent(), /Deployment\/wordpress, .*Moodle\/moodle-1, Moodle\/moodle-2/)
  await page.getByRole('searchbox', { name: 'Search findings' }).fill('liveness')
  await page.getByRole('status').filter({ hasText: 'of 1 rule' }).waitFor()
  await page.getByRole('searchbox', { name: 'Search findings' }).fill('')
  await everywhere(page, 'findings')
}

/** What was broken once. */
async function mended(page) {
  await page.setViewportSize({ width: 1440, height: 900 })
  // One stack, one number of objects on the screen.
  await open(page, 'stack?in=Deployment.apps/moodle/wordpress-importer')
  const trail = page.locator('.trail-says'), shown = page.getByRole('status').filter({ hasText: /objects/ })
  await trail.filter({ hasText: '5 objects' }).waitFor()
  assert.equal(await shown.first().textContent(), '5 objects, and 35 of what it needs')
  // An object that is no stack is found in its stack, and only what is gone is.
  await open(page, 'stack?in=MysqlCluster.mysql.presslabs.org/moodle/cluster1')
  await details(page).getByRole('heading', { name: /MysqlCluster cluster1/ }).waitFor()
  assert.equal(await page.locator('.gone').count(), 0)
  await open(page, 'stack?in=Deployment.apps/moodle/nothing')
  await page.getByText('Deployment.apps/moodle/nothing is gone').waitFor()
  // Details that were closed open for another object of the address.
  await open(page, `stack?in=${moodle(2)}&at=${moodle(2)}`)
  await page.getByRole('button', { name: 'Close the details' }).click()
  await details(page).waitFor({ state: 'detached' })
  await open(page, `stack?in=${moodle(2)}&at=Secret/moodle/moodle-2-smtp`)
  await details(page).getByRole('heading', { name: /Secret moodle-2-smtp/ }).waitFor()
  // The command of what is missing is that of who needs it.
  assert.match((await details(page).locator('.command code').allTextContents()).join('\n'), /kubectl sysop graph Pod\/moodle-2-\S+ -n moodle --from demo/)
  // Enter on a card of the graph selects it, and leads to its details.
  await page.locator('.graph-card', { hasText: 'Ingress' }).first().focus()
  await page.keyboard.press('Enter')
  await details(page).getByRole('heading', { name: /Ingress moodle-2/ }).waitFor()
}

test('the panels', () => browsing(async (browser) => {
  const page = await paged(browser, { viewport: { width: 1440, height: 900 } })
  await page.goto(world.address)
  await page.getByRole('group', { name: 'Map of the stacks' }).waitFor()
  for (const part of [regulation, costs, shares, findings, mended]) {
    await part(page)
    await clean(page, origin)
  }
}))

test('without what is inferred the rows are those of metrics', () => browsing(async (browser) => {
  const page = await paged(browser)
  await page.goto(world.declared)
  await page.locator('main h2').first().waitFor()
  await page.goto(`${new URL(world.declared).origin}/#costs`)
  await page.locator('table.costs').first().waitFor()
  const shown = await page.locator('table.costs').first().locator('tbody tr').evaluateAll((rows) => rows.map((r) => [r.cells[0].innerText.split(/\s/)[0], [...r.cells].map((c) => c.innerText.trim()).find((t) => /^[\d,]+\.\d\d$/.test(t))]))
  const said = world.metrics.split('\n').filter((line) => /^[A-Z]\w+\/|^unclaimed/.test(line)).map((line) => [line.split(/\s/)[0], line.split(/\s+/).filter((t) => /^[\d,]+\.\d\d$/.test(t)).pop()])
  assert.equal(said.length, 5, world.metrics)
  assert.deepEqual(shown.sort(), said.sort())
}))

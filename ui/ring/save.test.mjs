// What is shown can be taken along: as a page, a picture, a table, on paper; and by a command.
import assert from 'node:assert/strict'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { accessible, browsing, clean, deed, paged, world } from './lib.mjs'

const origin = new URL(world.address).origin
const dialog = (page) => page.getByRole('dialog', { name: 'Save' })
const pages = (pdf) => pdf.toString('latin1').match(/\/Type \/Page\b(?!s)/g).length

/** Opens the dialog, and downloads a format. */
async function save(page, format) {
  if (!await dialog(page).isVisible()) await page.getByRole('button', { name: 'Save', exact: true }).click()
  const [download] = await Promise.all([page.waitForEvent('download'), dialog(page).getByRole('button', { name: format, exact: true }).click()])
  const file = `${world.work}/${download.suggestedFilename()}`
  await download.saveAs(file)
  return file
}

test('the page saves what is shown', () => browsing(async (browser) => {
  const page = await paged(browser)
  await page.goto(world.address)
  await page.getByRole('group', { name: 'Map of the stacks' }).waitFor()

  // The map: a drawing that the command makes as well, a picture, a table.
  const svg = await save(page, 'SVG')
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme })
    await accessible(page, `Save, ${colorScheme}`)
  }
  const line = await dialog(page).getByRole('listitem').filter({ hasText: 'SVG' }).locator('code').textContent()
  assert.equal(line, 'kubectl sysop stacks -A --from demo -o svg > stacks.svg')
  const ran = await deed('run', line)
  assert.equal(ran.code, 0, ran.talk)
  const cards = (text) => [...text.matchAll(/<text class="name"[^>]*>([^<]*)</g)].map((m) => m[1])
  assert.deepEqual(cards(readFileSync(svg, 'utf8')), cards(ran.out))
  assert.ok(cards(ran.out).includes('cluster1'))
  assert.equal(readFileSync(await save(page, 'PNG')).subarray(1, 4).toString(), 'PNG')
  const csv = readFileSync(await save(page, 'CSV'), 'utf8')
  assert.match(csv, /^stack,namespace,health,cause,objects,pods,healthy pods,cost\r\n/)
  assert.match(csv, /moodle-2,moodle,Degraded,NotFound Secret\/moodle-2-smtp,.*13\.64\r\n/)
  const table = await deed('run', await dialog(page).getByRole('listitem').filter({ hasText: 'CSV' }).locator('code').textContent())
  assert.equal(table.code, 0, table.talk)
  await dialog(page).getByRole('button', { name: 'Close' }).click()

  // A stack with a selection and a filter: the file opens at the same, with the same cost.
  const at = 'stack?in=Moodle.moodlecontroller.kubeplus/moodle/moodle-2&at=Secret/moodle/moodle-2-smtp&q=smtp'
  await page.goto(`${origin}/#${at}`)
  await page.getByRole('treegrid').waitFor()
  const html = await save(page, 'HTML'), file = await paged(browser)
  await file.goto(pathToFileURL(html).href)
  await file.getByRole('row', { name: /moodle-2-smtp.*Missing/ }).waitFor()
  assert.match(await file.locator('.trail').textContent(), /Moodle\/moodle-2.*13\.64/)
  assert.equal(await file.getByRole('searchbox', { name: 'Search objects' }).inputValue(), 'smtp')
  await clean(file, pathToFileURL(html).href)
  assert.ok(statSync(html).size < 120_000)
  // The command draws the same picture with the same cost; the file of the stack by itself says what its number means.
  const drawing = readFileSync(await save(page, 'SVG'), 'utf8'), drawn = await dialog(page).getByRole('listitem').filter({ hasText: 'SVG' }).locator('code').textContent()
  assert.equal(drawn, 'kubectl sysop graph Moodle.moodlecontroller.kubeplus/moodle/moodle-2 -A --from demo -o svg > moodle-2.svg')
  const costs = (text) => [...text.matchAll(/\d+\.\d\d USD[^<.]*/g)].map((m) => m[0])
  assert.equal(costs(drawing)[0], '13.64 USD')
  assert.deepEqual(costs((await deed('run', drawn)).out), costs(drawing))
  const alone = await deed('run', drawn.replace(' -A ', ' '))
  assert.equal(costs(alone.out)[0], '26.25 USD alone, for all that it needs')
  const shown = await deed('run', drawn.replace(' -A ', ' ').replaceAll('svg', 'html')), byItself = `${world.work}/alone.html`
  writeFileSync(byItself, shown.out)
  await file.goto(pathToFileURL(byItself).href)
  await file.locator('.trail-says', { hasText: 'USD 26.25 alone, for all that it needs' }).waitFor()
  await dialog(page).getByRole('button', { name: 'Close' }).click()
  // An impact that is drawn is in the picture and in the file; no command draws it.
  await page.goto(`${origin}/#stack?in=Moodle.moodlecontroller.kubeplus/moodle/moodle-1&at=Secret/moodle/cluster1-secret&impact=Secret/moodle/cluster1-secret`)
  await page.locator('.graph-impact', { hasText: '✖ breaks' }).first().waitFor()
  const marked = readFileSync(await save(page, 'SVG'), 'utf8')
  for (const words of ['✖ deleted', '✖ breaks', '✖ breaks on restart']) assert.ok(marked.includes(`>${words}</text>`), words)
  assert.equal(await dialog(page).locator('code').count(), 0)
  const affected = await save(page, 'HTML')
  file.asked.length = 0
  await file.goto(pathToFileURL(affected).href)
  await file.getByRole('treeitem', { name: /^MysqlCluster .* by the impact: ✖ breaks$/ }).waitFor()
  await file.getByRole('region', { name: 'If Secret/cluster1-secret is deleted' }).getByText('2 stacks break, 3 may break').waitFor()
  await file.getByText(/2 stacks break, 3 may break\. \d+ objects of this stack marked/).waitFor()
  await accessible(file, 'a file of an impact')
  await clean(file, pathToFileURL(affected).href)
  await dialog(page).getByRole('button', { name: 'Close' }).click()
  // An address of what is not there says so, and only then.
  assert.equal(await page.getByText('is gone').count(), 0)
  await page.goto(`${origin}/#stack?in=Moodle.moodlecontroller.kubeplus/moodle/moodle-9`)
  await page.getByText('Moodle.moodlecontroller.kubeplus/moodle/moodle-9 is gone').waitFor()

  // Every command that a view shows beside its formats works.
  for (const view of ['stacks', 'stacks?as=table', 'stacks?ns=moodle', 'stack?in=Moodle.moodlecontroller.kubeplus/moodle/moodle-2', 'costs', 'costs?by=namespace', 'findings', 'regulation']) {
    await page.goto(`${origin}/#${view}`)
    await page.reload()
    await page.locator('main h2, main [role=treegrid]').first().waitFor()
    if (view === 'regulation') await page.locator('main table').first().waitFor()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await dialog(page).getByRole('listitem').first().waitFor()
    const formats = await dialog(page).getByRole('listitem').locator('> button').allTextContents(), wanted = /^(findings|regulation)/.test(view) ? ['CSV'] : view.startsWith('costs') ? ['HTML', 'CSV'] : ['HTML', 'SVG', 'PNG', 'CSV']
    assert.deepEqual(formats, wanted, view)
    for (const command of await dialog(page).locator('code').allTextContents()) {
      const { code, out, talk } = await deed('run', command)
      assert.ok(code === 0 && out.length > 100 && / --from demo /.test(command), `${command}: ${code} ${talk}`)
    }
    if (view === 'findings') {
      const rows = readFileSync(await save(page, 'CSV'), 'utf8').trim().split('\r\n'), { out } = await deed('run', 'kubectl sysop check -A --all --from demo -o json')
      assert.match(rows[0], /^severity,rule,object,stacks,field,value,message,remedy$/)
      assert.equal(rows.length - 1, new Set(JSON.parse(out).subjects.flatMap((s) => s.results.flatMap((r) => r.findings.map((f) => JSON.stringify([r.rule, f.object, f.field, f.message]))))).size)
    }
    await dialog(page).getByRole('button', { name: 'Close' }).click()
  }

  // What is composed is printed in whole.
  await page.goto(`${origin}/#compose`)
  const long = ['apiVersion: sysop.dev/v1alpha1', 'kind: System', 'metadata: {name: long}', 'spec:', '  apps:', ...Array.from({ length: 60 }, (_, i) => `  - {name: app-${i}, roots: [deployment/app-${i}]}`), '  dependencies:', ...Array.from({ length: 5 }, (_, i) => `  - {from: app-${i}, to: app-${i + 1}}`)].join('\n')
  await page.getByRole('textbox', { name: 'Manifest' }).fill(long)
  await page.locator('#compose-problems li').first().waitFor()

  // On paper nothing is cut off: no part scrolls, all rows are there, and the graph with its lines.
  for (const [view, least] of [['findings', 5], ['stack?in=Moodle.moodlecontroller.kubeplus/moodle/moodle-2', 2], ['stacks', 1], ['stacks?as=table', 1], ['costs', 1], ['regulation', 1], ['compose', 2]]) {
    await page.goto(`${origin}/#${view}`)
    await page.reload()
    await page.locator('main h2, main [role=treegrid]').first().waitFor()
    if (view === 'findings') await page.locator('.finding').first().waitFor({ state: 'attached' })
    if (view.includes('?in')) await page.locator('.graph-card').first().waitFor()
    const n = pages(await page.pdf({ format: 'A4' }))
    assert.ok(n >= least, `${view} has ${n} pages`)
    await page.setViewportSize({ width: 718, height: 1046 })
    await page.emulateMedia({ media: 'print' })
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')))
    await page.waitForFunction(() => !document.querySelector('main details:not([open])'))
    const cut = await page.evaluate(() => [...document.querySelectorAll('main, main section, main textarea, main pre, .pane, .tree, .map-scroll, .map-main, .parts, .graph-pane, .scroll')]
      .filter((e) => e.checkVisibility() && getComputedStyle(e).overflow !== 'visible' && (e.scrollHeight > e.clientHeight + 2 || e.scrollWidth > e.clientWidth + 2)).map((e) => e.className || e.localName))
    assert.deepEqual(cut, [], `${view}: parts that are cut off`)
    const wide = await page.evaluate(() => document.documentElement.scrollWidth)
    assert.ok(wide <= 720, `${view} is ${wide} px wide`)
    if (view === 'compose') assert.equal(await page.locator('.compose-print').innerText(), long)
    if (view.includes('?in')) {
      assert.equal(await page.locator('.tree-body .tree-row').count(), +await page.getByRole('treegrid').getAttribute('aria-rowcount') - 1)
      assert.ok(await page.locator('canvas').evaluate((c) => { const { data } = c.getContext('2d').getImageData(0, 0, c.width, c.height); let drawn = 0; for (let i = 3; i < data.length; i += 4) drawn += data[i] > 0; return c.height > 300 && drawn > 5000 }), 'the graph is drawn')
    }
    await page.evaluate(() => dispatchEvent(new Event('afterprint')))
    await page.emulateMedia({ media: null })
    await page.setViewportSize({ width: 1280, height: 800 })
  }
  await clean(page, origin)
}))

test('the map is saved as it is shown', () => browsing(async (browser) => {
  const page = await paged(browser)
  await page.goto(world.apps)
  await page.getByRole('group', { name: 'Map of the stacks' }).waitFor()
  const regions = (text) => [...text.matchAll(/<rect class="region"[^>]*><text[^>]*>([^<]*) </g)].map((m) => m[1])
  for (const [query, flags, shown] of [['', '', ['platform', 'team-00', 'team-01']], ['?group=app&tone=cost', ' --by app --tone cost', ['blog', 'store', 'Of no System app']], ['?ns=team-01', null, ['platform', 'team-01']], ['?label=blog&group=app', null, ['blog', 'Of no System app']]]) {
    await page.goto(`${new URL(world.apps).origin}/#stacks${query}`)
    await page.reload()
    await page.getByRole('group', { name: 'Map of the stacks' }).waitFor()
    const region = page.locator('.map-chips .region, .map-sheet .region')
    const svg = readFileSync(await save(page, 'SVG'), 'utf8'), code = dialog(page).getByRole('listitem').filter({ hasText: 'SVG' }).locator('code')
    assert.deepEqual(regions(svg).filter((r) => shown.includes(r)), shown, query)
    if (await region.count()) assert.deepEqual((await region.evaluateAll((all) => all.map((e) => e.ariaLabel))).filter((r) => !regions(svg).includes(r)), [])
    assert.equal(/darker: costs more, up to USD \d/.test(svg), /tone/.test(query))
    assert.equal(readFileSync(await save(page, 'PNG')).subarray(1, 4).toString(), 'PNG')
    // What a part costs is what all stacks pay for it, also where some of them are shown.
    assert.equal(svg.match(/<desc[^>]*>Stacks: (\d+)\./)[1], await page.locator('.map-chips .stack-chip, .map-sheet .card:not(.part)').count() + '', query)
    assert.match(svg, /session-cache<\/text><text class="strong" x="244" y="21" text-anchor="end">5\.\d\d</, query)
    if (flags === null) assert.equal(await code.count(), 0, `no command draws ${query}`)
    else {
      const line = await code.textContent(), { out, code: exit, talk } = await deed('run', line)
      assert.ok(line.includes(flags) && exit === 0, line + talk)
      assert.equal(out, svg, `${line} makes what was saved`)
    }
    await dialog(page).getByRole('button', { name: 'Close' }).click()
  }
  await clean(page, new URL(world.apps).origin)
}))

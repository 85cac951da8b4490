// How much is shown of long names: at least 30 characters, and the end, in every view at every width.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { browsing, clean, paged, world } from './lib.mjs'

const app = (n) => `Deployment.apps/${world.prefix}team-00/${world.prefix}app-00${n}`
const details = `stack?in=${app(0)}&at=Pod/${world.prefix}team-00/${world.prefix}app-000-abc-0`
const views = {
  map: 'stacks', table: 'stacks?as=table', tree: details + '&show=tree', both: details, graph: details + '&show=graph', costs: 'costs', findings: 'findings',
  impact: `stack?in=${app(0)}&at=${app(0)}&impact=Service/platform/${world.prefix}orders-db`,
}

/** The names in sight of which fewer than 30 characters are shown, or not the end. */
const short = (page) => page.evaluate((prefix) => {
  const start = prefix.slice(0, 8), full = new RegExp(start + '[\\w…-]*[\\w]'), bad = []
  const clips = (e) => { const out = []; for (; e; e = e.parentElement) if (getComputedStyle(e).overflowX !== 'visible') out.push(e.getBoundingClientRect()); return out }
  const inside = (r, c) => r.left >= c.left - 1 && r.right <= c.right + 1 && r.top >= c.top - 2 && r.bottom <= c.bottom + 2
  const walker = document.createTreeWalker(document.querySelector('#page'), NodeFilter.SHOW_TEXT), seen = new Set()
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (!node.data.includes(start) || node.parentElement.closest('.unseen, code, .graph-far, svg, option, select, [hidden], .tree-message, .graph-word')) continue
    // Both halves of a name are below one element.
    let holder = node.parentElement
    if (holder.parentElement.matches('.name, .graph-name')) holder = holder.parentElement
    if (seen.has(holder) || !holder.checkVisibility({ opacityProperty: true })) continue
    seen.add(holder)
    const chars = [], range = document.createRange(), inner = document.createTreeWalker(holder, NodeFilter.SHOW_TEXT)
    for (let t = inner.nextNode(); t; t = inner.nextNode()) {
      const boxes = clips(t.parentElement)
      for (let i = 0; i < t.data.length; i++) {
        range.setStart(t, i)
        range.setEnd(t, i + 1)
        const r = range.getBoundingClientRect()
        chars.push({ c: t.data[i], shown: r.width > 0 && boxes.every((b) => inside(r, b)) })
      }
    }
    const text = chars.map((c) => c.c).join(''), at = text.search(full), name = text.match(full)?.[0] ?? ''
    const part = chars.slice(at, at + name.length), n = part.filter((c) => c.shown).length
    // What is scrolled out of sight counts where it comes into sight.
    const line = holder.getBoundingClientRect()
    if (clips(holder.parentElement).some((b) => line.bottom > b.bottom + 1 || line.top < b.top - 1 || line.right > b.right + 1 && getComputedStyle(holder).whiteSpace === 'normal' || line.left < b.left - 1)) continue
    if (n < (holder.closest('.card-cause') ? 15 : 30) || !part.slice(-3).every((c) => c.shown)) bad.push(`${n} of ${name.length}: ${part.map((c) => c.shown ? c.c : '_').join('')} in ${holder.tagName.toLowerCase()}.${holder.className} of ${holder.closest('[class]')?.parentElement?.className}`)
  }
  return { bad, seen: seen.size }
}, world.prefix)

/** Texts that are written from right to left, and share a line with others that they would turn around. */
const turning = (page) => page.evaluate(() => {
  const bad = [], walker = document.createTreeWalker(document.querySelector('#page'), NodeFilter.SHOW_TEXT)
  let seen = 0
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (!/[\u0590-\u05ff]/.test(node.data) || node.parentElement.closest('textarea, option, pre, svg, .unseen')) continue
    seen++
    let e = node.parentElement, alone = false
    for (; e && !alone; e = e.parentElement) {
      const { display, unicodeBidi } = getComputedStyle(e)
      alone = /isolate|plaintext/.test(unicodeBidi) && display === 'inline' || e.textContent.trim() === node.data.trim() && !/^inline/.test(display)
      if (!/^(inline|contents)/.test(display)) break
    }
    if (!alone) bad.push(`${node.parentElement.localName}.${node.parentElement.className}: ${node.data}`)
  }
  return { bad, seen }
})

test('long names', () => browsing(async (browser) => {
  const page = await paged(browser)
  await page.goto(world.address)
  await page.getByRole('group', { name: 'Map of the stacks' }).waitFor()
  const found = []
  for (const width of [420, 780, 1024, 1280, 1440]) {
    await page.setViewportSize({ width, height: 1000 })
    if (width > 1000) assert.ok((await page.getByRole('banner').boundingBox()).height < 50, `the header has one row at ${width}`)
    for (const [view, address] of Object.entries(views)) {
      await page.evaluate((hash) => { location.hash = hash }, address)
      await page.locator('main').getByText(world.prefix.slice(0, 8)).first().waitFor({ state: 'attached' })
      await page.waitForFunction(() => !document.querySelector('.waits .faint'))
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
      const tabs = width === 420 && address.startsWith('stack?') ? ['Tree', 'Graph', 'Details'] : ['']
      for (const tab of tabs) {
        if (tab) await page.getByRole('group', { name: 'Show' }).getByRole('button', { name: tab }).click()
        await page.waitForTimeout(100)
        const { bad, seen } = await short(page)
        assert.ok(seen > 0, `${view} at ${width}: no name`)
        for (const b of new Set(bad)) found.push(`${view} ${tab} at ${width}: ${b}`)
      }
    }
    await page.getByRole('searchbox', { name: 'Find any object' }).fill('app-000')
    await page.getByRole('region', { name: 'Found objects' }).getByRole('link').first().waitFor()
    for (const b of (await short(page)).bad) found.push(`search at ${width}: ${b}`)
    await page.getByRole('searchbox', { name: 'Find any object' }).fill('')
    await page.keyboard.press('Escape')
  }
  // A status that is written from right to left turns nothing around it.
  for (const address of ['stacks', 'stacks?as=table', `stack?in=${app(2)}&at=Pod/platform/${world.prefix}events-abc-0`, `stack?in=${app(2)}&at=Pod/platform/${world.prefix}events-abc-0&show=graph&depth=objects`, 'findings']) {
    await page.evaluate((hash) => { location.hash = hash }, address)
    await page.locator('main').getByText(world.prefix.slice(0, 8)).first().waitFor({ state: 'attached' })
    await page.waitForFunction(() => !document.querySelector('.waits .faint'))
    const { bad, seen } = await turning(page)
    assert.ok(seen || !address.startsWith('stack?'), `no such text at ${address}`)
    for (const b of new Set(bad)) found.push(`${address}: ${b}`)
  }
  assert.equal(found.length, 0, found.join('\n'))
  await clean(page, new URL(world.address).origin)
}))

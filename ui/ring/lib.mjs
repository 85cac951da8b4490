// What every scenario needs: a browser that notes what a page asks for, says and refuses.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { chromium } from 'playwright-core'

/** What the Go test says: addresses, files, what can be done to the world. */
export const world = JSON.parse(process.env.SYSOP_WORLD)

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const flags = [
  '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync',
  '--font-render-hinting=none', '--force-device-scale-factor=1',
]

/** Runs what is to be done in a browser of its own, which ends with it, whatever happens. */
export async function browsing(todo) {
  const browser = await chromium.launch({ executablePath: world.chromium, args: flags })
  try {
    await todo(browser)
  } finally {
    await browser.close()
  }
}

/**
 * A page, with lists of what it asked for, what it reported against its policy, and what went
 * wrong in it.
 */
export async function paged(browser, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: 'light', acceptDownloads: true, ...options })
  await context.addInitScript(() => {
    globalThis.refused = []
    document.addEventListener('securitypolicyviolation', (e) => globalThis.refused.push(`${e.violatedDirective} ${e.blockedURI} ${e.sample}`))
  })
  const page = await context.newPage()
  page.asked = []
  page.wrong = []
  page.on('request', (r) => { page.asked.push(r.url()) })
  page.on('pageerror', (e) => { page.wrong.push(String(e)) })
  page.on('console', (m) => { if (m.type() === 'error') page.wrong.push(m.text()) })
  page.setDefaultTimeout(15_000)
  return page
}

/** Nothing was refused by the policy, nothing failed, and nobody else was asked. */
export async function clean(page, origin) {
  assert.deepEqual(await page.evaluate(() => globalThis.refused), [], 'reports of the content security policy')
  assert.deepEqual(page.wrong, [], 'errors on the page')
  const strange = page.asked.filter((url) => !url.startsWith(origin) && !url.startsWith('data:') && !url.startsWith('blob:'))
  assert.deepEqual(strange, [], 'requests to others')
}

/** What axe finds, in words; the tests want none. */
export async function accessible(page, what) {
  await page.evaluate(axeSource)
  const found = await page.evaluate(async () => {
    const result = await globalThis.axe.run(document, { resultTypes: ['violations'] })
    return result.violations.map((v) => `${v.id}: ${v.help}: ${v.nodes.slice(0, 3).map((n) => n.target.join(' ') + ' ' + n.html.slice(0, 160)).join(' | ')}`)
  })
  assert.deepEqual(found, [], `axe, ${what}`)
}

/** Waits until what is read matches: a key or a click is drawn in the next frame. Returns the text. */
export async function until(read, what) {
  let text = await read()
  for (let i = 0; i < 200 && !what.test(text); i++) {
    await new Promise((done) => setTimeout(done, 50))
    text = await read()
  }
  assert.match(text, what)
  return text
}

/** CPU of the page's main thread in ms, so far, and its elements. */
export async function spent(page) {
  const session = page.cdp ??= await page.context().newCDPSession(page).then(async (s) => {
    await s.send('Performance.enable', { timeDomain: 'threadTicks' })
    return s
  })
  const { metrics } = await session.send('Performance.getMetrics')
  return metrics.find((m) => m.name === 'TaskDuration').value * 1000
}

/**
 * How many times as long as the machine that the budgets are written for this one takes, as it is
 * now, for a fixed piece of what a page does: script, elements and layout. It is never below 1.
 */
export async function slowness(browser) {
  const page = await browser.newPage()
  await page.goto('about:blank')
  let least = Infinity
  for (let i = 0; i < 8; i++) {
    const before = await spent(page)
    await page.evaluate(() => {
      const words = new Map()
      for (let i = 0; i < 60_000; i++) words.set(`word ${i % 9000}`, (words.get(`word ${i % 9000}`) ?? 0) + i)
      const list = document.createElement('ul')
      for (const [word, n] of [...words].slice(0, 1500)) list.appendChild(document.createElement('li')).textContent = `${word} ${n}`
      document.body.replaceChildren(list)
      return list.getBoundingClientRect().height
    })
    least = Math.min(least, await spent(page) - before)
  }
  await page.close()
  return Math.max(1, least / 65)
}

export async function elements(page) {
  return page.evaluate(() => document.querySelectorAll('*').length)
}

/** Has something done outside the browser. */
export async function deed(name, body = '') {
  const answer = await fetch(`${world.deeds}/${name}`, { method: 'POST', body })
  const text = await answer.text()
  assert.ok(answer.ok, `${name}: ${text}`)
  return JSON.parse(text)
}

/** A picture for docs/ui.md, where pictures are to be written. */
export async function picture(page, name) {
  if (world.update) await page.screenshot({ path: `${world.update}/${name}.png` })
}

import { chromium } from 'playwright-core'
const [url, ...views] = process.argv.slice(2), origin = new URL(url).origin
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] })
const page = await (await browser.newContext({ viewport: { width: 718, height: 1046 } })).newPage()
page.setDefaultTimeout(60000)
await page.goto(url)
await page.locator('main h2, main [role=treegrid], .map').first().waitFor()
for (const v of views) {
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.goto(`${origin}/#${v}`); await page.reload()
  await page.waitForTimeout(3000)
  const name = 'print-' + v.replace(/[^a-z]+/gi, '-').slice(0, 30)
  await page.setViewportSize({ width: 718, height: 1046 })
  await page.emulateMedia({ media: 'print' })
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')))
  await page.waitForTimeout(800)
  await page.screenshot({ path: `/tmp/h27b-look/${name}.png`, fullPage: true })
  await page.evaluate(() => dispatchEvent(new Event('afterprint')))
  await page.emulateMedia({ media: null })
}
await browser.close()

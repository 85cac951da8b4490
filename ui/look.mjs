import { chromium } from 'playwright-core'
import { writeFileSync } from 'node:fs'
const [url, ...views] = process.argv.slice(2), origin = new URL(url).origin
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] })
const page = await (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage()
page.setDefaultTimeout(60000)
await page.goto(url)
await page.locator('main h2, main [role=treegrid], .map').first().waitFor()
for (const v of views) {
  await page.goto(`${origin}/#${v}`); await page.reload()
  await page.waitForTimeout(2500)
  const name = v.replace(/[^a-z]+/gi, '-').slice(0, 30)
  for (const colorScheme of ['light', 'dark']) { await page.emulateMedia({ colorScheme }); await page.waitForTimeout(200); await page.screenshot({ path: `/tmp/h27b-look/${name}-${colorScheme}.png` }) }
  await page.pdf({ path: `/tmp/h27b-look/${name}.pdf`, format: 'A4' })
}
await browser.close()

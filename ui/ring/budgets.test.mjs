// What large stacks cost the browser: elements, and CPU of the page's main thread in relation to
// what the same machine takes for a fixed piece of work, never seconds.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { browsing, clean, elements, paged, spent, world, slowness } from './lib.mjs'

/** The only stack opens by itself, as a tree and as a picture of its parts. */
async function opened(page, address) {
  await page.goto(address)
  await page.getByRole('treegrid').waitFor()
  await page.locator('.parts .card').first().waitFor()
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
}

/** CPU of a frame in ms, while the graph is zoomed by the wheel and dragged. */
async function moving(page) {
  await page.getByRole('button', { name: 'Objects', exact: true }).click()
  const box = await page.locator('canvas').first().boundingBox()
  const x = box.x + box.width / 2, y = box.y + box.height / 2
  await page.mouse.move(x, y)
  await page.evaluate(() => {
    globalThis.frames_ = 0
    const count = () => { globalThis.frames_++; requestAnimationFrame(count) }
    requestAnimationFrame(count)
  })
  const before = await spent(page), from = await page.evaluate(() => globalThis.frames_)
  for (let i = 0; i < 40; i++) {
    await page.mouse.wheel(0, i % 20 < 10 ? 60 : -60)
    await page.waitForTimeout(16)
  }
  await page.mouse.down()
  for (let i = 0; i < 60; i++) {
    await page.mouse.move(x + 300 * Math.sin(i / 8), y + 200 * Math.cos(i / 8))
    await page.waitForTimeout(16)
  }
  await page.mouse.up()
  const frames = await page.evaluate(() => globalThis.frames_) - from
  return (await spent(page) - before) / frames
}

for (const [objects, budget] of [[2000, { paint: 200, frame: 4, elements: 1500 }], [10000, { paint: 1000, frame: 12, elements: 1500 }]]) {
  test(`${objects} objects`, () => browsing(async (browser) => {
    const page = await paged(browser)
    const address = world[`address${objects}`]
    await spent(page)
    // The least of some loads: whatever else the machine does only adds to it.
    await opened(page, address)
    let paint = await spent(page)
    for (let i = 0; i < 6; i++) {
      const again = await page.context().newPage()
      await spent(again)
      await opened(again, new URL(address).origin)
      paint = Math.min(paint, await spent(again))
      await again.close()
    }
    const frame = await moving(page)
    const count = await elements(page)
    const slow = await slowness(browser)
    console.log(`${objects} objects: ${paint.toFixed(0)} ms until drawn, ${frame.toFixed(2)} ms a frame, ${count} elements; this machine is ${slow.toFixed(2)} times as slow as that of the budgets`)
    const shown = await page.getByText(/showing [\d,]+ of [\d,]+ objects/).first().textContent()
    assert.match(shown, /\d/)
    assert.ok(count <= budget.elements, `${count} elements`)
    assert.ok(paint <= budget.paint * slow, `${paint} ms of CPU until drawn`)
    assert.ok(frame <= budget.frame * slow, `${frame} ms of CPU a frame`)
    await clean(page, new URL(address).origin)
  }))
}

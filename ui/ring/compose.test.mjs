// A System of a Certificate and who issues it, put together from the catalogue; the server says
// whether it would take it. And what system init writes is opened and shown.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accessible, browsing, clean, deed, paged, picture, world } from './lib.mjs'

const origin = new URL(world.address).origin

test('from the catalogue to a dry run', () => browsing(async (browser) => {
  const page = await paged(browser)
  await page.goto(world.address)
  await page.getByRole('button', { name: 'Compose', exact: true }).click()
  const manifest = page.getByRole('textbox', { name: 'Manifest' }), form = page.getByRole('region', { name: 'Form' })
  const valid = () => page.getByRole('status').filter({ hasText: 'valid ✔' }).waitFor()
  const settled = () => page.waitForFunction(() => ![...document.querySelectorAll('[role=status]')].some((s) => /reading/.test(s.textContent)))

  await form.getByLabel('Name', { exact: true }).fill('site')
  await form.getByLabel('Namespace', { exact: true }).fill('shop')
  const search = page.getByRole('searchbox', { name: /Search operators/ })
  await search.fill('issuer')

  // The search finds kinds; the forms start from the example of the catalogue.
  await page.getByRole('button', { name: 'New Issuer', exact: true }).click()
  await form.getByLabel('Name of the object').fill('ours')
  await form.getByLabel('Name of the object').press('Tab')
  await settled()

  await search.fill('certificate')
  await page.getByText('made by Certificate').first().waitFor()
  await page.getByRole('button', { name: 'New Certificate', exact: true }).click()
  await form.getByLabel('Name of the object').fill('web')
  await form.getByLabel('Name of the object').press('Tab')
  await settled()
  assert.equal(await form.getByLabel(/^secretName/).inputValue(), 'example-tls', 'the example')
  await form.getByLabel(/^secretName/).fill('')
  await page.getByRole('status').filter({ hasText: 'not valid: 1 field to look at' }).waitFor()
  await form.getByLabel(/^secretName/).fill('web-tls')
  await form.getByLabel('dnsNames 1', { exact: true }).fill('shop.example.com')
  await settled()

  // Who needs whom is proposed, by the field that the relationship of the two kinds has.
  const proposals = page.getByRole('region', { name: /1 proposal to decide/ })
  assert.match(await proposals.textContent(), /certificate needs issuer: spec\.issuerRef\.name = metadata\.name of issuer/)
  await proposals.getByRole('button', { name: 'Other field' }).click()
  const lists = page.getByRole('region', { name: 'Connect' }).getByRole('combobox')
  assert.deepEqual([await lists.nth(0).inputValue(), await lists.nth(1).inputValue()], ['certificate', 'issuer'])
  await page.getByRole('button', { name: 'Swap', exact: true }).click()
  assert.deepEqual([await lists.nth(0).inputValue(), await lists.nth(1).inputValue()], ['issuer', 'certificate'])
  await proposals.getByRole('button', { name: 'Connect certificate to issuer' }).click()
  await settled()
  await valid()
  assert.match(await page.getByRole('region', { name: 'What will be there' }).textContent(), /certificateCertificate web, CertificateRequest, Secret/)
  assert.match(await page.getByRole('region', { name: 'What it needs first' }).textContent(), /cert-manager: runs here already/)
  await accessible(page, 'a composed System')
  const text = await manifest.inputValue()
  await page.reload()
  await valid()
  assert.equal(await manifest.inputValue(), text, 'what was composed survives a reload')
  await picture(page, 'compose')
  const answer = await deed('install', await manifest.inputValue())
  assert.equal(answer.code, 0, answer.talk + answer.out)
  assert.match(answer.out, /site-certificate/)
  assert.match(answer.talk, /the API server accepts all of it/)

  // What system init writes opens as it is, comments and all; one letter more, and it says what is
  // wrong, and leads there.
  const { out } = await deed('init')
  page.once('dialog', (d) => d.accept())
  await page.getByLabel(/Open a manifest/).setInputFiles({ name: 'system.yaml', mimeType: 'application/yaml', buffer: Buffer.from(out) })
  await page.waitForFunction((text) => document.querySelector('.compose-text textarea').value === text, out)
  await valid()
  for (const app of ['web', 'db', 'worker']) await page.locator('.compose-card').filter({ hasText: app }).first().waitFor()
  await manifest.fill(out.replace('spec:', 'specs:'))
  const problem = page.getByRole('button', { name: /^line \d+/ }).first()
  await problem.click()
  const line = Number((await problem.textContent()).match(/\d+/)[0])
  assert.equal(await manifest.evaluate((t) => t.value.slice(0, t.selectionStart).split('\n').length), line, 'the cursor is where the problem is')
  await clean(page, origin)
}))

// Saves what is shown: the page, its picture, its table; beside each the command that makes the same.

import { useState } from 'preact/hooks'
import { Command } from './bits.tsx'
import { commandOf, narrowed } from './commands.ts'
import { cardsUpTo } from './map_layout.ts'
import { encode, type Page } from './page.ts'
import { byRule, levelOf, type Report } from './report.ts'
import { isQuiet, shape } from './shape.ts'
import { wantedStacks } from './table.ts'
import { health, money, optional, parse, short } from './words.ts'

interface Kept { format: 'HTML' | 'SVG' | 'PNG' | 'CSV'; what: string; command: string; content: () => Promise<string | Blob> }

const types = { HTML: 'text/html', SVG: 'image/svg+xml', PNG: 'image/png', CSV: 'text/csv' }

const cell = (text: string) => /[",\r\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text
/** A spreadsheet takes a text that begins so for a formula, unless it is an amount with a unit. */
export const safe = (text: string) => /^[=+\-@\t＝＋－＠]/.test(text) && !/^[+-][\d.,]+ ?[A-Za-z%]*$/.test(text) ? "'" + text : text

/** The text of a cell: of a choice what is chosen, and nothing that is hidden from screen readers. */
function textOf(node: Node): string {
  if (!(node instanceof Element)) return node.textContent ?? ''
  const choice = node.querySelector('select'), apart = /^(DIV|P|LI|BR|TD|TH)$/.test(node.tagName) ? ' ' : ''
  if (choice) return choice.selectedOptions[0]?.text ?? ''
  return node.getAttribute('aria-hidden') === 'true' || node.tagName === 'svg' ? '' : apart + [...node.childNodes].map(textOf).join('') + apart
}

/** What is shown as rows; null where there is no table. */
export function rowsOf(page: Page): string[][] | null {
  const { view } = page.choice, stack = page.stack(), amount = (c?: number) => c === undefined ? '' : money(c).replace(/,/g, '')
  if (view === 'stack' && stack) {
    const s = shape(page, stack), out = [['kind', 'namespace', 'name', 'health', 'reason', 'message', 'cost']]
    for (const it of s.items) for (const at of it.fold ? it.children.length ? [] : it.fold : [it.place]) {
      const p = stack.tree[at], n = page.node(p.n)
      if (!p.a) out.push([page.kind(n).kind, page.namespace(n), n.n, isQuiet(page, p.n) ? optional : health[n.h ?? 0].word, n.r ?? '', n.m ?? '', amount(p.c)])
    }
    return out
  }
  if (view === 'stacks') {
    return [['stack', 'namespace', 'health', 'cause', 'objects', 'pods', 'healthy pods', 'cost'], ...wantedStacks(page).map((s) => [
      s.name, s.namespace ?? '', health[s.health ?? 0].word, (s.causes ?? []).filter((c) => page.uiState.nodes[c.n]).map((c) => `${page.node(c.n).r ?? page.node(c.n).t ?? ''} ${short(page.ref(c.n))}`).join('; '),
      String(s.objects), String(s.pods?.[0] ?? ''), String(s.pods?.[2] ?? ''), amount(s.cost),
    ])]
  }
  const tables = [...document.querySelectorAll<HTMLTableElement>('main table')]
  return tables.length ? tables.flatMap((t) => [...t.rows].map((r) => [...r.cells].map((c) => textOf(c).trim().replace(/\s+/g, ' ')))) : null
}

/** The rows of a table that shows all of them, as when it is printed. */
async function allRows(page: Page): Promise<string[][]> {
  page.print(true)
  await new Promise((done) => setTimeout(done, 100))
  try { return rowsOf(page) ?? [] } finally { page.print(false) }
}

/** The findings, as the filters leave them. */
async function findings(page: Page): Promise<string[][]> {
  const report = await page.server!.get<Report>('check'), { search, kinds } = page.choice
  return [['severity', 'rule', 'object', 'stacks', 'field', 'value', 'message', 'remedy'], ...byRule(report, search).flatMap((r) => r.found.filter((f) => !kinds.length || kinds.includes(levelOf(f.finding))).map(({ finding: f, subjects }) => [
    levelOf(f), r.id, f.object, subjects.filter((s) => s.scope === 'stack').map((s) => s.name).join('; '), f.field ?? '', f.value ?? '', f.message, f.remedy ?? r.fix ?? '',
  ]))]
}

/** A drawing as a picture of twice its size, which a browser's canvas can hold. */
async function png(svg: string): Promise<Blob> {
  const image = new Image()
  image.src = 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(svg)
  await image.decode()
  const scale = Math.min(2, 16_000 / Math.max(image.width, image.height), Math.sqrt(120e6 / (image.width * image.height)))
  const canvas = Object.assign(document.createElement('canvas'), { width: image.width * scale, height: image.height * scale })
  canvas.getContext('2d')!.drawImage(image, 0, 0, canvas.width, canvas.height)
  return new Promise((done, fail) => canvas.toBlob((blob) => blob ? done(blob) : fail(new Error('the browser cannot draw a picture of this size')), 'image/png'))
}

export function Save({ page }: { page: Page }) {
  const [status, say] = useState(''), { view, stack, root } = page.choice, at = encode(page.choice), drawn = view === 'stack' || view === 'stacks' && !narrowed(page)
  const file = (as: string) => page.server!.get<string>('file', { as, at }), rows = view === 'findings' || rowsOf(page)
  const kinds: Kept[] = [
    // A file has nothing of the other views.
    ...['stacks', 'stack', 'costs'].includes(view) ? [{ format: 'HTML' as const, what: 'the page as it is now, in one file that needs no network', command: commandOf(page, 'HTML'), content: () => file('html') }] : [],
    ...(drawn ? [
      { format: 'SVG' as const, what: view === 'stacks' && page.uiState.stacks.length > cardsUpTo ? 'the picture, with a card for each stack, sharp at every size' : 'the picture, sharp at every size', command: commandOf(page, 'SVG'), content: () => file('svg') },
      { format: 'PNG' as const, what: 'the picture for a chat or a slide', command: '', content: () => file('svg').then(png) },
    ] : []),
    ...(rows ? [{ format: 'CSV' as const, what: 'the rows for a spreadsheet', command: view === 'stacks' || view === 'costs' ? commandOf(page, 'CSV') : '', content: async () => (await (view === 'findings' ? findings : allRows)(page)).map((r) => r.map((t) => cell(safe(t))).join(',')).join('\r\n') + '\r\n' }] : []),
  ]
  const save = async (k: Kept) => {
    say(`${k.format} ...`)
    try {
      const url = URL.createObjectURL(new Blob([await k.content()], { type: types[k.format] }))
      Object.assign(document.createElement('a'), { href: url, download: `${view === 'stack' ? parse(root || stack).name || 'stack' : view}.${k.format.toLowerCase()}` }).click()
      setTimeout(() => URL.revokeObjectURL(url), 10_000)
      say(`${k.format}: saved`)
    } catch (e) {
      say(`${k.format}: ${(e as Error).message}`)
    }
  }
  return (
    <>
      <ul class="save">
        {kinds.map((k) => (
          <li key={k.format}><button type="button" onClick={() => save(k)}>{k.format}</button> <span>{k.what}</span>{k.command && <Command text={k.command} />}</li>
        ))}
      </ul>
      <p role="status">{status}</p>
      <p><button type="button" onClick={() => { document.querySelector('dialog')!.close(); page.print(true); setTimeout(print, 100) }}>Print</button> <span class="faint">all of this view, on as many sheets as it needs</span></p>
    </>
  )
}

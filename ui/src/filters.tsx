// Search and filters of a stack, for tree and graph.

import { useEffect, useRef, useState } from 'preact/hooks'
import { noFilters, type Page } from './page.ts'
import type { Choice } from './page.ts'
import { range, relationOf, shape } from './shape.ts'
import { filtered } from './tree_rows.ts'
import { count, health, kindKey, plural, relations } from './words.ts'

type Key = 'kinds' | 'namespaces' | 'labels' | 'health' | 'relations'
interface Option { value: string | number; text: string; n: number }
const titles: { [k in Key]: string } = { kinds: 'Kind', namespaces: 'Namespace', labels: 'Label', health: 'Health', relations: 'Relation' }
const keys = Object.keys(titles) as Key[]
/** The number of options above which a panel has a search, and the maximum that it shows. */
const searchFrom = 12, maxShown = 60

export function Filters({ page }: { page: Page }) {
  const stack = page.stack(), { choice } = page, [open, set] = useState<Key | ''>(''), root = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!open) return
    const away = (e: Event) => { if (!root.current!.contains(e.target as Element)) set('') }
    document.addEventListener('pointerdown', away)
    return () => document.removeEventListener('pointerdown', away)
  }, [open])
  if (!stack) return null
  const s = shape(page, stack), any = filtered(page)
  const leave = () => document.querySelector<HTMLElement>('main [role=treegrid] [tabindex="0"]')?.focus()
  const press = (e: KeyboardEvent) => {
    if (e.key === 'ArrowDown' || e.key === 'Enter' || e.key === 'Escape' && !choice.search) leave()
    else if (e.key === 'Escape') page.set({ search: '' })
    else return
    e.preventDefault()
  }
  const options = open ? optionsOf(page, open) : []
  return (
    <div class="filters" role="search" aria-label="Objects of the stack" ref={root}>
      <div class="filters-line">
        <input type="search" class="filters-search" aria-label="Search objects" placeholder="Filter: kind, name, label" autocomplete="off" spellcheck={false} value={choice.search}
          onInput={(e) => page.set({ search: e.currentTarget.value })} onKeyDown={press} />
        {keys.map((key) => (
          <div key={key} class="filters-menu" onKeyDown={(e) => {
            if (e.key !== 'Escape' || open !== key) return
            e.preventDefault()
            set('')
            e.currentTarget.querySelector('button')!.focus()
          }} onFocusOut={(e) => { const to = e.relatedTarget as Element | null; if (open === key && to && !e.currentTarget.contains(to) && !to.contains(e.currentTarget)) set('') /* a click on the text of an option focuses what is around it */ }}>
            <button type="button" aria-expanded={open === key} aria-controls={'filter-' + key} onClick={() => set(open === key ? '' : key)}>
              {titles[key]}{choice[key].length > 0 && ` (${choice[key].length})`} <span aria-hidden="true">▾</span>
            </button>
            <div id={'filter-' + key} class="filters-panel" hidden={open !== key}>{open === key && <Panel page={page} filter={key} options={options} />}</div>
          </div>
        ))}
        <button type="button" aria-pressed={choice.sort === 'health'} onClick={() => page.set({ sort: choice.sort ? '' : 'health' })}>Worst first</button>
        {any && <button type="button" onClick={() => { page.set(noFilters()); root.current!.querySelector('input')!.focus() }}>Reset</button>}
        <span class="filters-count" role="status">{s.capped ? `showing ${count(s.shown)} of ${plural(s.shown + s.capped, 'object')}, the rest is well and in groups` : any ? `${count(s.shown)} of ${plural(s.of, 'object')}` : ofStack(s.of, stack.objects)}</span>
      </div>
      {keys.some((k) => choice[k].length) && (
        <ul class="filters-chips" aria-label="Filters that are set">
          {keys.flatMap((key) => (choice[key] as (string | number)[]).map((value) => (
            <li key={key + value}>
              <button type="button" class="chip" onClick={(e) => {
                const next = (e.currentTarget.parentElement!.nextElementSibling ?? e.currentTarget.parentElement!.previousElementSibling)?.querySelector('button') ?? root.current!.querySelector('input')!
                page.set(deselect(choice, key, value))
                next.focus()
              }}>
                <span class="faint">{titles[key].toLowerCase()}</span> {textOf(key, value)} <span aria-hidden="true">✕</span><span class="unseen">, remove</span>
              </button>
            </li>
          )))}
        </ul>
      )}
    </div>
  )
}

/** The objects of a stack, and those that belong to what it needs. */
const ofStack = (all: number, own: number) => all > own ? `${plural(own, 'object')}, and ${count(all - own)} of what it needs` : plural(all, 'object')

function Panel({ page, filter, options }: { page: Page; filter: Key; options: Option[] }) {
  const [text, type] = useState(''), chosen = page.choice[filter] as (string | number)[]
  const found = options.filter((o) => o.text.toLowerCase().includes(text.toLowerCase())), shown = found.slice(0, maxShown)
  return (
    <fieldset>
      <legend>{titles[filter]}</legend>
      {options.length > searchFrom && <input type="search" aria-label={`Search of ${titles[filter]}`} placeholder="Search" value={text} onInput={(e) => type(e.currentTarget.value)} />}
      {shown.map((o) => (
        <label key={o.value}>
          <input type="checkbox" checked={chosen.includes(o.value)} onChange={(e) => page.set(e.currentTarget.checked ? { [filter]: [...chosen, o.value] } : deselect(page.choice, filter, o.value))} />
          <span class="filters-text">{o.text}</span> <span class="faint">{count(o.n)}</span>
        </label>
      ))}
      {found.length > maxShown && <p class="faint">and {count(found.length - maxShown)} more: search for them</p>}
      {!found.length && <p class="faint">{options.length ? 'none of these' : 'there are none'}</p>}
    </fieldset>
  )
}

function deselect(c: Choice, key: Key, value: string | number): Partial<Choice> {
  return { [key]: (c[key] as (string | number)[]).filter((v) => v !== value) }
}

const textOf = (key: Key, value: string | number) =>
  key === 'health' ? (health[+value].glyph + ' ' + (health[+value].word || 'none')).trim() : key === 'namespaces' && value === '' ? 'of the cluster' : String(value)

/** The options of a filter in the stack, with their numbers of objects. */
export function optionsOf(page: Page, key: Key): Option[] {
  const counts = new Map<string | number, number>(), { uiState } = page, add = (v: string | number) => counts.set(v, (counts.get(v) ?? 0) + 1)
  const { tree } = page.stack()!
  for (const p of tree.slice(...range(page, tree))) {
    const n = uiState.nodes[p.n]
    if (!n || p.a) continue
    const k = uiState.kinds[n.k], relation = relationOf[p.w ?? 'root']
    if (key === 'kinds') add(kindKey(k))
    else if (key === 'namespaces') add(page.namespace(n))
    else if (key === 'health') add(n.h ?? 0)
    else if (key === 'labels') for (const l of n.l ?? []) add(uiState.labels[l])
    else if (relation) add(relation)
  }
  for (const v of page.choice[key]) if (!counts.has(v)) counts.set(v, 0)
  const all = [...counts].map(([value, n]) => ({ value, text: textOf(key, value), n }))
  if (key === 'health') return all.sort((a, b) => +b.value - +a.value)
  if (key === 'relations') return all.sort((a, b) => relations.indexOf(a.value as 'owns') - relations.indexOf(b.value as 'owns'))
  return all.sort((a, b) => b.n - a.n && key === 'labels' ? b.n - a.n : a.text < b.text ? -1 : 1)
}

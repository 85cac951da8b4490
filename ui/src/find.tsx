// Finds any object of the page, also those in no stack.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { Health, Link } from './bits.tsx'
import { whyAlone } from './links.ts'
import type { Page } from './page.ts'
import { isQuiet } from './shape.ts'
import { count, health, kindKey, optional, plural, short, wordsOf } from './words.ts'

/** The results that a group shows. */
const maxShown = 12

export interface Found { stacks: string[]; objects: { node: number; stack: string }[]; alone: number[] }

/** The text that a search looks in, by node: kind, name, namespace, labels, status. */
export function texts(page: Page): string[] {
  const { uiState } = page
  return uiState.nodes.map((n, i) => n ? [page.ref(i), kindKey(page.kind(n)), isQuiet(page, i) ? optional : health[n.h ?? 0].word, n.r, n.m, n.t, ...(n.l ?? []).map((l) => uiState.labels[l])].filter(Boolean).join('\n').toLowerCase() : '')
}

/** The objects that have all words: exact names first, then those with the words in kind and name, then the others. */
export function find(page: Page, all: string[], search: string): Found {
  const words = wordsOf(search), out: Found = { stacks: [], objects: [], alone: [] }
  if (!words.length) return out
  const stackOf = new Map<number, string>(), { stacks, nodes } = page.uiState
  for (const s of stacks) {
    for (const p of s.tree) if (!stackOf.has(p.n)) stackOf.set(p.n, s.name)
    if (words.every((w) => s.name.toLowerCase().includes(w))) out.stacks.push(s.name)
  }
  const hits: number[] = []
  all.forEach((text, i) => { if (text && words.every((w) => text.includes(w))) hits.push(i) })
  const rank = (i: number) => { const name = nodes[i]!.n.toLowerCase(), ref = page.ref(i).toLowerCase(); return words.some((w) => w === name) ? 0 : !words.every((w) => ref.includes(w)) ? 3 : words.some((w) => name.startsWith(w)) ? 1 : 2 }
  for (const i of hits.map((i) => ({ i, r: rank(i) })).sort((a, b) => a.r - b.r || a.i - b.i).map(({ i }) => i)) {
    const stack = stackOf.get(i)
    if (stack) out.objects.push({ node: i, stack })
    else out.alone.push(i)
  }
  return out
}

export function Find({ page }: { page: Page }) {
  const [search, set] = useState(''), root = useRef<HTMLDivElement>(null)
  const all = useMemo(() => search ? texts(page) : [], [page.uiState, !search]), found = useMemo(() => find(page, all, search), [all, search])
  useEffect(() => {
    if (!search) return
    const away = (e: Event) => { if (!root.current!.contains(e.target as Element)) set('') }
    document.addEventListener('pointerdown', away)
    return () => document.removeEventListener('pointerdown', away)
  }, [!search])
  const links = () => [...root.current!.querySelectorAll<HTMLElement>('a')], close = () => set('')
  const leave = () => { close(); document.getElementById('content')?.focus() }
  const press = (e: KeyboardEvent) => {
    const at = links().indexOf(e.target as HTMLElement)
    if (e.key === 'ArrowDown') links()[Math.min(at + 1, links().length - 1)]?.focus()
    else if (e.key === 'ArrowUp') (links()[at - 1] ?? root.current!.querySelector('input'))?.focus()
    else if (e.key === 'Enter' && at < 0) links()[0]?.click()
    else if (e.key === 'Escape') { root.current!.querySelector('input')!.focus(); close() }
    else return
    e.preventDefault()
  }
  const n = found.stacks.length + found.objects.length + found.alone.length, hidden = page.uiState.objects - page.uiState.nodes.length
  return (
    <div class="find" ref={root} onKeyDown={press} onFocusOut={(e) => { if (e.relatedTarget && !e.currentTarget.contains(e.relatedTarget as Element)) close() }}>
      <input type="search" id="find" aria-label="Find any object" placeholder="Find any object ( / )" autocomplete="off" spellcheck={false} value={search} onInput={(e) => set(e.currentTarget.value)} />
      {search.trim() && (
        <div class="find-results" role="region" aria-label="Found objects">
          <p class="faint" role="status">{n ? plural(n, 'result') + '.' : 'Nothing has these words.'}{hidden > 0 && ` ${count(hidden)} objects are not on this page.`}{FILE && ' A file has only what its stacks have to do with.'}</p>
          <Group title="Stacks" items={found.stacks}>{(name) => <Link page={page} to={page.inStack(name)} class="link" title={name} then={leave}><bdi>{short(name)}</bdi></Link>}</Group>
          <Group title="Objects" items={found.objects}>{({ node, stack }) => <Hit page={page} node={node} stack={stack} then={leave} />}</Group>
          <Group title="In none of these stacks" items={found.alone}>{(node) => <Hit page={page} node={node} then={leave} />}</Group>
        </div>
      )}
    </div>
  )
}

function Group<T>({ title, items, children }: { title: string; items: T[]; children: (item: T) => unknown }) {
  if (!items.length) return null
  return <><h2>{title}</h2><ul>{items.slice(0, maxShown).map((item, i) => <li key={i}>{children(item) as never}</li>)}{items.length > maxShown && <li class="faint">and {count(items.length - maxShown)} more: add a word</li>}</ul></>
}

function Hit({ page, node, stack, then }: { page: Page; node: number; stack?: string; then: () => void }) {
  const ref = page.ref(node), n = page.node(node)
  const text = <bdi>{short(ref)}</bdi>
  return <>{FILE && !stack ? text : <Link page={page} to={stack ? page.inStack(stack, ref) : page.whereIs(ref)} class="link" title={ref} then={then}>{text}</Link>} <span class="faint">{page.namespace(n)}{stack ? ` · in ${short(stack)}` : ` · ${whyAlone(page, node)}`}</span> {isQuiet(page, node) ? <span class="faint">{optional}</span> : n.h !== undefined && n.h !== 1 && <Health value={n.h} />}</>
}

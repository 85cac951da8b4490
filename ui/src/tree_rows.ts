// The rows and columns of the treegrid. Independent of the browser.

import { filtersOf, type Page } from './page.ts'
import type { UIState, Stack } from './ui_state.ts'
import type { Item, Shape } from './shape.ts'
import { count, cpu, bytes, health, money, trouble, visible } from './words.ts'

/** A row: an item with its position among its siblings. open is undefined without children. */
export interface Row { item: Item; at: number; of: number; open?: boolean }

/** Stacks with more items start closed, except the ancestors of unhealthy objects. */
export const large = 120

/** The visible rows: without those below a closed row. */
export function rowsOf(s: Shape, isOpen: (it: Item) => boolean): Row[] {
  const out: Row[] = [], todo: Row[] = []
  const push = (items: Item[]) => { for (let i = items.length - 1; i >= 0; i--) todo.push({ item: items[i], at: i + 1, of: items.length }) }
  push(s.roots)
  for (let row = todo.pop(); row; row = todo.pop()) {
    const { item } = row
    if (item.children.length || item.fold) row.open = item.children.length > 0 && isOpen(item)
    out.push(row)
    if (row.open) push(item.children)
  }
  return out
}

interface Memory { topology: number; leads: Set<string> }
const memories = new WeakMap<Page, Map<string, Memory>>()

/** Returns whether an item is open: as the user chose, else all items of a small or filtered stack;
    of a large one its roots, and the ancestors of objects that were unhealthy at the last change. */
export function opener(page: Page, s: Shape): (it: Item) => boolean {
  const c = page.choice, open = new Set(c.open), closed = new Set(c.closed)
  const leads = LARGE && s.items.length > large && !filtered(page) ? leading(page, s) : null
  return (it) => !closed.has(it.key) && (!!it.fold || open.has(it.key) || !leads || leads.has(it.key))
}

export function filtered({ choice: c }: Page): boolean {
  return Object.values(filtersOf(c)).some((f) => typeof f === 'string' ? f.trim() : f.length)
}

function leading(page: Page, s: Shape): Set<string> {
  let all = memories.get(page)
  if (!all) memories.set(page, all = new Map())
  const key = page.choice.stack + ' ' + page.choice.root
  let m = all.get(key)
  if (!m) all.set(key, m = { topology: -1, leads: new Set() })
  if (m.topology !== page.topology) {
    m.topology = page.topology
    for (const it of s.items) if (!it.depth || it.children.some((c) => c.worst >= trouble)) m.leads.add(it.key)
  }
  return m.leads
}

/** Returns the choice that opens or closes items. */
export function toggled(page: Page, s: Shape, items: Item[], to: boolean): { open: string[]; closed: string[] } {
  const open = new Set(page.choice.open), closed = new Set(page.choice.closed), keys = (set: Set<string>) => [...set]
  for (const { key, fold } of items) {
    ;(to ? closed : open).delete(key)
    if (fold && to) open.add(key)
  }
  const isOpen = opener({ choice: { ...page.choice, open: keys(open), closed: keys(closed) }, topology: page.topology } as Page, s)
  for (const it of items) if (!it.fold && isOpen(it) !== to) (to ? open : closed).add(it.key)
  return { open: keys(open), closed: keys(closed) }
}

/** The row of the selection: the selected row, else that of the node, else that of its fold; -1 if none is visible. */
export function rowOf(rows: Row[], stack: Stack, key: string, node: number): number {
  const selected = rows.findIndex((r) => r.item.key === key)
  if (selected >= 0 && (node < 0 || has(rows[selected].item, stack, node))) return selected
  if (node < 0) return -1
  const place = rows.findIndex((r) => !r.item.fold && r.item.node === node && !stack.tree[r.item.place].a)
  if (place >= 0) return place
  return rows.findIndex((r) => (!r.item.fold || !r.open) && has(r.item, stack, node))
}

/** The row that Tab focuses without a selection: the last active one, or the one at its position if it was removed. */
export function activeOf(rows: Row[], key: string, last: number): number {
  const at = rows.findIndex((r) => r.item.key === key)
  return at >= 0 ? at : Math.max(0, Math.min(last, rows.length - 1))
}

const has = (it: Item, stack: Stack, node: number) => it.fold ? it.fold.some((p) => stack.tree[p].n === node) : it.node === node

/** The ancestors of a node, which must be open to show it. */
export function above(s: Shape, stack: Stack, node: number): Item[] {
  const holds = (it: Item) => has(it, stack, node)
  const out: Item[] = []
  for (let it = (s.items.find((i) => !i.fold && holds(i) && !stack.tree[i.place].a) ?? s.items.find(holds))?.parent; it; it = it.parent) out.push(it)
  return out
}

/** The next row whose name starts with the typed text; a repeated letter moves to the next match. */
export function typed(page: Page, rows: Row[], from: number, text: string): number {
  const same = [...text].every((c) => c === text[0]), want = same ? text[0] : text
  for (let i = same ? 1 : 0; i < rows.length + 1; i++) {
    const at = (Math.max(from, 0) + i) % rows.length
    if (titleOf(page, rows[at].item).name.toLowerCase().startsWith(want)) return at
  }
  return -1
}

/** Kind and name of an item; of a fold its number of objects and their kind. */
export function titleOf(page: Page, it: Item): { kind: string; name: string } {
  const n = page.node(it.node), { kind } = page.kind(n)
  if (!it.fold) return { kind, name: visible(n.n) }
  return { kind: '', name: count(it.fold.length) + ' ' + (it.key.startsWith('(more') ? 'more' : kinds(kind)) }
}

/** The plural of a kind. */
export const kinds = (kind: string) => /(s|x|ch)$/.test(kind) ? kind + 'es' : /[^aeiou]y$/.test(kind) ? kind.slice(0, -1) + 'ies' : kind + 's'

/** The worst health in a fold and its count: "1 of 12 Degraded", "all Healthy". */
export function foldHealth(page: Page, stack: Stack, it: Item): string {
  const all = it.fold!.map((p) => page.uiState.nodes[stack.tree[p].n]?.h ?? 0), worst = Math.max(...all), n = all.filter((h) => h === worst).length
  return (n === all.length ? 'all' : `${n} of ${all.length}`) + ' ' + (health[worst].word || 'without a health')
}

/** The usage of the pods at and below a place, with their number and how many were measured. */
export interface Uses { pods: number; measured: number; c: number; m: number }

const used = new WeakMap<Stack, { uiState: UIState; uses: (Uses | undefined)[] }>()

export function usesOf(page: Page, stack: Stack): (Uses | undefined)[] {
  const known = used.get(stack)
  if (known?.uiState === page.uiState) return known.uses
  const { tree } = stack, uses: (Uses | undefined)[] = [], path: number[] = []
  tree.forEach((p, i) => {
    path.length = Math.min(p.d ?? 0, path.length)
    path.push(i)
    const n = page.uiState.nodes[p.n]
    if (p.a || !n || page.kind(n).kind !== 'Pod' || page.kind(n).group) return
    const { c, m } = n.u ?? {}, measured = c !== undefined || m !== undefined ? 1 : 0
    for (const at of path) {
      const u = uses[at] ??= { pods: 0, measured: 0, c: 0, m: 0 }
      u.pods++
      u.measured += measured
      u.c += c ?? 0
      u.m += m ?? 0
    }
  })
  used.set(stack, { uiState: page.uiState, uses })
  return uses
}

export function usesOfItem(uses: (Uses | undefined)[], it: Item): Uses | undefined {
  if (!it.fold) return uses[it.place]
  const all = it.fold.flatMap((p) => uses[p] ?? [])
  return all.length ? all.reduce((a, b) => ({ pods: a.pods + b.pods, measured: a.measured + b.measured, c: a.c + b.c, m: a.m + b.m })) : undefined
}

export const usesText = (u: Uses) => u.measured ? `${cpu(u.c)} · ${bytes(u.m)}` : ''

export type Column = 'object' | 'health' | 'below' | 'cost' | 'pods' | 'uses' | 'since' | 'message'
const order: Column[] = ['object', 'health', 'below', 'cost', 'pods', 'uses', 'since', 'message']
/** The optional columns, by priority. */
const next: Column[] = ['below', 'since', 'message', 'pods', 'uses']

/** The characters of a name that are always shown. */
const readable = 31
/** How much wider a name is than other text: it is bold. */
const bold = 1.1
type Need = Column | 'name' | 'marked'
export type Needs = { [c in Need]: number }

/** How far an object is from the left, in pixels: deep ones by less. */
export const indent = (depth: number, tight: boolean) => (tight ? 8 : 14) * Math.min(depth, 4) + 5 * Math.max(0, Math.min(depth, 16) - 4)

/** The width of each column in pixels, and of what a name takes in the first, by itself and with its
    marks; 0 without content. */
export function needs(page: Page, stack: Stack, s: Shape, uses: (Uses | undefined)[], letter: number): Needs {
  const letters = { name: 0, marked: 0, object: 0, health: 6, below: 0, cost: 0, pods: 0, uses: 0, since: 0, message: 0 }, widest = (c: Need, n: number) => { if (n > letters[c]) letters[c] = n }
  for (const it of s.items) {
    const n = page.node(it.node), p = stack.tree[it.place], { kind, name } = titleOf(page, it), u = usesOfItem(uses, it)
    widest('object', it.depth * 2 + kind.length + name.length + 4)
    const short = bold * Math.min(name.length, readable) + 8, marks = it.fold ? 0 : (n.t ? 10 : 0) + (p.a ? 12 : 0) + (p.s ? 9 : 0) + (p.x && !n.b ? 11 : 0)
    widest('name', indent(it.depth, true) / letter + short)
    widest('marked', indent(it.depth, false) / letter + short + marks)
    const lower = it.fold || p.b === (n.h ?? 0) ? 0 : p.b ?? 0
    widest('health', it.fold ? Math.min(foldHealth(page, stack, it).length + 3, 20) : health[n.h ?? 0].word.length + (lower >= trouble ? 6 : 3))
    if (it.cost !== undefined) widest('cost', Math.max(money(it.cost).length, 5 + (page.uiState.currency ?? '').length))
    if (lower) widest('below', health[lower].word.length + 3)
    if (n.i) widest('since', 6)
    if (n.r || n.m) widest('message', Math.min((n.r ?? '').length + (n.m ?? '').length + 2, 40))
    if (u) {
      widest('pods', 5)
      widest('uses', usesText(u).length)
    }
  }
  return Object.fromEntries((['name', 'marked', ...order] as const).map((c) => [c, letters[c] && Math.round(Math.max(letters[c], c === 'object' ? 0 : c.length) * letter + 18)])) as Needs
}

/** The columns that fit in the width, in display order; names keep their room. */
export function columns(width: number, need: Needs): Column[] {
  const have = new Set<Column>(['object', 'health']), add = (c: Column) => { have.add(c); width -= need[c] }
  width -= need.health
  if (need.cost && width - need.cost >= need.name) add('cost')
  // From four columns on names have their marks beside them.
  width -= Math.max(Math.min(Math.max(need.object, 180), 400), need.marked)
  for (const c of next) {
    const room = c === 'message' ? Math.min(need[c], 160) : need[c]
    if (room && room <= width) add(c)
  }
  return order.filter((c) => have.has(c))
}

/** The grid template: object and message share the remaining width. */
export function template(list: Column[], need: Needs): string {
  return list.map((c) => c === 'object' ? `minmax(${list.length < 4 ? 0 : need.marked}px, 1.3fr)` : c === 'message' ? 'minmax(0, 1fr)' : need[c] + 'px').join(' ')
}

// The treegrid of a stack, its primary view. Only visible rows are elements, so that ten thousand
// objects are as fast as fifty; aria-rowcount has the total.

import { useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from 'preact/hooks'
import { Name } from './bits.tsx'
import { KindIcon } from './icons.tsx'
import type { Page } from './page.ts'
import type { Stack } from './ui_state.ts'
import { healthOf, isQuiet, relationOf, type Item, type Shape } from './shape.ts'
import {
  above, activeOf, columns, foldHealth, indent, needs, opener, rowOf, rowsOf, template, titleOf, toggled, typed, usesOf, usesOfItem, usesText, type Column, type Row, type Uses,
} from './tree_rows.ts'
import { age, health, moment, money, optional, trouble } from './words.ts'

const rowHeight = 28
/** The number of rows that are rendered above and below the visible ones. */
const overscan = 4
const titles: { [c in Column]: string } = { object: 'Object', health: 'Health', below: 'Below', cost: 'Cost', pods: 'Pods', uses: 'Uses', since: 'Since', message: 'Message' }
const hows = { root: '', owned: '', needed: 'needs', serving: 'served by', behind: 'serves', made: 'made by' }

interface Live {
  /** The key of the active row, which may be a fold or a repeated object. */
  key: string
  node: string
  focus: boolean
  /** The typed text, and the time of its last letter. */
  text: string
  typed: number
  /** The top row, which keeps its position when rows change. */
  top: string
  offset: number
  /** The scroll position, stored because reading it from the grid forces a layout. */
  scrolled: number
  /** The index of the row that Tab focuses, and its stack: it is the fallback if the object is removed. */
  at: number
  stack: string
}

export function Tree({ page, shape }: { page: Page; shape: Shape }) {
  const stack = page.stack()!, grid = useRef<HTMLDivElement>(null)
  const [, again] = useReducer((n: number) => n + 1, 0)
  const [size, resize] = useState({ width: 0, height: 600, letter: 7.2 })
  const live = useRef<Live>({ key: '', node: '', focus: false, text: '', typed: 0, top: '', offset: 0, scrolled: 0, at: 0, stack: '' }).current
  const isOpen = opener(page, shape), rows = rowsOf(shape, isOpen), node = page.selected()
  const selected = node < 0 ? -1 : rowOf(rows, stack, live.key, node)
  const active = selected >= 0 ? selected : activeOf(rows, live.key, live.stack === stack.name ? live.at : 0)
  live.at = active
  live.stack = stack.name
  const uses = usesOf(page, stack), whole = useMemo(() => needs(page, stack, shape, uses, size.letter), [shape, uses, size.letter])
  // Where a name has no room beside the word of health, its glyph stands for it.
  const brief = size.width > 0 && size.width - whole.health < whole.name, need = brief ? { ...whole, health: 56 } : whole, list = columns(size.width, need)
  // No rows are rendered before the width is known.
  const first = page.printing ? 0 : Math.max(0, Math.floor(live.scrolled / rowHeight) - overscan), last = page.printing ? rows.length : size.width && Math.min(rows.length, Math.ceil((live.scrolled + size.height) / rowHeight) + overscan)

  useLayoutEffect(() => {
    const look = () => { const g = grid.current!; resize({ width: g.clientWidth, height: g.clientHeight, letter: letterOf(g) }) }
    const seen = new ResizeObserver(look)
    seen.observe(grid.current!)
    look()
    return () => seen.disconnect()
  }, [])

  // Keeps the scroll position when rows above change.
  useLayoutEffect(() => {
    const at = rows.findIndex((r) => r.item.key === live.top)
    if (at >= 0) {
      const to = at * rowHeight + live.offset
      if (live.scrolled !== to) scrollTo(grid.current!, to, live)
    }
    remember(rows, live)
    if (!live.focus) return
    const row = grid.current!.querySelector<HTMLElement>('[tabindex="0"]')
    if (row !== document.activeElement) row?.focus({ preventScroll: true })
  })

  // Opens and scrolls to a selection of another view.
  useEffect(() => {
    if (node < 0) return
    if (selected >= 0) return see(selected)
    const closed = above(shape, stack, node).filter((it) => !it.fold && !isOpen(it))
    if (closed.length) page.set(toggled(page, shape, closed, true))
  }, [page.choice.node, page.choice.stack, selected >= 0])

  function see(i: number) {
    show(grid.current!, i, live)
    remember(rows, live)
  }
  function select(i: number) {
    const { item } = rows[i]
    live.key = item.key
    see(i)
    live.node = page.ref(item.bad ?? item.node)
    if (live.node === page.choice.node && page.details) again(0)
    else page.set({ node: live.node })
  }
  function move(i: number) {
    live.focus = true
    select(Math.max(0, Math.min(rows.length - 1, i)))
  }
  function toggle(items: Item[], to: boolean) { page.set(toggled(page, shape, items, to)) }

  function keys(e: KeyboardEvent) {
    const row = rows[active]
    if (!row || e.metaKey || e.altKey || (e.ctrlKey && e.key !== 'Home' && e.key !== 'End')) return
    const screen = Math.max(1, Math.floor(size.height / rowHeight) - 2)
    const step = { ArrowDown: active + 1, ArrowUp: active - 1, Home: 0, End: rows.length - 1, PageDown: active + screen, PageUp: active - screen }[e.key]
    if (step !== undefined) move(step)
    else if (e.key === 'ArrowRight') {
      if (row.open === false) toggle([row.item], true)
      else if (row.open) move(active + 1)
    } else if (e.key === 'ArrowLeft') {
      if (row.open) toggle([row.item], false)
      else if (row.item.parent) move(rows.findIndex((r) => r.item === row.item.parent))
    } else if (e.key === 'Enter') {
      if (row.item.fold) toggle([row.item], !row.open)
      else {
        select(active)
        page.toDetails()
      }
    } else if (e.key === ' ' && !live.text) select(active)
    else if (e.key === '*') toggle((row.item.parent?.children ?? shape.roots).filter((it) => it.children.length || it.fold), true)
    else if (e.key === 'Escape') page.set({ node: '' })
    else if (/^[a-z.-]$/i.test(e.key) || (/^\d$/.test(e.key) && live.text)) type(e.key)
    else return
    live.key ||= row.item.key
    e.preventDefault()
    e.stopPropagation()
  }
  function type(letter: string) {
    const now = performance.now()
    live.text = (now - live.typed < 700 ? live.text : '') + letter.toLowerCase()
    live.typed = now
    setTimeout(() => { if (performance.now() - live.typed > 690) live.text = '' }, 720)
    const at = typed(page, rows, active, live.text)
    if (at >= 0) move(at)
  }
  function click(e: MouseEvent) {
    const at = e.target as HTMLElement, el = at.closest<HTMLElement>('[data-row]')
    if (!el) return
    const i = +el.dataset.row!, row = rows[i]
    live.focus = true
    select(i)
    if (row.open !== undefined && (row.item.fold || at.closest('.tree-expand'))) toggle([row.item], !row.open)
  }
  function scroll() {
    live.scrolled = grid.current!.scrollTop
    const from = Math.floor(live.scrolled / rowHeight)
    remember(rows, live)
    if (from - overscan < first || from + Math.ceil(size.height / rowHeight) > last - 1) again(0)
    else if (Math.abs(from - overscan - first) > overscan - 2) again(0)
  }

  const cells = { page, stack, uses, list, brief, now: page.now() }
  const shown: number[] = []
  for (let i = first; i < last; i++) shown.push(i)
  if (rows.length && (active < first || active >= last)) shown.push(active)
  return (
    <div class="tree" role="treegrid" aria-label={'Objects of ' + stack.name} aria-rowcount={rows.length + 1} ref={grid} onKeyDown={keys} onClick={click} onScroll={scroll}
      onFocusIn={() => { live.focus = true }} onFocusOut={(e) => { if (e.relatedTarget || !document.hasFocus()) live.focus = false }}
      style={{ '--columns': template(list, need) }}>
      <div role="rowgroup" class="tree-head">
        <div role="row" aria-rowindex={1} class="tree-row">
          {list.map((c) => <div key={c} role="columnheader" class={'tree-' + c}><span class={brief && c === 'health' ? 'unseen' : ''}>{titles[c]}</span>{c === 'cost' && page.uiState.currency && <span class="faint"> {page.uiState.currency}</span>}</div>)}
        </div>
      </div>
      <div role="rowgroup" class="tree-body" style={{ height: rows.length * rowHeight + 'px' }}>
        {shown.map((i) => <TreeRow key={rows[i].item.key} row={rows[i]} i={i} selected={i === selected} tabbable={i === active} {...cells} />)}
      </div>
      {rows.length === 0 && <p class="tree-none">No object of this stack matches the filters.</p>}
    </div>
  )
}

/** The average width of a letter. */
function letterOf(el: HTMLElement): number {
  const ctx = document.createElement('canvas').getContext('2d'), text = 'Progressing Healthy 1,234.56 moodle-1-5f4dd4c555'
  if (!ctx) return 7.2
  ctx.font = '14px ' + getComputedStyle(el).fontFamily
  return ctx.measureText(text).width / text.length
}

function remember(rows: Row[], live: Live): void {
  const at = Math.floor(live.scrolled / rowHeight)
  live.top = at > 0 ? rows[at]?.item.key ?? '' : ''
  live.offset = live.scrolled - at * rowHeight
}

function scrollTo(grid: HTMLElement, to: number, live: Live): void {
  grid.scrollTop = to
  live.scrolled = grid.scrollTop
}

/** Scrolls by the minimum that makes a row visible. */
function show(grid: HTMLElement, i: number, live: Live): void {
  const top = i * rowHeight, room = grid.clientHeight - rowHeight - 1 // the header has a border
  if (top < live.scrolled) scrollTo(grid, top, live)
  else if (top + rowHeight > live.scrolled + room) scrollTo(grid, top + rowHeight - room, live)
}

interface Cells { page: Page; stack: Stack; uses: (Uses | undefined)[]; list: Column[]; brief: boolean; now: number }

function TreeRow({ row, i, selected, tabbable, ...cells }: Cells & { row: Row; i: number; selected: boolean; tabbable: boolean }) {
  const { item } = row, { list } = cells
  return (
    <div role="row" data-row={i} tabIndex={tabbable ? 0 : -1} aria-rowindex={i + 2} aria-level={item.depth + 1} aria-posinset={row.at} aria-setsize={row.of}
      aria-expanded={row.open} aria-selected={selected} class={'tree-row' + (item.fold ? ' tree-fold' : '') + (item.context ? ' tree-context' : '')}
      style={{ top: i * rowHeight + 'px' }}>
      {list.map((c) => c === 'object' ? <ObjectCell key={c} row={row} {...cells} /> : <Cell key={c} column={c} item={item} {...cells} />)}
    </div>
  )
}

function ObjectCell({ page, stack, row, list }: Cells & { row: Row }) {
  // With few columns there is no room for marks.
  const tight = list.length < 4
  const { item } = row, { kind, name } = titleOf(page, item), place = stack.tree[item.place], n = page.node(item.node)
  const how = hows[place.w ?? 'root'], mark = (text: string, says: string) => <span class="tree-mark" title={says}>{text}</span>
  return (
    <div role="gridcell" class="tree-object" title={item.fold ? undefined : page.ref(item.node)} style={{ paddingLeft: indent(item.depth, tight) + 'px' }}>
      <span class="tree-expand" aria-hidden="true">{row.open === undefined ? '' : row.open ? '▾' : '▸'}</span>
      {how && item.depth > 0 && <span class={(tight ? 'unseen ' : '') + 'tree-how graph-' + relationOf[place.w!]}>{how} </span>}
      {kind && <><KindIcon kind={kind} /><span class="faint"> {kind} </span></>}
      <Name text={name} />
      {!item.fold && (
        <>
          {n.t && !(tight && n.h === 5) && mark(n.t, { missing: 'It is referenced, and does not exist', unread: 'It is referenced, and could not be read', virtual: 'A name without an object' }[n.t])}
          {place.a && mark('see above', 'It has its place elsewhere in this stack, and costs nothing here')}
          {place.s && (tight ? <span class="unseen">shared</span> : mark('shared', 'Other stacks have it as well'))}
          {place.x && !n.b && list.length > 4 && mark('optional', 'The stack may be well without it')}
        </>
      )}
    </div>
  )
}

function Cell({ page, stack, uses, list, brief, now, column, item }: Cells & { column: Column; item: Item }) {
  const n = page.node(item.node), p = stack.tree[item.place], own = healthOf(page, item), worstBelow = item.fold || p.b === own ? 0 : p.b ?? 0
  const u = column === 'pods' || column === 'uses' ? usesOfItem(uses, item) : undefined
  switch (column) {
    case 'health': {
      const state = health[own]
      if (!item.fold && isQuiet(page, item.node)) return <div role="gridcell" class="tree-health faint">{optional}</div>
      const hidden = worstBelow >= trouble && !list.includes('below') ? health[worstBelow] : null
      return (
        <div role="gridcell" class={'tree-health tone-' + state.tone} title={item.fold ? foldHealth(page, stack, item) : brief ? state.word : undefined}>
          {state.word && <><span aria-hidden="true">{state.glyph} </span><span class={brief ? 'unseen' : ''}>{item.fold ? foldHealth(page, stack, item) : state.word}</span></>}
          {hidden && <span class={'tone-' + hidden.tone} title={'below: ' + hidden.word}><span aria-hidden="true"> ▾{hidden.glyph}</span><span class="unseen"> below: {hidden.word}</span></span>}
        </div>
      )
    }
    case 'below': return <div role="gridcell" class={'tone-' + health[worstBelow].tone}>{worstBelow > 0 && <><span aria-hidden="true">{health[worstBelow].glyph} </span>{health[worstBelow].word}</>}</div>
    case 'cost': return <div role="gridcell" class="tree-cost">{item.cost === undefined ? '' : money(item.cost)}</div>
    case 'pods': return <div role="gridcell" class="tree-pods">{u && (item.children.length || item.fold ? u.pods : '')}</div>
    case 'uses': return <div role="gridcell" class="tree-uses" title={u && u.measured < u.pods ? `${u.measured} of ${u.pods} pods were measured` : undefined}>{u && usesText(u)}</div>
    case 'since': return <div role="gridcell" class="tree-since" title={n.i && !item.fold ? moment(n.i) : undefined}>{n.i && !item.fold ? age(now - n.i) : ''}</div>
  }
  const bad = item.bad !== undefined ? page.node(item.bad) : item.fold ? null : n
  return <div role="gridcell" class="tree-message" title={bad?.m}>{bad?.r && own >= trouble && <b>{bad.r} </b>}{bad && (bad.m ?? bad.r)}</div>
}

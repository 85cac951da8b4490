// A large stack as a picture of its parts: what comes in, the workloads with their pods, and what
// they need, each once. It is drawn as elements, so that it can be read, copied and printed.

import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { Health, Link } from './bits.tsx'
import { KindIcon } from './icons.tsx'
import { glyphs } from './impact_document.ts'
import { together, type Mark, type Marks } from './impact_marks.ts'
import { CardName } from './map.tsx'
import { middle, rounded, sheet } from './map_layout.ts'
import type { Page } from './page.ts'
import { common, partsModel, type Need, type Part, type PartsModel, type Unit } from './parts_model.ts'
import { isQuiet } from './shape.ts'
import { kinds } from './tree_rows.ts'
import type { Stack } from './ui_state.ts'
import { count, health, optional, plural, short, trouble } from './words.ts'

const wide = { entry: 250, part: 530, need: 250 }, gap = 12, margin = 16, lane = 12, head = 30
/** The width of the overview, which is beside the picture. */
const beside = 240
/** The workloads and the pods that are drawn one by one. */
const maxBlocks = 12, maxDots = 24, maxBad = 3

interface Box { x: number; y: number; width: number; height: number }
interface Placed { width: number; height: number; entries: Box[]; parts: Box[]; needs: Box[]; lines: { d: string; from: number[]; to?: number; needs: number[]; x?: number; y?: number }[]; folded: { x: number; y: number } }

/** The unhealthy workloads of a part, as many as are listed, and the others. */
function split(p: Part, open: boolean): { bad: Unit[]; more: number; rest: Unit[] } {
  const bad = p.units.filter((u) => u.health >= trouble), listed = open ? bad : bad.slice(0, maxBad)
  return { bad: listed, more: bad.length - listed.length, rest: p.units.filter((u) => u.health < trouble) }
}

const unitHeight = (u: Unit) => u.bad.length ? 92 : 62

function heightOf(p: Part, open: boolean): number {
  const { bad, more, rest } = split(p, open), single = p.units.length === 1
  return 56 + (single && !bad.length ? 0 : bad.reduce((h, u) => h + unitHeight(u) + 8, 0)) + (more ? 26 : 0) + (open && rest.length > 1 ? Math.ceil(rest.length / 3) * 26 + 8 : bad.length && rest.length ? 26 : 0)
}

/** Three columns. Parts that need the same share a lane. */
export function placeParts(m: PartsModel, open: (p: Part) => boolean): Placed {
  const sets = new Map<string, number[]>()
  m.needs.forEach((n, i) => { const key = [...n.parts].sort((a, b) => a - b).join(); sets.get(key)?.push(i) ?? sets.set(key, [i]) })
  const lanes = Math.min(sets.size, 14), first = m.entries.length ? margin + wide.entry + 40 : margin, right = first + wide.part + 34 + lanes * lane + 44
  const stacked = (x: number, width: number, heights: number[], from = margin + head): Box[] => { let y = from; return heights.map((height) => { const b = { x, y, width, height }; y += height + gap; return b }) }
  const end = (b: Box[]) => b.length ? b[b.length - 1].y + b[b.length - 1].height : margin
  const parts = stacked(first, wide.part, m.parts.map((p) => heightOf(p, open(p)))), needs = stacked(right, wide.need, m.needs.map(() => 74))
  // Entries are next to the first part that they lead to.
  const entries = stacked(margin, wide.entry, m.entries.map(() => 74), parts[Math.min(...m.entries.flatMap((e) => e.parts))]?.y)
  const mid = (b: Box) => Math.round(b.y + Math.min(b.height / 2, 60)), out = (i: number) => parts[i].x + wide.part, lines: Placed['lines'] = []
  let at = 0
  for (const [key, list] of sets) {
    const x = first + wide.part + 24 + (at++ % lanes) * lane, from = key.split(',').map(Number), [one] = list
    for (const i of from) lines.push({ from: [i], needs: list, d: rounded([[out(i), mid(parts[i])], [x, mid(parts[i])], [x, mid(needs[one])], [right - 1, mid(needs[one])]]) })
    for (const to of list) lines.push({ from, to, needs: [to], x: right - 34, y: mid(needs[to]), d: rounded([[x, mid(parts[from[0]])], [x, mid(needs[to])], [right - 1, mid(needs[to])]]) })
  }
  m.entries.forEach((e, i) => { for (const to of e.parts) lines.push({ from: [to], needs: [], d: rounded([[margin + wide.entry, mid(entries[i])], [first - 20, mid(entries[i])], [first - 20, mid(parts[to])], [first - 1, mid(parts[to])]]) }) })
  // Without needs the list of what is folded is below all cards, else below the needs.
  const folded = { x: needs.length ? right : margin, y: (needs.length ? end(needs) : Math.max(end(parts), end(entries))) + gap }, room = m.folded.size && gap + 44 + 20 * Math.min(m.folded.size, 8)
  return { width: (needs.length ? right + wide.need : first + wide.part) + margin, height: Math.max(end(parts), end(entries), folded.y - gap + room) + margin, entries, parts, needs, lines, folded }
}

/** Points as a path: a round cap on lines without a length. */
const points = (n: number, from: number, columns: number, step: number, x = 0) => Array.from({ length: n }, (_, i) => `M${x + step / 2 + (from + i) % columns * step} ${step / 2 + Math.floor((from + i) / columns) * step}h0`).join('')

function Dots({ u }: { u: Unit }) {
  const bad = u.bad.length, well = Math.min(u.pods.length - bad, Math.max(maxDots - bad, 0)), shownBad = Math.min(bad, maxDots), n = well + shownBad
  return n ? <svg class="parts-dots" width={n * 13} height="13" aria-hidden="true"><path d={points(well, 0, n, 13)} /><path class="bad" d={points(shownBad, well, n, 13)} /></svg> : null
}

/** A block of dots for each workload. */
function Blocks({ units }: { units: Unit[] }) {
  const list = units.slice(0, maxBlocks), at = (i: number, n: number, from: number) => points(n, from, 4, 5, i * 24)
  const well = (u: Unit) => Math.min(12, u.pods.length - u.bad.length), bad = (u: Unit) => Math.min(12 - well(u), u.bad.length)
  return (
    <svg class="parts-blocks" width={list.length * 24} height="16" aria-hidden="true">
      <path d={list.map((u, i) => at(i, well(u), 0)).join('')} /><path class="bad" d={list.map((u, i) => at(i, bad(u), well(u))).join('')} />
    </svg>
  )
}

const style = ({ x, y, width, height }: Box) => ({ left: x + 'px', top: y + 'px', width: width + 'px', height: height + 'px' })

interface Shared { page: Page; stack: Stack }

/** The picture; the buttons of the graph are next to it. */
export function Parts({ page, stack, marks }: Shared & { marks: Marks }) {
  const { choice } = page, model = useMemo(() => partsModel(page, stack), [page.uiState, stack, choice.root]), prefix = useMemo(() => common(model.parts.map((p) => p.name)), [model])
  const keyOf = (p: Part) => 'part:' + page.ref(p.units[0].node).replace(/[^/]*$/, '') + p.name, isOpen = (p: Part) => choice.open.includes(keyOf(p))
  const placed = useMemo(() => placeParts(model, isOpen), [model, choice.open.join()])
  const pane = useRef<HTMLDivElement>(null), row = useRef<HTMLDivElement>(null), [all, resize] = useState({ width: 0, height: 0 }), [scale, zoom] = useState(0)
  useLayoutEffect(() => {
    const look = () => resize({ width: row.current!.clientWidth, height: row.current!.clientHeight }), seen = new ResizeObserver(look)
    seen.observe(row.current!)
    look()
    return () => seen.disconnect()
  }, [])
  const fitting = (width: number) => Math.min(width / placed.width, all.height / placed.height, 1) || 1, room = scale ? all.width : all.width - beside
  const whole = fitting(all.width), z = scale || (whole >= 0.8 ? whole : Math.max(0.58, Math.min(1, room / placed.width)))
  const overview = all.width > 900 && (placed.height * z > all.height + 4 || placed.width * z > all.width + 4), size = { width: all.width - (overview ? beside : 0), height: all.height }
  const chosen = page.selected(), has = (u: Unit) => chosen >= 0 && u.members.includes(chosen)
  useLayoutEffect(() => { pane.current!.querySelector('.parts-chosen')?.scrollIntoView({ block: 'nearest', inline: 'nearest' }) }, [chosen, all.width])
  const toTrouble = () => pane.current!.querySelector<HTMLElement>('.card-bad a, a.card-bad')?.focus()
  const toggle = (p: Part) => page.set({ open: isOpen(p) ? choice.open.filter((k) => k !== keyOf(p)) : [...choice.open, keyOf(p)] })
  const at = (node: number) => ({ ...choice, node: page.ref(node) })
  const cards = { page, stack, at, has, impactOf: (u: Unit) => marks.of.get(u.node) ?? together(u.members, marks) }
  const hit = (units: Unit[]) => marks.of.size > 0 && units.some((u) => u.members.some((m) => marks.of.has(m)))
  const workloads = model.parts.reduce((n, p) => n + p.units.length, 0), [frame, framed] = useState({ x: 0, y: 0 })
  return (
    <>
      <div class="parts-row" ref={row}>
      <div class="parts" ref={pane} tabIndex={0} role="group" aria-label="Parts of the stack" onScroll={(e) => framed({ x: e.currentTarget.scrollLeft / z, y: e.currentTarget.scrollTop / z })}>
        <div class="parts-sheet" style={{ width: placed.width + 'px', height: placed.height + 'px', zoom: page.printing ? Math.min(1, sheet / placed.width) : z }}>
          {model.entries.length > 0 && <p class="parts-title" style={{ left: margin + 'px' }}>Comes in</p>}
          <p class="parts-title" style={{ left: (placed.parts[0]?.x ?? margin) + 'px' }}>{plural(workloads, 'workload')}{model.parts.length < workloads && ', by part of the app'}</p>
          {model.needs.length > 0 && <p class="parts-title" style={{ left: placed.needs[0].x + 'px' }}>What they need, each once</p>}
          <svg class="map-lines" width={placed.width} height={placed.height} aria-hidden="true">
            <defs><marker id="parts-arrow" class="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0 8 4 0 8Z" /></marker></defs>
            {placed.lines.map(({ d, from, to, needs }, i) => <path key={i} class={'line-mark' + (hit(needs.map((n) => model.needs[n])) && hit(from.flatMap((p) => model.parts[p].units)) ? ' line-impact' : '')} d={d} marker-end="url(#parts-arrow)" stroke-width={to === undefined ? 1.5 : Math.min(4, 1 + 0.1 * Math.sqrt(model.needs[to].users))} />)}
            {placed.lines.map(({ to, x, y }) => to !== undefined && model.needs[to].users > 1 && <Count key={to} n={model.needs[to].users} x={x!} y={y!} />)}
          </svg>
          {model.entries.map((e, i) => <NodeCard key={e.node} {...cards} u={e} box={placed.entries[i]} note={`leads to ${plural(e.parts.length, 'part')}`} />)}
          {model.parts.map((p, i) => <PartCard key={keyOf(p)} {...cards} p={p} box={placed.parts[i]} prefix={prefix} open={isOpen(p)} toggle={() => toggle(p)} />)}
          {model.needs.map((n, i) => <NodeCard key={n.node} {...cards} u={n} box={placed.needs[i]} note={needed(n)} title={n.why} />)}
          {model.folded.size > 0 && <Folded folded={model.folded} {...placed.folded} />}
        </div>
      </div>
      {overview && <Overview page={page} placed={placed} model={model} prefix={prefix} frame={{ ...frame, width: size.width / z, height: size.height / z }} go={(x, y) => pane.current!.scrollTo(x * z - size.width / 2, y * z - size.height / 2)} />}
      </div>
      <div class="graph-bar">
        <div class="graph-tools" role="group" aria-label="Zoom">
          <button type="button" aria-label="Zoom out" onClick={() => zoom(Math.max(0.2, z * 0.8))}>−</button>
          <button type="button" aria-label="Zoom in" onClick={() => zoom(Math.min(2, z * 1.25))}>+</button>
          <button type="button" onClick={() => zoom(Math.max(0.15, whole))}>Fit</button>
          {model.parts.some((p) => p.health >= trouble) && <button type="button" onClick={toTrouble}>To trouble</button>}
        </div>
        <Depth page={page} depth="workloads" />
      </div>
    </>
  )
}

/** How many objects a line stands for. */
function Count({ n, x, y }: { n: number; x: number; y: number }) {
  const text = count(n), width = 12 + text.length * 6.4
  return <g class="parts-count"><rect x={x - width / 2} y={y - 9} width={width} height="18" rx="9" /><text x={x} y={y + 4}>{text}</text></g>
}

/** Chooses between the parts and the objects. */
export function Depth({ page, depth }: { page: Page; depth: 'workloads' | 'objects' }) {
  return (
    <div class="switch" role="group" aria-label="Depth">
      {(['workloads', 'objects'] as const).map((d) => <button key={d} type="button" aria-pressed={d === depth} onClick={() => page.set({ depth: d })}>{d === 'workloads' ? 'Workloads' : 'Objects'}</button>)}
    </div>
  )
}

const needed = (n: Need) => `${n.byPods ? plural(n.users, 'pod') : plural(n.users, 'object')} ${n.users === 1 ? 'needs' : 'need'} it`

interface CardProps extends Shared { at: (node: number) => Page['choice']; has: (u: Unit) => boolean; impactOf: (u: Unit) => Mark | undefined }

/** What an impact does to a card. */
function Impacted({ mark }: { mark?: Mark }) {
  return mark ? <span class="parts-impact"><span aria-hidden="true">{glyphs[mark.tone]}</span> {mark.text}</span> : null
}

function NodeCard({ page, at, has, impactOf, u, box, note, title }: CardProps & { u: Unit; box: Box; note: string; title?: string }) {
  const n = page.node(u.node), { kind } = page.kind(n), bad = u.health >= trouble
  return (
    <Link class={`card ${bad ? 'card-bad' : ''} ${has(u) ? 'parts-chosen' : ''}`} page={page} to={at(u.node)} style={style(box)} title={[page.ref(u.node), title].filter(Boolean).join('\n')}>
      <span class="card-kind"><KindIcon kind={kind} /> <span class="parts-kind">{kind}</span><span class="card-cost">{isQuiet(page, u.node) ? <span class="faint">{optional}</span> : u.health > 0 && <Health value={u.health} />}</span></span>
      <CardName name={n.n} />
      <span class="faint">{note}</span>
      <Impacted mark={impactOf(u)} />
    </Link>
  )
}

function PartCard({ page, stack, at, has, impactOf, p, box, prefix, open, toggle }: CardProps & { p: Part; box: Box; prefix: string; open: boolean; toggle: () => void }) {
  const { bad, more, rest } = split(p, open), [first] = p.units, { kind } = page.kind(page.node(first.node)), single = p.units.length === 1
  const name = middle(p.name.slice(prefix.length) || p.name, 32), strip = (n: string) => middle(n.startsWith(prefix) ? n.slice(prefix.length) : n, 18)
  return (
    <section class={`card parts-part ${p.health >= trouble ? 'card-bad' : ''} ${p.units.some(has) ? 'parts-chosen' : ''}`} style={style(box)} aria-label={p.name}>
      <div class="parts-head">
        <KindIcon kind={kind} />
        <span class="parts-name">{single ? <Link page={page} to={at(first.node)} title={page.ref(first.node)}><b>{name}</b></Link> : <b title={p.name}>{name}</b>}{single ? <span class="faint">{kind}</span> : <button type="button" class="link" aria-expanded={open} onClick={toggle}>{plural(p.units.length, 'workload')} <span aria-hidden="true">{open ? '▾' : '▸'}</span></button>}</span>
        {single ? <Dots u={first} /> : !bad.length && <Blocks units={p.units} />}
        <span class="parts-state"><Health value={p.health} />{p.pods > 0 && <span class="faint">{count(p.well)}/{count(p.pods)}<span class="unseen"> pods well</span></span>}</span>
      </div>
      <Impacted mark={impactOf(single ? first : { ...first, node: -1, members: p.units.flatMap((u) => u.members) })} />
      {bad.map((u) => <BadUnit key={u.node} {...{ page, stack, at, has, impactOf, u }} single={single} />)}
      {more > 0 && <button type="button" class="link" onClick={toggle}>and {more} more in trouble</button>}
      {open && rest.length > 1 ? (
        <ul class="parts-rest">
          {rest.map((u) => <li key={u.node}><Link page={page} to={at(u.node)} title={page.ref(u.node)}>{strip(page.node(u.node).n)}</Link> <span class="faint">{u.pods.length > 0 && `${u.pods.length - u.bad.length}/${u.pods.length}`}</span></li>)}
        </ul>
      ) : bad.length > 0 && rest.length > 0 && <div class="parts-others"><Blocks units={rest} /> <span class="faint">{count(rest.length)} more, none in trouble</span></div>}
    </section>
  )
}

/** A workload in trouble: its pods as a row of dots, the cause, and the pods in trouble by name. */
function BadUnit({ page, stack, at, has, u, single }: CardProps & { u: Unit; single: boolean }) {
  const n = page.node(u.node), { kind } = page.kind(n), ill = (i: number) => page.node(i).h ?? (page.node(i).t === 'missing' ? 5 : 0)
  const cause = (stack.causes ?? []).map((c) => c.n).find((c) => u.members.includes(c)) ?? u.bad[0] ?? u.members.reduce((a, b) => ill(b) > ill(a) && !isQuiet(page, b) ? b : a)
  const c = page.node(cause), tail = (i: number) => '…' + page.node(i).n.slice(-6), list = u.bad.slice(0, maxBad)
  return (
    <div class="parts-unit">
      <div class="card-row">
        {single ? <span class="faint">{health[u.health].word}</span> : <Link page={page} to={at(u.node)} title={page.ref(u.node)} class={has(u) ? 'parts-chosen' : ''}><span class="faint">{kind} </span><b>{middle(n.n, 32)}</b></Link>}
        {!single && <span><Dots u={u} /> {u.pods.length > 0 && <b>{u.pods.length - u.bad.length}/{u.pods.length}</b>}</span>}
      </div>
      <Link page={page} to={at(cause)} class="parts-cause"><b>{c.t === 'missing' ? short(page.ref(cause)) + ' is missing' : c.r ?? health[c.h ?? 0].word}</b>{u.bad.length > 0 ? ` in ${plural(u.bad.length, 'pod')}` : c.m ? ' ' + middle(c.m, 40) : ''}</Link>
      {list.length > 0 && <div class="parts-pods">{list.map((i) => <Link key={i} page={page} to={at(i)} title={page.ref(i)}><span class="tone-bad" aria-hidden="true">{health[page.node(i).h ?? 0].glyph}</span> {tail(i)}</Link>)}{u.bad.length > maxBad && <span>and {u.bad.length - maxBad} more</span>}</div>}
    </div>
  )
}

function Folded({ folded, x, y }: { folded: Map<string, number>; x: number; y: number }) {
  const list = [...folded].sort((a, b) => b[1] - a[1]).slice(0, 8)
  return (
    <div class="parts-folded" style={{ left: x + 'px', top: y + 'px', width: wide.need + 'px' }}>
      <b>In the card of what they belong to</b>
      <ul>{list.map(([kind, n]) => <li key={kind}><KindIcon kind={kind} /> {count(n)} {n > 1 ? kinds(kind) : kind}</li>)}</ul>
    </div>
  )
}

/** All parts, small, with the part of the picture that is in sight. */
function Overview({ page, placed, model, prefix, frame, go }: { page: Page; placed: Placed; model: PartsModel; prefix: string; frame: Box; go: (x: number, y: number) => void }) {
  const z = Math.min((beside - 20) / placed.width, 600 / placed.height)
  const jump = (e: MouseEvent) => { const box = (e.currentTarget as Element).getBoundingClientRect(); go((e.clientX - box.left) / z, (e.clientY - box.top) / z) }
  const box = (b: Box, text: string, bad: boolean, key: string) => <g key={key}><rect x={b.x * z} y={b.y * z} width={b.width * z} height={b.height * z} class={bad ? 'bad' : ''} />{b.height * z > 7 && <text x={b.x * z + 3} y={b.y * z + Math.min(b.height * z / 2 + 3, 11)}>{bad && '✖ '}{text}</text>}</g>
  return (
    <aside class="parts-overview" aria-label="Overview"><svg width={placed.width * z} height={placed.height * z} onClick={jump} role="img" aria-label="All parts, and what of them is in sight">
      {placed.parts.map((b, i) => box(b, middle(model.parts[i].name.slice(prefix.length), 16), model.parts[i].health >= trouble, 'p' + i))}
      {placed.needs.map((b, i) => box(b, middle(page.node(model.needs[i].node).n, 8), model.needs[i].health >= trouble, 'n' + i))}
      <rect class="frame" x={frame.x * z} y={frame.y * z} width={Math.min(frame.width, placed.width) * z} height={Math.min(frame.height, placed.height) * z} />
    </svg></aside>
  )
}

// The system as a picture: stacks as cards, what they share as cards of its own, who needs whom
// as lines.

import type { ComponentChildren, VNode } from 'preact'
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { Command, Health, Link, useMedia } from './bits.tsx'
import { commandOf } from './commands.ts'
import { KindIcon } from './icons.tsx'
import { broken, chosen, isBroken, mapModel, portOf, titleOf, type Card, type Line, type MapModel } from './map_model.ts'
import { cardsUpTo, curves, headHeight, listed, middle, placeCards, sheet, type Curve, type Placed, type Region, type Side } from './map_layout.ts'
import type { Choice, Page } from './page.ts'
import { cluster as ofCluster, showsCluster, wantedStacks } from './table.ts'
import type { Stack } from './ui_state.ts'
import { age, count, health, money, plural, short, trouble } from './words.ts'

/** Up to this many stacks each one is a chip; above, a namespace is a tile. */
const chipsUpTo = 300
/** Above this many stacks what is broken stands over the map, and the map has the width. */
const railed = 40
/** The characters of a name that are shown. */
const shown = 30
/** The pods that a card shows one by one. */
const dots = 12

export interface MapProps { page: Page; model: MapModel; wanted: Set<string> }

export function StackMap({ page, children }: { page: Page; children: ComponentChildren }) {
  const cluster = showsCluster(page), { uiState, choice } = page, whole = useMemo(() => mapModel(page, uiState.stacks), [uiState])
  const model = useMemo(() => chosen(page, whole), [whole, cluster, choice.namespaces.join(), choice.labels.join(), choice.group])
  const wanted = new Set(wantedStacks(page).map((s) => s.name)), stacks = model.cards.filter((c) => c.stack).length
  const wide = useMedia('(min-width: 1025px)') || page.printing, rail = wide && (!LARGE || stacks <= railed)
  const props = { page, model, wanted }
  const Level = LARGE && stacks > cardsUpTo ? Regions : wide ? Parts : Cards
  return (
    <div class={'map' + (rail ? ' map-railed' : '') + (choice.tone ? ' map-toned' : '')}>
      <div class="map-main">
        {!rail && <Broken {...props} strip />}
        <Level {...props} />
        {!rail && stacks <= railed && <Unrelated {...props} />}
        {children}
      </div>
      {rail && <Rail {...props} />}
    </div>
  )
}

/** The name on a card: a long one is smaller, and cut in the middle. */
export function CardName({ name }: { name: string }) {
  return <b class={'card-name' + (name.length > 24 ? ' card-long' : '')}>{middle(name, shown)}</b>
}

/** Where a card leads: to the stack, or to the part in a stack that needs it. */
function toCard(page: Page, m: MapModel, c: Card): Choice {
  if (c.stack) return page.inStack(c.key)
  const user = m.lines.find((l) => m.cards[l.to] === c && m.cards[l.from].stack)
  return user ? page.inStack(m.cards[user.from].key, c.key) : page.whereIs(c.key)
}

/** What a card needs, without what is optional. */
const needsOf = (m: MapModel, at: number) => m.lines.filter((l) => l.from === at && !l.optional).map((l) => m.cards[l.to])

/** The causes of a stack in words, the first one and their number. */
function causeOf(page: Page, s: Stack): { text: string; by: string; node: string } | undefined {
  const all = (s.causes ?? []).filter((c) => page.uiState.nodes[c.n]), [first] = all
  if (!first) return
  const n = page.node(first.n), ref = short(page.ref(first.n)), more = all.length > 1 ? `, and ${all.length - 1} more` : ''
  const by = first.o >= 0 && page.uiState.nodes[first.o] ? 'needed by ' + short(page.ref(first.o)) : n.m ?? ''
  return n.t === 'missing' ? { text: `${ref} is missing${more}`, by, node: page.ref(first.n) } : { text: (n.r ?? health[n.h ?? 0].word) + more, by: ref, node: page.ref(first.n) }
}

function Dots({ pods: [all, well], brief }: { pods: number[]; brief?: boolean }) {
  if (!all) return null
  return (
    <span class="pods">
      {!brief && all <= dots && <span aria-hidden="true">{Array.from({ length: all }, (_, i) => <i key={i} class={i < well ? 'dot' : 'dot dot-bad'} />)}</span>} {well}/{all}<span class="unseen"> pods well</span>
    </span>
  )
}

/** Own cost solid, shares of parts that others need too hatched, next to the largest of all. */
function CostBar({ c, top }: { c: Card; top: number }) {
  if (c.cost === undefined) return null
  const width = (v: number) => (top ? Math.max(0, v) / top * 100 : 0).toFixed(1) + '%'
  return <span class="cost-bar" aria-hidden="true"><i style={{ width: width(c.cost - c.shared) }} /><i class="share" style={{ width: width(c.shared) }} /></span>
}

interface CardProps extends MapProps { at: number; top: number; class?: string; box?: { x: number; y: number; width: number }; point: (at: number) => void }

function StackCard({ page, model, at, top, wanted, class: more = '', box, point }: CardProps) {
  const c = model.cards[at], { kind, name } = titleOf(c), s = c.stack!, bad = isBroken(c.health), cause = bad ? causeOf(page, s) : undefined
  return (
    <Link class={`card ${bad ? 'card-bad' : ''} ${wanted.has(c.key) ? '' : 'card-dim'} ${more}`} page={page} to={toCard(page, model, c)} title={c.key} style={{ ...(box && place(box)), ...toned(c.cost, top) }} onMouseEnter={() => point(at)} onMouseLeave={() => point(-1)} onFocus={() => point(at)} onBlur={() => point(-1)}>
      <span class="card-kind"><KindIcon kind={kind} /> {kind || 'label'}{s.groupedBy && <> by {s.groupedBy}</>}<b class="card-cost">{c.cost === undefined ? <span class="faint">no cost</span> : money(c.cost)}</b></span>
      <CardName name={name} />
      <span class="card-row"><Health value={c.health} /><Dots pods={c.pods} /></span>
      {cause && <span class="card-cause"><b>{middle(cause.text, 36)}</b><span>{middle(cause.by, s.since ? 24 : 36)}{s.since ? ', for ' + age(page.now() - s.since) : ''}</span></span>}
      <span class="card-foot"><CostBar c={c} top={top} /><span>{c.cost === undefined ? c.pods[0] === 0 ? 'no pod runs now' : '' : c.shared ? `${money(c.cost - c.shared)} own + ${money(c.shared)} shared` : page.uiState.sharedAmong === 'alone' ? 'all that it needs' : 'all its own'}</span></span>
      <span class="unseen">{needsOf(model, at).map((c, i) => (i ? ', ' : ', needs ') + titleOf(c).name)}</span>
    </Link>
  )
}

function PartCard({ page, model, at, top, class: more = '', box, point }: CardProps) {
  const c = model.cards[at], { kind, name } = titleOf(c)
  const payers = [...c.payers]
  return (
    <Link class={`card part ${isBroken(c.health) ? 'card-bad' : ''} ${more}`} page={page} to={toCard(page, model, c)} title={c.key} style={{ ...(box && place(box)), ...toned(c.cost, top) }} onMouseEnter={() => point(at)} onMouseLeave={() => point(-1)} onFocus={() => point(at)} onBlur={() => point(-1)}>
      <span class="card-kind"><KindIcon kind={kind} /> {kind}{c.cost !== undefined && <b class="card-cost">{money(c.cost)}</b>}</span>
      <CardName name={name} />
      <span class="card-row">{c.health > 0 && <Health value={c.health} />}<span class="card-users">{plural(c.users, 'needs it', 'need it')}</span><Dots pods={c.pods} brief /></span>
      {payers.length > 0 && (
        <span class="payers">
          {payers.slice(0, listed).map(([key, paid]) => <span key={key}><span>{middle(short(key).replace(/^.*\//, ''), 30)}</span><span>{money(paid)}</span></span>)}
          {payers.length > listed && <span>and {payers.length - listed} more</span>}
        </span>
      )}
    </Link>
  )
}

const place = ({ x, y, width }: { x: number; y: number; width: number }) => ({ left: x + 'px', top: y + 'px', width: width + 'px' })

/** How dark a card is, where the tone says the cost. */
const toned = (cost: number | undefined, top: number) => ({ '--cost': Math.max(0, (cost ?? 0) / top).toFixed(3) })

/** The largest cost of a card. */
const topCost = (m: MapModel) => Math.max(1, ...m.cards.map((c) => c.cost ?? 0))

/** Cards with lines. */
function Parts(props: MapProps) {
  const { page, model } = props, placed = useMemo(() => placeCards(model), [model]), top = topCost(model)
  const [pointed, point] = useState(-1), [line, lineAt] = useState(-1), scroll = useRef<HTMLDivElement>(null), [room, measure] = useState(0)
  useLayoutEffect(() => {
    const seen = new ResizeObserver(() => measure(scroll.current!.clientWidth))
    seen.observe(scroll.current!)
    return () => seen.disconnect()
  }, [])
  // A map that is a little too wide is a little smaller, so that nothing is out of sight.
  const scale = Math.min(1, page.printing ? sheet / placed.width : Math.max(0.85, (room || placed.width) / placed.width))
  const near = new Set<number>()
  model.lines.forEach((l, i) => { if (i === line || pointed >= 0 && (l.from === pointed || l.to === pointed)) { near.add(l.from); near.add(l.to) } })
  return (
    <div ref={scroll} class="map-scroll" tabIndex={0} role="group" aria-label="Map of the stacks">
      <div class={'map-sheet' + (pointed >= 0 || line >= 0 ? ' pointing' : '')} style={{ width: placed.width + 'px', height: placed.height + 'px', zoom: scale }}>
        {placed.regions.map((r) => <RegionBox key={r.name} region={r} model={model} page={page} />)}
        <svg class="map-lines" width={placed.width} height={placed.height} aria-hidden="true">
          <defs>
            {['', '-near'].map((kind) => <marker key={kind} id={'arrow' + kind} class={'arrow' + kind} viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0 8 4 0 8Z" /></marker>)}
          </defs>
          {model.lines.map((l, i) => l.optional && !(near.has(l.from) && near.has(l.to)) ? null : <LinePath key={i} line={l} d={placed.paths[i]} near={i === line || pointed === l.from || pointed === l.to} point={(on) => lineAt(on ? i : -1)} />)}
        </svg>
        {model.cards.map((c, i) => c.stack
          ? <StackCard key={c.key} {...props} at={i} top={top} box={placed.boxes[i]} point={point} class={near.has(i) ? 'card-near' : ''} />
          : <PartCard key={c.key} {...props} at={i} top={top} box={placed.boxes[i]} point={point} class={near.has(i) ? 'card-near' : ''} />)}
        {line >= 0 && <Tip page={page} line={model.lines[line]} at={placed.middles[line]} placed={placed} />}
      </div>
      <Legend page={page} lines={legend} top={top} />
    </div>
  )
}

function LinePath({ line, d, near, point }: { line: Line; d: string; near: boolean; point: (on: boolean) => void }) {
  return (
    <g class={`line ${line.inferred ? 'inferred' : ''} ${line.optional ? 'optional' : ''} ${near ? 'near' : ''}`} onMouseEnter={() => point(true)} onMouseLeave={() => point(false)}>
      <path class="line-halo" d={d} /><path class="line-mark" d={d} marker-end={near ? 'url(#arrow-near)' : 'url(#arrow)'} />
      {portOf(line) && <PortText d={d} port={portOf(line)} />}
    </g>
  )
}

/** The port on a line, beside its arrow. */
function PortText({ d, port }: { d: string; port: string }) {
  const [before, , x, y] = d.match(/-?[\d.]+/g)!.slice(-4).map(Number), back = before > x
  return <text class="line-port" x={x + (back ? 12 : -12)} y={y - 4} text-anchor={back ? 'start' : 'end'}>{port}</text>
}

/** Why a line is there. */
function Tip({ page, line, at, placed }: { page: Page; line: Line; at: { x: number; y: number }; placed: Placed }) {
  const { node, edge } = line.evidence[0], more = line.evidence.length - 1
  const left = Math.max(8, Math.min(at.x + 12, placed.width - 320))
  return (
    <div class="tip" role="tooltip" style={{ left: left + 'px', top: at.y + 8 + 'px' }}>
      <div><b>{short(page.ref(node))}</b> needs <b>{short(page.ref(edge.t))}</b></div>
      {edge.w && <code>{edge.w}</code>}
      {edge.p && <div>port {edge.p}</div>}
      <div class="tip-how">{edge.i ? 'inferred' : `said by the ${edge.v === 'env' ? 'environment' : edge.v}`}{more > 0 && `, and ${plural(more, 'more reference')}`}</div>
    </div>
  )
}

const nameOfRegion = (page: Page, name: string) => name || (page.choice.group ? 'Of no System app' : 'For the whole cluster')

function RegionHead({ page, model, name, cards }: { page: Page; model: MapModel; name: string; cards: number[] }) {
  const stacks = cards.map((i) => model.cards[i]).filter((c) => c.stack), bad = stacks.filter((c) => isBroken(c.health)).length
  const priced = stacks.filter((c) => c.cost !== undefined)
  return (
    <h3 class="region-head"><span class={name.length > 24 ? 'card-long' : ''} title={name}>{middle(nameOfRegion(page, name), shown)}</span>
      {bad > 0 ? <span class="tone-bad"><span aria-hidden="true">✖</span> {bad} of {stacks.length}</span> : <span class="faint">{stacks.length ? plural(stacks.length, 'stack') : 'shared'}</span>}
      {priced.length > 0 && <span class="region-cost">{money(priced.reduce((sum, c) => sum + c.cost!, 0), page.uiState.currency)}</span>}
    </h3>
  )
}

function RegionBox({ region: r, ...rest }: { region: Region; model: MapModel; page: Page }) {
  return <section class="region" aria-label={nameOfRegion(rest.page, r.name)} style={{ ...place(r), height: r.height + 'px' }}><div style={{ height: headHeight + 'px' }}><RegionHead {...rest} name={r.name} cards={r.cards} /></div></section>
}

const legend: [string, ComponentChildren][] = [
  ['needs, as its spec says', <svg width="44" height="8"><path class="line-mark" d="M0 4H36" /><path class="arrow" d="M36 0 44 4 36 8Z" /></svg>],
  ['needs, inferred', <svg width="44" height="8"><path class="line-mark dashed" d="M0 4H36" /><path class="arrow" d="M36 0 44 4 36 8Z" /></svg>],
  ['shared: stands once, its cost is split', <i class="sample-part" />],
  ['cost: own, and share of shared parts', <span class="cost-bar"><i style={{ width: '55%' }} /><i class="share" style={{ width: '45%' }} /></span>],
  ['pods: well, not well', <span class="pods"><i class="dot" /><i class="dot dot-bad" /></span>],
]

function Legend({ page, lines, top }: { page: Page; lines: typeof legend; top: number }) {
  const all = page.choice.tone ? [...lines, ['darker: costs more, up to ' + money(top, page.uiState.currency), <i class="sample-tone" />] as typeof legend[0]] : lines
  return <ul class="map-legend" aria-label="Reading the map">{all.map(([text, mark]) => <li key={text}><span class="sample" aria-hidden="true">{mark}</span> {text}</li>)}</ul>
}

/** Narrow windows: a column of cards, broken ones first, what they need in words. */
function Cards(props: MapProps) {
  const { page, model } = props, top = topCost(model), first = broken(model), order = [...first, ...model.cards.map((_, i) => i).filter((i) => !first.includes(i))]
  return (
    <ul class="map-column">
      {order.map((i) => {
        const needed = needsOf(model, i)
        return (
          <li key={model.cards[i].key}>
            {model.cards[i].stack ? <StackCard {...props} at={i} top={top} point={() => {}} /> : <PartCard {...props} at={i} top={top} point={() => {}} />}
            {needed.length > 0 && <p class="faint map-needs">needs {needed.map((c, n) => <>{n > 0 && ', '}<Link page={page} to={toCard(page, model, c)}>{middle(titleOf(c).name, shown)}</Link></>)}</p>}
          </li>
        )
      })}
    </ul>
  )
}

/** Up to this many lines are all shown; of more, those of what one points at. */
const readable = 150

const regionLegend: typeof legend = [
  ['its stacks need the part; where one points, how many of them do', <svg width="44" height="8"><path class="line-mark" d="M0 4H44" /></svg>], legend[2],
]

/** The regions in two columns, with their stacks by name or as a tile, and the parts that more than one stack needs between them. */
function Regions(props: MapProps) {
  const { page, model } = props, [pointed, point] = useState(-1), [region, pointRegion] = useState<string>(), sheet = useRef<HTMLDivElement>(null)
  const { parts, tiled, sum, top, columns, joins } = useMemo(() => regionsOf(model), [model]), paths = useJoins(page, model, sheet, joins)
  // What one points at changes some elements; the others are kept, and not even compared.
  const kept = useMemo(() => new Map<string, VNode>(), [model, paths, page.choice, page.printing])
  const once = (key: string, make: () => VNode) => kept.get(key) ?? kept.set(key, make()).get(key)!
  const lit = new Set<number>(pointed < 0 ? [] : [pointed]), from = region ?? model.cards[pointed]?.group
  for (const l of model.lines) {
    if (l.to === pointed) lit.add(l.from)
    if (l.from === pointed || region !== undefined && !l.optional && model.cards[l.from].group === region) lit.add(l.to)
  }
  const isNear = (j: Join) => pointed === j.part || from === j.group && lit.has(j.part)
  const tile = (name: string, cards: number[], near: boolean) => once(`tile ${near} ${name}`, () => <Tile key={name} {...props} name={name} cards={cards} tone={toned(sum(cards), top)} lit={near} point={pointRegion} />)
  const chips = (name: string, cards: number[]) => once(`chips ${cards.filter((i) => lit.has(i))} ${name}`, () => <ChipRegion key={name} {...props} name={name} cards={cards} lit={lit} top={top} point={point} />)
  const column = (regions: [string, number[]][]) => (
    <div class="map-regions">{regions.map(([name, cards]) => tiled ? tile(name, cards, joins.some((j) => j.part === pointed && j.group === name)) : chips(name, cards))}</div>
  )
  return (
    <>
      <div ref={sheet} class={'map-chips' + (from !== undefined ? ' pointing' : '')} role="group" aria-label={tiled ? 'Map of the ' + (page.choice.group ? 'System apps' : 'namespaces') : 'Map of the stacks'}>
        <svg class="map-lines" width="100%" height="100%" aria-hidden="true">
          {joins.map((j, i) => (isNear(j) || joins.length <= readable) && paths[i] && once(`line ${isNear(j)} ${i}`, () => (
            <path key={i} class={`line line-mark ${isNear(j) ? 'near' : ''} ${isBroken(model.cards[j.part].health) ? 'line-bad' : ''}`} d={paths[i]!.d} />
          )))}
          {joins.map((j, i) => isNear(j) && paths[i] && <g key={i} class="count"><circle cx={paths[i].x} cy={paths[i].y} r="10" /><text x={paths[i].x} y={paths[i].y + 4}>{j.count}</text></g>)}
        </svg>
        {column(columns[0])}
        {parts.length > 0 && (
          <section class="map-shared" aria-labelledby="shared-title">
            <h3 id="shared-title">Shared parts, each once</h3>
            {parts.map((i) => once(`part ${lit.has(i)} ${i}`, () => {
              const c = model.cards[i], { kind, name } = titleOf(c)
              return (
                <Link key={c.key} id={'part-' + i} class={`card part ${isBroken(c.health) ? 'card-bad' : ''} ${lit.has(i) ? 'card-near' : ''}`} page={page} to={toCard(page, model, c)} title={c.key} style={toned(c.cost, top)} onMouseEnter={() => point(i)} onMouseLeave={() => point(-1)} onFocus={() => point(i)} onBlur={() => point(-1)}>
                  <span class="card-kind"><KindIcon kind={kind} /> {kind}{c.cost !== undefined && <b class="card-cost">{money(c.cost)}</b>}</span>
                  <span class="card-row"><CardName name={name} /><Health value={c.health} /></span>
                  <span><b>{count(c.users)}</b> need it{c.spaces > 1 && `, in ${c.spaces} namespaces`}</span>
                </Link>
              )
            }))}
          </section>
        )}
        {column(columns[1])}
      </div>
      <Legend page={page} lines={joins.length ? regionLegend : []} top={top} />
    </>
  )
}

/** The regions in two columns of about one height, and the parts between them: those that most need, up to 12. */
function regionsOf(model: MapModel) {
  const parts = model.cards.map((_, i) => i).filter((i) => !model.cards[i].stack && (model.cards[i].pods.length || model.cards[i].cost || isBroken(model.cards[i].health)))
    .sort((a, b) => model.cards[b].users - model.cards[a].users || (model.cards[b].cost ?? 0) - (model.cards[a].cost ?? 0) || a - b).slice(0, 12)
  const groups = new Map<string, number[]>()
  model.cards.forEach((c, i) => { if (c.stack) groups.get(c.group)?.push(i) ?? groups.set(c.group, [i]) })
  const tiled = groups.size > 1 && model.cards.filter((c) => c.stack).length > chipsUpTo
  const sum = (cards: number[]) => cards.reduce((all, i) => all + (model.cards[i].cost ?? 0), 0), top = Math.max(1, ...tiled ? [...groups.values()].map(sum) : [topCost(model)])
  const columns: [string, number[]][][] = [[], []], high = [0, 0]
  for (const [name, cards] of [...groups].sort(([a], [b]) => +!a - +!b || (a < b ? -1 : 1))) {
    const at = high[0] <= high[1] ? 0 : 1
    columns[at].push([name, cards])
    high[at] += tiled ? 1 : 3 + Math.ceil(cards.length / 4)
  }
  return { parts, tiled, sum, top, columns, joins: joinsOf(model, new Set(parts)) }
}

interface Join { group: string; part: number; count: number }

/** The regions whose stacks need a part, with how many of them do. */
function joinsOf(m: MapModel, parts: Set<number>): Join[] {
  const out = new Map<string, Join>()
  for (const l of m.lines) {
    const { stack, group } = m.cards[l.from], key = group + ' ' + l.to
    if (!stack || l.optional || !parts.has(l.to)) continue
    const join = out.get(key)
    if (join) join.count++
    else out.set(key, { group, part: l.to, count: 1 })
  }
  return [...out.values()]
}

/** Where the lines from regions to parts are, and the start of each: undefined where they are not side by side. */
function useJoins(page: Page, model: MapModel, sheet: { current: HTMLDivElement | null }, joins: Join[]): (Curve | undefined)[] {
  const [paths, set] = useState<(Curve | undefined)[]>([])
  const measure = () => {
    const origin = sheet.current!.getBoundingClientRect(), regions = new Map<string, Side>(), parts = new Map<number, Side>()
    const side = (e: Element): Side => {
      const { left, right, top, height } = e.getBoundingClientRect()
      return { left: left - origin.left, right: right - origin.left, top: top - origin.top, height }
    }
    for (const e of sheet.current!.querySelectorAll<HTMLElement>('[data-region]')) regions.set(e.dataset.region!, side(e))
    for (const { part } of joins) if (!parts.has(part)) parts.set(part, side(document.getElementById('part-' + part)!))
    set(curves(joins.map(({ group, part }) => [regions.get(group), parts.get(part)])))
  }
  useLayoutEffect(() => {
    const seen = new ResizeObserver(measure)
    seen.observe(sheet.current!)
    return () => seen.disconnect()
  }, [model, page.choice])
  return paths
}

function ChipRegion({ page, model, wanted, name: group, cards, lit, top, point }: MapProps & { name: string; cards: number[]; lit: Set<number>; top: number; point: (at: number) => void }) {
  const key = 'ns:' + group, opened = page.choice.open.includes(key)
  const longest = Math.max(...cards.map((i) => titleOf(model.cards[i]).name.length))
  const quiet = cards.length > cardsUpTo && cards.every((i) => model.cards[i].health < trouble) && !page.choice.search && !page.choice.health.length
  return (
    <section class="region" aria-label={nameOfRegion(page, group)} data-region={group}>
      <RegionHead page={page} model={model} name={group} cards={cards} />
      {quiet && !opened
        ? <button type="button" class="link region-fold" onClick={() => page.set({ open: [...page.choice.open, key] })}><span class="tone-good" aria-hidden="true">✔</span> {plural(cards.length, 'stack')}, none broken: show them</button>
        : (
          <ul class="chip-list" style={{ '--chip': Math.min(shown, longest) + 'ch' }}>
            {cards.map((i) => {
              const c = model.cards[i], { name } = titleOf(c), { glyph, tone, word } = health[c.health]
              return (
                <li key={c.key}>
                  <Link class={`stack-chip ${isBroken(c.health) ? 'card-bad' : ''} ${lit.has(i) ? 'card-near' : ''} ${wanted.has(c.key) ? '' : 'card-dim'}`} page={page} to={toCard(page, model, c)} title={c.key} style={toned(c.cost, top)} onMouseEnter={() => point(i)} onMouseLeave={() => point(-1)} onFocus={() => point(i)} onBlur={() => point(-1)}>
                    <span class={'tone-' + tone} aria-hidden="true">{glyph || '·'}</span> {middle(name, shown)}<span class="unseen"> {word}</span>
                  </Link>
                </li>
              )
            })}
          </ul>
        )}
    </section>
  )
}

/** A region as a tile: what is broken, how many stacks, what they cost. It opens as a map of its own. */
function Tile({ page, model, wanted, name, cards, tone, lit, point }: MapProps & { name: string; cards: number[]; tone: { [name: string]: string }; lit: boolean; point: (name?: string) => void }) {
  const all = cards.map((i) => model.cards[i]).filter((c) => wanted.has(c.key)), bad = all.filter((c) => isBroken(c.health)), priced = all.filter((c) => c.cost !== undefined)
  return (
    <Link class={`card tile ${bad.length ? 'card-bad' : ''} ${lit ? 'card-near' : ''} ${all.length ? '' : 'card-dim'}`} page={page} to={{ ...page.choice, [page.choice.group ? 'labels' : 'namespaces']: [name || ofCluster] }} region={name} style={tone} onMouseEnter={() => point(name)} onMouseLeave={() => point()} onFocus={() => point(name)} onBlur={() => point()}>
      <span class="card-row"><CardName name={nameOfRegion(page, name)} />{bad.length ? <span class="tone-bad"><span aria-hidden="true">✖</span> {bad.length} of {count(all.length)}</span> : <span class="faint">{plural(all.length, 'stack')}</span>}{priced.length > 0 && <b class="card-cost">{money(priced.reduce((sum, c) => sum + c.cost!, 0))}</b>}</span>
      {bad.length > 0 && <span class="faint">{bad.slice(0, 3).map((c) => middle(titleOf(c).name, 16)).join(', ')}{bad.length > 3 && ` and ${bad.length - 3} more`}</span>}
    </Link>
  )
}

/** What is broken, with its cause and what depends on it. */
function Broken({ page, model, strip }: MapProps & { strip?: boolean }) {
  const all = broken(model), limit = strip ? 3 : 5
  const unknown = model.cards.filter((c) => c.stack && (c.health === 0 || c.health === 3)).length
  if (!all.length) return strip ? null : unknown ? <p>Nothing is known to be broken; the health of {plural(unknown, 'stack')} is unknown.</p> : <p><span class="tone-good" aria-hidden="true">✔</span> Nothing is broken.</p>
  return (
    <ul class={strip ? 'broken broken-strip' : 'broken'} aria-label="What is broken">
      {all.slice(0, limit).map((i) => {
        const c = model.cards[i], cause = c.stack && causeOf(page, c.stack), n = c.dependants, { kind, name } = titleOf(c)
        const why = cause ? page.inStack(c.key, cause.node) : toCard(page, model, c), part = c.stack ? undefined : page.node(c.node)
        return (
          <li key={c.key}>
            <span class="broken-head"><KindIcon kind={kind} /> <b>{strip && c.namespace && c.namespace + ' / '}{middle(name, shown)}</b>{c.stack?.since ? <span class="faint">{age(page.now() - c.stack.since)}</span> : null}</span>
            <b class="tone-bad">{cause?.text ?? part?.r ?? health[c.health].word}</b>
            {(cause?.by || part?.m) && <bdi>{cause?.by || part!.m}</bdi>}
            <span class="broken-foot"><span class="faint">{n ? `${plural(n, 'stack depends', 'stacks depend')} on it` : 'nothing depends on it'}</span><Link page={page} to={why}>Show why</Link></span>
          </li>
        )
      })}
      {all.length > limit && <li class="broken-more"><button type="button" class="link" onClick={() => page.set({ as: 'table', health: [6, 5] }, true)}>and {all.length - limit} more</button></li>}
    </ul>
  )
}

function Rail(props: MapProps) {
  const { page, model } = props, stacks = model.cards.filter((c) => c.stack), bad = broken(model), { currency = '', window } = page.uiState
  const priced = stacks.filter((c) => c.cost !== undefined).sort((a, b) => b.cost! - a.cost!), top = topCost(model)
  const parts = model.cards.map((_, i) => i).filter((i) => !model.cards[i].stack).map((i) => ({ i, n: model.cards[i].dependants })).sort((a, b) => b.n - a.n || a.i - b.i)
  return (
    <aside class="map-rail" aria-label="At a glance">
      <h3>What is broken <span class="faint">{bad.length ? `${bad.filter((i) => model.cards[i].stack).length} of ${plural(stacks.length, 'stack')}` : ''}</span></h3>
      <Broken {...props} />
      {priced.length > 0 && (
        <section>
          <h3>What it costs <b>{money(priced.reduce((sum, c) => sum + c.cost!, 0), currency)}</b> <span class="faint">{window ? 'in ' + age(window.hours * 3600) : 'a month'}</span></h3>
          <ul class="rail-costs">
            {priced.slice(0, 8).map((c) => <li key={c.key}><Link page={page} to={toCard(page, model, c)} title={c.key}>{middle(titleOf(c).name, shown)}</Link><CostBar c={c} top={top} /><span>{money(c.cost!)}</span></li>)}
          </ul>
          {priced.length > 8 && <p><button type="button" class="link" onClick={() => page.go('costs')}>all {count(priced.length)} stacks</button></p>}
        </section>
      )}
      {parts.length > 0 && (
        <section>
          <h3>Shared parts <span class="faint">if it fails</span></h3>
          <ul class="rail-parts">
            {parts.slice(0, 8).map(({ i, n }) => {
              const c = model.cards[i], { kind, name } = titleOf(c)
              return <li key={c.key}><KindIcon kind={kind} /> <Link page={page} to={toCard(page, model, c)} title={c.key}>{middle(name, shown)}</Link><span class="faint">{plural(n, 'stack')} may break</span></li>
            })}
          </ul>
          {parts.length > 8 && <p class="faint">and {parts.length - 8} more</p>}
        </section>
      )}
      <Unrelated {...props} />
      <section><h3>The same as a file</h3><Command text={commandOf(page, 'HTML')} /></section>
    </aside>
  )
}

/** The lines of the list of what is in no stack. */
const restShown = 12

/** Objects in no stack, and why. */
function Unrelated({ page, model: { rest } }: MapProps) {
  if (!rest.length) return null
  return (
    <details class="in-none">
      <summary>In no stack <span class="faint">{plural(rest.reduce((sum, r) => sum + r.nodes.length, 0), 'object')}</span></summary>
      <ul>
        {rest.slice(0, restShown).map(({ kind, why, nodes }) => (
          <li key={kind + why}>{nodes.length > 1 && count(nodes.length) + ' '}{kind} {nodes.slice(0, 3).map((i, at) => <>{at > 0 && ', '}{FILE ? page.node(i).n : <Link class="link" page={page} to={page.whereIs(page.ref(i))}>{page.node(i).n}</Link>}</>)}{nodes.length > 3 && ' ...'} <span class="faint">{why}</span></li>
        ))}
      </ul>
      {rest.length > restShown && <p class="faint">and {plural(rest.slice(restShown).reduce((sum, r) => sum + r.nodes.length, 0), 'more object')}: find them by name</p>}
    </details>
  )
}

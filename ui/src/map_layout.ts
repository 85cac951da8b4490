// Where the cards and the lines of the map are. News does not move a card: its place follows from
// who needs whom and from names, and each stack has the room of a broken one. All in pixels.

import type { Card, MapModel } from './map_model.ts'
import { compare } from './table.ts'
import { visible } from './words.ts'

export const stackSize = { width: 268, height: 112, broken: 160 }
export const partWidth = 256
/** Between two columns, for lines; between two cards; inside a region, and above its first card. */
export const between = 100, gap = 20, inside = 20, headHeight = 38
/** Up to this many stacks each one is a whole card. */
export const cardsUpTo = 12
/** The width that a sheet of paper has room for. */
export const sheet = 700
const bend = 8, lane = 10

export interface Box { x: number; y: number; width: number; height: number }
export interface Region extends Box { name: string; cards: number[] }
export interface Placed {
  width: number
  height: number
  regions: Region[]
  /** By card. */
  boxes: Box[]
  /** By line, as the d of an SVG path; empty where both ends are one point. */
  paths: string[]
  /** The middle of each line's longest piece, for its tip. */
  middles: { x: number; y: number }[]
}

/** The payers that a card of a part lists. */
export const listed = 5

export function heightOf(c: Card): number {
  if (c.stack) return stackSize.broken
  const rows = Math.min(c.payers.size, listed) + +(c.payers.size > listed)
  return c.health || c.pods.length || rows ? 84 + (rows && rows * 18 + 10) : 60
}

/** How far each card is from one that needs nothing. Lines that would close a circle do not count. */
export function depths(m: MapModel): number[] {
  const out: number[][] = m.cards.map(() => []), depth: number[] = m.cards.map(() => -1), open = new Set<number>()
  for (const l of m.lines) if (!l.optional) out[l.from].push(l.to)
  const visit = (i: number): number => {
    if (depth[i] >= 0) return depth[i]
    open.add(i)
    let d = 0
    for (const to of out[i]) if (!open.has(to)) d = Math.max(d, visit(to) + 1)
    open.delete(i)
    return depth[i] = d
  }
  m.cards.forEach((_, i) => visit(i))
  return depth
}

/** The map as cards in columns: who needs is left of what it needs. */
export function placeCards(m: MapModel): Placed {
  const depth = depths(m), last = Math.max(0, ...depth), linked = new Set(m.lines.flatMap((l) => [l.from, l.to]))
  const home = new Set(m.cards.filter((c) => c.stack).map((c) => c.group)), side = (i: number) => !home.has(m.cards[i].group)
  const column = m.cards.map((_, i) => last - depth[i])
  // What a region without stacks has is right of all that may need it.
  const most = Math.max(0, ...column.filter((_, i) => linked.has(i) && !side(i))), first = Math.min(last, ...column.filter((_, i) => side(i)))
  column.forEach((c, i) => { if (side(i)) column[i] = c - first + most + 1 })
  const names = [...new Set(m.cards.map((c) => c.group))].sort((a, b) => +!a - +!b || compare(a, b, false))
  const rank = ranks(m, column, names), regions: Region[] = [], wide = LARGE && widen(m, column.map((c, i) => side(i) ? -1 : linked.has(i) ? c : most + 1), most + 1)
  const lastLeft = wide ? wide.starts[most + 1] - 1 : most
  column.forEach((c, i) => { if (side(i)) column[i] = c + lastLeft - most })
  const columns = Math.max(lastLeft, ...column) + 1, left = Array.from({ length: columns + 1 }, (_, c) => inside + c * (stackSize.width + between))
  const boxes: Box[] = m.cards.map(() => ({ x: 0, y: 0, width: 0, height: 0 })), sizeOf = (c: Card) => ({ width: c.stack ? stackSize.width : partWidth, height: heightOf(c) })
  let beside = 0, under = 0
  // Regions of a wide map stand side by side on a shelf: its top, and the first free column of each depth.
  const shelf = { top: 0, next: wide ? wide.starts : [] }
  for (const name of names) {
    const right = !home.has(name), mine = m.cards.map((_, i) => i).filter((i) => m.cards[i].group === name)
    let from = right ? lastLeft + 1 : 0, to = right ? columns - 1 : lastLeft, y = right ? beside : under
    if (LARGE && wide && !right) {
      const { starts } = wide, lists = starts.slice(1).map((_, d) => mine.filter((i) => (linked.has(i) ? column[i] : wide.home) === d).sort((a, b) => +linked.has(b) - +linked.has(a) || rank[a] - rank[b]))
      const used = lists.flatMap((list, d) => list.length ? [d] : []), room = (d: number) => Math.min(lists[d].length, starts[d + 1] - starts[d])
      if (used.length > 1 || used.some((d) => shelf.next[d] + room(d) > starts[d + 1])) Object.assign(shelf, { top: under, next: starts })
      y = shelf.top
      const high = left.map(() => 0)
      for (const d of used) {
        lists[d].forEach((i, n) => {
          const c = column[i] = shelf.next[d] + n % room(d), size = sizeOf(m.cards[i])
          boxes[i] = { x: left[c], y: y + headHeight + high[c], ...size }
          high[c] += size.height + gap
        })
      }
      const [d] = used
      if (used.length === 1) { from = shelf.next[d]; to = from + room(d) - 1 }
      // A region of several depths is as wide as the map, and fills the shelf.
      shelf.next = used.length > 1 ? starts.slice(1) : shelf.next.map((c, at) => at === d ? to + 1 : c)
      add()
      continue
    }
    const stacked: number[][] = left.map(() => [])
    for (const i of mine) if (linked.has(i)) stacked[column[i]].push(i)
    for (const c of stacked) c.sort((a, b) => rank[a] - rank[b])
    const high = stacked.map((c) => c.reduce((sum, i) => sum + heightOf(m.cards[i]) + gap, -gap)), tallest = Math.max(0, ...high)
    stacked.forEach((c, at) => {
      let top = y + headHeight + Math.round((tallest - Math.max(0, high[at])) / 2)
      for (const i of c) {
        boxes[i] = { x: left[at], y: top, ...sizeOf(m.cards[i]) }
        top += boxes[i].height + gap
      }
    })
    // What has no line fills rows below.
    const alone = mine.filter((i) => !linked.has(i)), perRow = to - from + 1
    const below = y + headHeight + (tallest ? tallest + gap : 0)
    alone.forEach((i, n) => {
      boxes[i] = { x: left[from + n % perRow], y: below + Math.floor(n / perRow) * (stackSize.broken + gap), width: stackSize.width, height: stackSize.broken }
    })
    add()

    function add() {
      const height = Math.max(0, ...mine.map((i) => boxes[i].y + boxes[i].height)) - y + inside
      regions.push({ name, cards: mine, x: left[from] - inside, y, width: left[to] - left[from] + stackSize.width + 2 * inside, height })
      if (right) beside = y + height + gap
      else under = Math.max(under, y + height + gap)
    }
  }
  return { width: left[columns - 1] + stackSize.width + inside, height: Math.max(beside, under) - gap, regions, boxes, ...routes(m, boxes, column, left) }
}

/** The depths of many stacks get several columns each, so that the map is about as wide as high: where
    each begins, and the depth of cards without a line, which come as `count`. Undefined for few stacks. */
function widen(m: MapModel, depth: number[], count: number): { starts: number[]; home: number } | undefined {
  const wanted = Math.floor(Math.sqrt(0.8 * m.cards.filter((c) => c.stack).length)), cards = Array.from({ length: count + 1 }, (_, d) => depth.filter((own) => own === d).length)
  if (wanted <= count) return undefined
  const alone = cards.pop()!, home = cards.indexOf(Math.max(...cards)), wide = cards.map(() => 1)
  cards[home] += alone
  for (let n = count; n < wanted; n++) wide[cards.reduce((most, _, d) => cards[d] * wide[most] > cards[most] * wide[d] ? d : most, 0)]++
  return { starts: wide.reduce((starts, n) => [...starts, starts[starts.length - 1] + n], [0]), home }
}

/** The order of cards in their columns: by the mean of what they are linked to, a few times over. */
function ranks(m: MapModel, column: number[], names: string[]): number[] {
  const rank = m.cards.map((c, i) => names.indexOf(c.group) * 10_000 + i)
  const near: number[][] = m.cards.map(() => [])
  for (const l of m.lines) if (!l.optional) { near[l.from].push(l.to); near[l.to].push(l.from) }
  for (let sweep = 0; sweep < 6; sweep++) {
    const wanted = m.cards.map((_, i) => near[i].length ? near[i].reduce((sum, j) => sum + rank[j], 0) / near[i].length : rank[i])
    for (const name of names) {
      for (const c of new Set(column)) {
        const mine = m.cards.map((_, i) => i).filter((i) => column[i] === c && m.cards[i].group === name)
        const places = mine.map((i) => rank[i]).sort((a, b) => a - b)
        mine.sort((a, b) => wanted[a] - wanted[b] || a - b).forEach((i, n) => { rank[i] = places[n] })
      }
    }
  }
  return rank
}

/** Lines leave at the right and arrive at the left, at the row of who pays where the part lists it. */
function routes(m: MapModel, boxes: Box[], column: number[], left: number[]): Pick<Placed, 'paths' | 'middles'> {
  const order = m.lines.map((_, i) => i).sort((a, b) => boxes[m.lines[a].to].y - boxes[m.lines[b].to].y || boxes[m.lines[a].from].y - boxes[m.lines[b].from].y)
  const leaving = new Map<number, number[]>(), arriving = new Map<number, number[]>(), lanes = left.map(() => 0), channels = new Map<string, number>()
  for (const i of order) {
    leaving.get(m.lines[i].from)?.push(i) ?? leaving.set(m.lines[i].from, [i])
    arriving.get(m.lines[i].to)?.push(i) ?? arriving.set(m.lines[i].to, [i])
  }
  for (const list of arriving.values()) list.sort((a, b) => boxes[m.lines[a].from].y - boxes[m.lines[b].from].y)
  const paths: string[] = [], middles: Placed['middles'] = []
  for (const i of order) {
    const { from, to } = m.lines[i], a = boxes[from], b = boxes[to]
    const y2 = rowOf(m.cards[to], m.cards[from], b) ?? portOf(b, arriving.get(to)!, i), port = portOf(a, leaving.get(from)!, i)
    const y1 = Math.abs(port - y2) < 2 * bend ? y2 : port // no tiny step
    if (column[from] >= column[to]) { // it closes a circle: around, from the right side to the right side
      const x = Math.max(a.x + a.width, b.x + b.width) + between - lane
      const points: Point[] = [[a.x + a.width, y1], [x, y1], [x, y2], [b.x + b.width + 1, y2]]
      paths[i] = rounded(points)
      middles[i] = { x, y: (y1 + y2) / 2 }
      continue
    }
    const points: Point[] = [[a.x + a.width, y1]]
    let y = y1
    if (column[to] > column[from] + 1) {
      const way = channel(boxes.filter((_, j) => column[j] > column[from] && column[j] < column[to]), y1, y2), key = String(Math.round(way))
      const used = channels.get(key) ?? 0
      channels.set(key, used + 1)
      const free = way + (used % 3) * 4 - 4
      if (free !== y1) turn(points, laneIn(column[from]), free)
      y = free
    }
    if (y !== y2) turn(points, laneIn(column[to] - 1), y2)
    points.push([b.x - 1, y2])
    paths[i] = rounded(points)
    middles[i] = middleOf(points)
  }
  return { paths, middles }

  function laneIn(c: number): number { return left[c] + stackSize.width + 20 + (lanes[c]++ % 6) * lane }
}

type Point = [number, number]

function turn(points: Point[], x: number, y: number): void {
  points.push([x, points[points.length - 1][1]], [x, y])
}

/** Spreads the lines of a side over the upper part of a card, which a healthy one has too. */
function portOf(b: Box, lines: number[], line: number): number {
  const room = Math.min(b.height, stackSize.height), at = lines.indexOf(line) + 1
  return Math.round(b.y + room * at / (lines.length + 1))
}

/** The row of a part that lists the payer. */
function rowOf(part: Card, payer: Card, b: Box): number | undefined {
  const at = [...part.payers.keys()].indexOf(payer.key)
  return part.stack || at < 0 || at >= listed ? undefined : b.y + 84 + 5 + at * 18 + 9
}

/** The height at which a line passes between the cards of the columns on its way, with the least detour. */
function channel(cards: Box[], y1: number, y2: number): number {
  const free = (y: number) => cards.every((c) => y <= c.y - 6 || y >= c.y + c.height + 6), detour = (y: number) => Math.abs(y - y1) + Math.abs(y - y2)
  return [y1, y2, ...cards.flatMap((c) => [c.y - 10, c.y + c.height + 10])].filter(free).sort((a, b) => detour(a) - detour(b) || a - b)[0] ?? y1
}

/** The box of what a line leaves or reaches on its left or its right. */
export interface Side { left: number; right: number; top: number; height: number }
/** A line as the d of an SVG path, and where its count is. */
export interface Curve { d: string; x: number; y: number }

/** The lines from regions to the parts that their stacks need; undefined where one is not beside the
    other. The lines of a region leave it in the order of what they reach, and those of a part reach it
    in the order of the regions, so that two of them do not cross without need. */
export function curves(ends: (Side | undefined)[][]): (Curve | undefined)[] {
  const isLeft = (a: Side, b: Side) => a.right < b.left, leaving = new Map<Side, number[]>(), arriving = [new Map<Side, number[]>(), new Map<Side, number[]>()]
  const add = (lists: Map<Side, number[]>, at: Side, i: number) => lists.get(at)?.push(i) ?? lists.set(at, [i])
  ends.forEach(([a, b], i) => {
    if (!a || !b || !isLeft(a, b) && a.left <= b.right) return
    add(leaving, a, i)
    add(arriving[+isLeft(a, b)], b, i)
  })
  const out: (Curve | undefined)[] = ends.map(() => undefined), place = new Map<number, number>()
  const height = (at: Side, n: number, of: number) => at.top + Math.max(8, Math.min(at.height - 8, at.height / 2 + (n - (of - 1) / 2) * Math.min(7, (at.height - 16) / of)))
  for (const lists of arriving) for (const [b, list] of lists) list.sort((i, j) => ends[i][0]!.top - ends[j][0]!.top || i - j).forEach((i, n) => place.set(i, height(b, n, list.length)))
  for (const [a, list] of leaving) {
    list.sort((i, j) => ends[i][1]!.top - ends[j][1]!.top || i - j).forEach((i, n) => {
      const b = ends[i][1]!, left = isLeft(a, b), x = left ? a.right : a.left, to = left ? b.left - 2 : b.right + 6, y = height({ ...a, height: Math.min(a.height, 120) }, n, list.length), end = place.get(i)!, bow = (to - x) / 2
      // The counts of one region stand one after the other along their lines.
      const t = Math.min(0.8, 0.15 + 0.22 * (n % 4)), part3 = t * t * t, part2 = 3 * (1 - t) * t * t
      out[i] = { d: `M${x} ${y}C${x + bow} ${y} ${to - bow} ${end} ${to} ${end}`, x: x + bow * (3 * (1 - t) * (1 - t) * t + part2) + (to - x) * part3, y: y + (end - y) * (part2 + part3) }
    })
  }
  return out
}

/** A path through points, with rounded corners. */
export function rounded(points: Point[]): string {
  let d = `M${points[0]}`
  for (let i = 1; i < points.length; i++) {
    const [x, y] = points[i], [px, py] = points[i - 1], next = points[i + 1]
    if (!next) { d += `L${x} ${y}`; break }
    const before = Math.abs(x - px) + Math.abs(y - py), after = Math.abs(next[0] - x) + Math.abs(next[1] - y), r = Math.min(bend, before / 2, after / 2)
    const sx = Math.sign(px - x), sy = Math.sign(py - y), nx = Math.sign(next[0] - x), ny = Math.sign(next[1] - y)
    d += `L${x + sx * r} ${y + sy * r}Q${x} ${y} ${x + nx * r} ${y + ny * r}`
  }
  return d
}

function middleOf(points: Point[]): { x: number; y: number } {
  let best = 0, at = { x: points[0][0], y: points[0][1] }
  for (let i = 1; i < points.length; i++) {
    const [x, y] = points[i], [px, py] = points[i - 1], long = Math.abs(x - px) + Math.abs(y - py)
    if (long > best) { best = long; at = { x: (x + px) / 2, y: (y + py) / 2 } }
  }
  return at
}

/** Cuts a long name in the middle: its end tells it from its neighbours. */
export function middle(text: string, limit = 28): string {
  const name = visible(text)
  if (name.length <= limit) return name
  const head = Math.ceil((limit - 1) / 2)
  return name.slice(0, head) + '…' + name.slice(head + 1 - limit)
}

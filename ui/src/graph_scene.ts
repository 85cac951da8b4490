// The scene of a graph: the positions of cards and the lines between them. It is rebuilt when the
// shown objects change, never for a change of health.

import { layout, type Node as Sized } from './layout.ts'
import type { Page } from './page.ts'
import type { Edge, Stack } from './ui_state.ts'
import { healthOf, type Item, type Shape } from './shape.ts'
import { trouble } from './words.ts'

/** The size of a card at zoom 1, the same for all: its content does not affect the layout. */
export const cardWidth = 232
export const cardHeight = 74

export interface Card {
  item: Item
  x: number
  y: number
  /** The card of the parent; -1 for a root. */
  parent: number
  /** The card of the last child; -1 without. */
  last: number
  /** The line from the parent: solid for an owner, else dashed by via. */
  via: Edge['v']
  relation: number
  /** The port of the Service on it; empty for none. */
  port: string
}

/** An edge that is not in the tree. Edges of the same relation and via between two cards are merged. */
export interface Line { from: number; to: number; relation: number; via: Edge['v']; inferred: boolean }

export interface Scene {
  cards: Card[]
  width: number
  height: number
  /** The card of a node: its own, or that of the fold that contains it. */
  of: Map<number, number>
  cross: Line[]
  /** The lines at each card, by number in cross. */
  at: Map<number, number[]>
  /** What is drawn while nothing is selected: the lines between workloads, not between each of their
      pods, and without those to a hub. */
  quiet: Line[]
  /** What a hub says in place of its lines, by its card: "100 need it", "serves 100". */
  hubs: Map<number, string>
  /** The bundled lines of a hub, by its card. */
  hubLines: Map<number, Line[]>
}

/** The lines of a selected card; those of a hub are bundled. */
export function linesAt(s: Scene, at: number): Line[] {
  const lines = (s.at.get(at) ?? []).map((l) => s.cross[l]), bundle = s.hubLines.get(at)
  return bundle ? [...bundle, ...lines.filter((l) => l.relation !== bundle[0].relation)] : lines
}

/** A card with more lines of a relation than this is a hub: it has a count in place of them. */
export const hub = 12

const distances = { across: 56, between: 18, apart: 48 }

export function scene(page: Page, stack: Stack, s: Shape, aspect: number): Scene {
  const number = new Map<Item, number>(), cards: Card[] = []
  for (const item of s.items) {
    // A repeated object has one card, and further lines to it.
    if (item.depth > 0 && stack.tree[item.place].a) continue
    const parent = item.parent ? number.get(item.parent)! : -1
    number.set(item, cards.length)
    if (parent >= 0) cards[parent].last = cards.length
    cards.push({ item, x: 0, y: 0, parent, last: -1, ...hanging(page, stack, item) })
  }
  const sized = cards.map((): Sized => ({ width: cardWidth, height: cardHeight, children: [] }))
  cards.forEach((c, i) => c.parent >= 0 && sized[c.parent].children.push(sized[i]))
  const placed = layout(sized.filter((_, i) => cards[i].parent < 0), { ...distances, aspect })
  placed.boxes.forEach((b, i) => Object.assign(cards[i], b))
  const cardOf = nodes(stack, cards)
  const lines = crossing(page, stack, cards, cardOf)
  return { cards, width: placed.width, height: placed.height, of: cardOf, ...lines, ...bundled(page, cards, lines.cross) }
}

const replica = /^(Pod|ReplicaSet|Job)$/

/** Bundles lines: they lead to a workload, not to each of its pods, and one line says what several do. */
function bundled(page: Page, cards: Card[], cross: Line[]): Pick<Scene, 'quiet' | 'hubs' | 'hubLines'> {
  const owner = cards.map((_, i) => i), lines = new Map<string, Line>(), degree = new Map<number, number>()
  cards.forEach((c, i) => { if (c.parent >= 0 && c.relation === 1 && replica.test(page.kind(page.node(c.item.node)).kind)) owner[i] = owner[c.parent] })
  const hubOf = (l: Line) => l.relation === 3 ? l.from : l.to
  for (const l of cross) {
    const from = owner[l.from], to = l.relation === 3 ? owner[l.to] : l.to
    if (from !== to && !hangs(cards, from, to) && !hangs(cards, to, from)) lines.set(`${from} ${to} ${l.relation}`, lines.get(`${from} ${to} ${l.relation}`) ?? { ...l, from, to })
  }
  for (const l of lines.values()) degree.set(hubOf(l), (degree.get(hubOf(l)) ?? 0) + 1)
  const quiet: Line[] = [], hubs = new Map<number, string>(), hubLines: Scene['hubLines'] = new Map()
  for (const l of lines.values()) {
    const at = hubOf(l), n = degree.get(at)!
    if (n <= hub) { quiet.push(l); continue }
    hubs.set(at, l.relation === 3 ? `serves ${n}` : `${n} need it`)
    hubLines.get(at)?.push(l) ?? hubLines.set(at, [l])
  }
  return { quiet, hubs, hubLines }
}

/** Reports whether a scene still fits a shape; if so, its cards get the current items. */
export function keep(old: Scene, stack: Stack, s: Shape): boolean {
  const items = s.items.filter((it) => it.depth === 0 || !stack.tree[it.place].a)
  if (items.length !== old.cards.length || items.some((it, i) => it.key !== old.cards[i].item.key || it.depth !== old.cards[i].item.depth)) return false
  old.cards.forEach((c, i) => { c.item = items[i] })
  return true
}

/** The next ancestor of an item that is an object and not a fold. */
function above(item: Item): Item | null {
  let up = item.parent
  while (up?.fold) up = up.parent
  return up
}

function hanging(page: Page, stack: Stack, item: Item): Pick<Card, 'via' | 'relation' | 'port'> {
  const up = above(item), how = stack.tree[item.place].w
  if (!up || how === 'owned') return { via: 'owner', relation: 1, port: '' }
  const e = page.node(up.node).e?.find((e) => e.t === item.node) ?? page.node(item.node).e?.find((e) => e.t === up.node)
  return e ? { via: e.v, relation: e.r, port: e.p ?? '' } : { via: 'spec', relation: how === 'needed' ? 2 : 3, port: '' }
}

function nodes(stack: Stack, cards: Card[]): Map<number, number> {
  const cardOf = new Map<number, number>()
  cards.forEach((c, i) => !c.item.fold && cardOf.set(c.item.node, i))
  cards.forEach((c, i) => c.item.fold?.forEach((p) => {
    const { n } = stack.tree[p]
    if (!cardOf.has(n)) cardOf.set(n, i)
  }))
  return cardOf
}

function crossing(page: Page, stack: Stack, cards: Card[], cardOf: Map<number, number>): { cross: Line[]; at: Map<number, number[]> } {
  const cross: Line[] = [], at = new Map<number, number[]>(), seen = new Set<string>()
  const note = (card: number, line: number) => at.get(card)?.push(line) ?? at.set(card, [line])
  cards.forEach((c, from) => {
    for (const p of c.item.fold ?? [c.item.place]) {
      const { n } = stack.tree[p]
      if (cardOf.get(n) !== from) continue
      for (const e of page.node(n).e ?? []) {
        const to = cardOf.get(e.t), key = `${from} ${to} ${e.r}${e.v}`
        if (to === undefined || to === from || seen.has(key) || hangs(cards, from, to) || hangs(cards, to, from)) continue
        seen.add(key)
        const line = cross.push({ from, to, relation: e.r, via: e.v, inferred: !!e.i }) - 1
        note(from, line)
        note(to, line)
      }
    }
  })
  return { cross, at }
}

function hangs(cards: Card[], parent: number, child: number): boolean {
  let up = cards[child].parent
  while (up >= 0 && up !== parent && cards[up].item.fold) up = cards[up].parent
  return up === parent
}

/** The card that a graph opens on: the deepest of the worst ones, which is nearest to the cause; -1 if none is unhealthy. */
export function worst(page: Page, s: Scene): number {
  let at = -1, most = trouble - 1, deep = -1
  s.cards.forEach(({ item }, i) => {
    const health = healthOf(page, item)
    if (health > most || health === most && at >= 0 && item.depth > deep) [at, most, deep] = [i, health, item.depth]
  })
  return at
}

/** Offset and zoom of the scene: a point p of it is at p * z + (x, y) in the window. */
export interface View { x: number; y: number; z: number }
export interface Size { width: number; height: number }

/** The zoom from which names are readable. Fit does not go below it, unless nearly is enough to show all. */
export const readable = 0.75
const nearly = 0.62
export const minZoom = 0.02
export const maxZoom = 2
const margin = 24

/** Returns the view of the whole scene, or of the part around a card if names would be unreadable. */
export function fit(s: Scene, size: Size, around: number, floor = readable): View {
  const all = Math.min((size.width - 2 * margin) / s.width, (size.height - 2 * margin) / s.height, 1)
  const z = Math.min(Math.max(all, all >= nearly ? 0 : floor, minZoom), maxZoom)
  const center = (length: number, room: number) => (room - length * z) / 2
  const view = { z, x: center(s.width, size.width), y: center(s.height, size.height) }
  const c = s.cards[around] ?? s.cards[0]
  if (!c) return view
  const root = around < 0 || c.parent < 0
  if (s.width * z > size.width - margin) {
    view.x = between(root ? margin - c.x * z : size.width / 2 - (c.x + cardWidth / 2) * z, size.width - s.width * z - margin, margin)
  }
  if (s.height * z > size.height - margin) view.y = between(size.height / 2 - (c.y + cardHeight / 2) * z, size.height - s.height * z - margin, margin)
  return { z, x: Math.round(view.x), y: Math.round(view.y) }
}

const between = (n: number, low: number, high: number) => Math.min(Math.max(n, low), high)

/** Zooms around a point of the window. */
export function zoom(v: View, factor: number, x: number, y: number): View {
  const z = between(v.z * factor, minZoom, maxZoom)
  return { z, x: x - (x - v.x) * z / v.z, y: y - (y - v.y) * z / v.z }
}

/** Moves the view by the minimum that makes a card visible. */
export function reveal(v: View, size: Size, c: { x: number; y: number }): View {
  const move = (at: number, length: number, room: number) => at < margin ? margin - at : Math.min(0, Math.max(room - margin - length - at, margin - at))
  return {
    z: v.z,
    x: v.x + move(c.x * v.z + v.x, cardWidth * v.z, size.width),
    y: v.y + move(c.y * v.z + v.y, cardHeight * v.z, size.height),
  }
}

/** Centers a card if it is not visible. */
export function bring(v: View, size: Size, c: { x: number; y: number }): View {
  const near = reveal(v, size, c)
  if (near.x === v.x && near.y === v.y) return v
  return { z: v.z, x: Math.round(size.width / 2 - (c.x + cardWidth / 2) * v.z), y: Math.round(size.height / 2 - (c.y + cardHeight / 2) * v.z) }
}

/** The cards in a rectangle of the scene, in scene coordinates. */
export function inside(s: Scene, left: number, top: number, right: number, bottom: number): number[] {
  const out: number[] = []
  for (let i = 0; i < s.cards.length; i++) {
    const { x, y } = s.cards[i]
    if (x < right && x + cardWidth > left && y < bottom && y + cardHeight > top) out.push(i)
  }
  return out
}

/** The card that a key moves to: left is the parent, right the first child, up and down are siblings. */
export function neighbor(s: Scene, from: number, key: string): number {
  const { parent } = s.cards[from]
  if (key === 'ArrowLeft') return parent < 0 ? from : parent
  if (key === 'ArrowRight') return s.cards[from + 1]?.parent === from ? from + 1 : from
  const siblings = s.cards.flatMap((c, i) => c.parent === parent ? [i] : [])
  if (key === 'Home') return 0
  if (key === 'End') return s.cards.length - 1
  const at = siblings.indexOf(from) + (key === 'ArrowDown' ? 1 : -1)
  return siblings[at] ?? from
}

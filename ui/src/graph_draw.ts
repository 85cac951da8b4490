// Draws on the canvas: lines, and cards that are too small or too many to be elements.

import { cardHeight, cardWidth, hub, inside, linesAt, type Card, type Line, type Scene, type Size, type View } from './graph_scene.ts'
import type { Page } from './page.ts'
import type { Edge } from './ui_state.ts'
import { glyphs } from './impact_document.ts'
import type { Mark, Spread } from './impact_marks.ts'
import { healthOf, type Item } from './shape.ts'
import { titleOf } from './tree_rows.ts'
import { health, relations, trouble } from './words.ts'

/** Zoom levels: below named cards are blocks, from named on they have a name, from elements on they are buttons if there are few. */
export const named = 0.3
export const elements = 0.6

/** The dashes of a line, by the via of its edge. */
export const dashes: { [via in Edge['v']]: number[] } = { owner: [], label: [7, 4], annotation: [2, 4], spec: [10, 3, 2, 3], env: [5, 2] }

const names = ['ground', 'panel', 'line', 'text', 'faint', 'choice', 'accent', 'good', 'info', 'warn', 'bad', 'none', 'owns', 'needs', 'serves', 'impact'] as const
export type Colors = { [name in (typeof names)[number]]: string }

export function colors(el: Element): Colors {
  const style = getComputedStyle(el)
  return Object.fromEntries(names.map((n) => [n, style.getPropertyValue('--' + n).trim()])) as Colors
}

/** The two lines of a card: kind and name. A fold has the name of its worst object, if that is unhealthy, and its title. */
export function nameOf(page: Page, item: Item): { kind: string; name: string } {
  const { kind, name } = titleOf(page, item)
  return { kind: kind || (item.bad === undefined ? 'group' : page.node(item.bad).n), name }
}

export interface Drawing {
  page: Page
  scene: Scene
  view: View
  size: Size
  colors: Colors
  /** The selected card, or -1. */
  active: number
  /** The nodes of the chosen path, from end to end. */
  path: number[]
  impact: CardImpact
  /** Cards that are elements, and therefore not drawn. */
  mounted: Set<number>
}

/** The cards that an impact marks, and the lines along which it spreads between them. */
export interface CardImpact { cards: Map<number, Mark>; lines: Spread[] }

type Context = CanvasRenderingContext2D

export function draw(ctx: Context, d: Drawing): void {
  const { scene, view: { x, y, z }, size } = d
  ctx.clearRect(0, 0, size.width, size.height)
  const seen = inside(scene, -x / z, -y / z, (size.width - x) / z, (size.height - y) / z)
  ctx.lineWidth = z < named ? 1 : 1.5
  crossLines(ctx, d, seen)
  if (z < named) farLines(ctx, d)
  else treeLines(ctx, d)
  const cards = seen.filter((i) => !d.mounted.has(i))
  if (z < named) blocks(ctx, d, cards)
  else labelled(ctx, d, cards)
  if (scene.cards[d.active]) selected(ctx, d)
  chosenPath(ctx, d)
  if (LARGE) spread(ctx, d)
}

const color = (d: Drawing, relation: number) => d.colors[(relations[relation] || 'owns') as 'owns']

/** Strokes lines of the same look as one path, which is faster. */
function strokes<T>(ctx: Context, d: Drawing, things: T[], look: (t: T) => { via: Edge['v']; relation: number }, path: (t: T) => void): void {
  const groups = new Map<string, T[]>()
  for (const t of things) {
    const { via, relation } = look(t), key = via + relation
    groups.get(key)?.push(t) ?? groups.set(key, [t])
  }
  for (const group of groups.values()) {
    const { via, relation } = look(group[0])
    ctx.strokeStyle = color(d, relation)
    ctx.setLineDash(dashes[via])
    ctx.beginPath()
    group.forEach(path)
    ctx.stroke()
  }
  ctx.setLineDash([])
}

function treeLines(ctx: Context, d: Drawing): void {
  const { cards } = d.scene, { x, y, z } = d.view
  const left = -x / z, right = (d.size.width - x) / z, top = -y / z, bottom = (d.size.height - y) / z
  const lines: Card[] = []
  for (const c of cards) {
    if (c.parent < 0) continue
    const p = cards[c.parent]
    if (p.x < right && c.x > left && Math.min(p.y, c.y) < bottom && Math.max(p.y, c.y) + cardHeight > top) lines.push(c)
  }
  strokes(ctx, d, lines, (c) => c, (c) => elbow(ctx, d.view, cards[c.parent], c))
  if (z < elements) return
  ctx.fillStyle = d.colors.faint
  ctx.textAlign = 'right'
  ctx.font = `${9 * z}px sans-serif`
  for (const c of lines) {
    const number = c.port.match(/\d+$/)
    if (number) ctx.fillText(number[0], (c.x - 3) * z + x, (c.y + cardHeight / 2 - 4) * z + y)
  }
  ctx.textAlign = 'left'
}

/** Tree lines at low zoom: rectangles without dashes and curves are ten times as fast. */
function farLines(ctx: Context, d: Drawing): void {
  const { cards } = d.scene, { x, y, z } = d.view, trunk = Math.round(28 * z), width = cardWidth * z, middle = cardHeight * z / 2 + y
  ctx.fillStyle = d.colors.owns
  cards.forEach((p, i) => {
    const x1 = Math.round(p.x * z + x + width), y1 = Math.round(p.y * z + middle)
    if (p.parent >= 0) {
      const from = Math.round(cards[p.parent].x * z + x + width) + trunk
      if (y1 >= 0 && y1 < d.size.height && from < d.size.width) ctx.fillRect(from, y1, p.x * z + x - from, 1)
    }
    if (p.last < 0 || x1 > d.size.width || x1 + trunk < 0) return
    const top = Math.round(cards[i + 1].y * z + middle), bottom = Math.round(cards[p.last].y * z + middle)
    ctx.fillRect(x1, y1, trunk, 1)
    ctx.fillRect(x1 + trunk, Math.min(top, y1), 1, Math.max(bottom, y1) - Math.min(top, y1) + 1)
  })
}

function elbow(ctx: Context, { x, y, z }: View, p: Card, c: Card): void {
  const x1 = (p.x + cardWidth) * z + x, y1 = (p.y + cardHeight / 2) * z + y, x2 = c.x * z + x, y2 = (c.y + cardHeight / 2) * z + y
  const mid = x1 + 28 * z, r = Math.min(8 * z, Math.abs(y2 - y1)) * Math.sign(y2 - y1)
  ctx.moveTo(x1, y1)
  ctx.lineTo(mid, y1)
  ctx.lineTo(mid, y2 - r)
  ctx.quadraticCurveTo(mid, y2, mid + Math.abs(r), y2)
  ctx.lineTo(x2, y2)
}

function crossLines(ctx: Context, d: Drawing, seen: number[]): void {
  const near = new Set(seen)
  ctx.globalAlpha = 0.3
  strokes(ctx, d, d.scene.quiet.filter((l) => near.has(l.from) || near.has(l.to)), (l) => l, (l) => curve(ctx, bend(d, l)))
  ctx.globalAlpha = 1
}

/** The four points of a cubic curve between two cards. */
type Bend = [number, number, number, number, number, number, number, number]

function bend(d: Drawing, l: Pick<Line, 'from' | 'to'>): Bend {
  const { x, y, z } = d.view, a = d.scene.cards[l.from], b = d.scene.cards[l.to]
  const y1 = (a.y + cardHeight / 2) * z + y, y2 = (b.y + cardHeight / 2) * z + y
  const out = a.x + cardWidth <= b.x ? [1, 0] : b.x + cardWidth <= a.x ? [0, 1] : [1, 1]
  const x1 = (a.x + out[0] * cardWidth) * z + x, x2 = (b.x + out[1] * cardWidth) * z + x
  const reach = Math.min(Math.max(40 * z, Math.abs(x2 - x1) / 2), 160 * z)
  return [x1, y1, x1 + (out[0] ? reach : -reach), y1, x2 + (out[1] ? reach : -reach), y2, x2, y2]
}

function curve(ctx: Context, [x1, y1, ...rest]: Bend): void {
  ctx.moveTo(x1, y1)
  ctx.bezierCurveTo(...rest)
}

function fillTones(ctx: Context, d: Drawing, cards: number[], fill: (c: Card) => void): void {
  const groups = new Map<string, Card[]>()
  for (const i of cards) {
    const c = d.scene.cards[i], { tone } = health[healthOf(d.page, c.item)]
    groups.get(tone)?.push(c) ?? groups.set(tone, [c])
  }
  for (const [tone, group] of groups) {
    ctx.fillStyle = d.colors[tone as 'good']
    group.forEach(fill)
  }
}

/** Cards at low zoom: blocks coloured by health. Glyphs of unhealthy cards keep a minimum size. */
function blocks(ctx: Context, d: Drawing, cards: number[]): void {
  const { x, y, z } = d.view
  const width = Math.max(cardWidth * z, 2), height = Math.max(cardHeight * z, 1.5)
  ctx.globalAlpha = 0.55
  fillTones(ctx, d, cards, (c) => ctx.fillRect(c.x * z + x, c.y * z + y, width, height))
  ctx.globalAlpha = 1
  const size = Math.max(11, height * 0.9)
  ctx.font = `bold ${size}px system-ui, sans-serif`
  ctx.textAlign = 'center'
  ctx.textBaseline = 'middle'
  for (const i of cards) {
    const c = d.scene.cards[i], h = healthOf(d.page, c.item)
    if (h < 2 || h < trouble && height < 8) continue
    const cx = c.x * z + x + width / 2, cy = c.y * z + y + height / 2
    ctx.fillStyle = d.colors.panel
    ctx.fillRect(cx - size * 0.6, cy - size * 0.6, size * 1.2, size * 1.2)
    ctx.fillStyle = d.colors[health[h].tone]
    ctx.fillText(health[h].glyph, cx, cy)
  }
}

/** Cards at medium zoom: with glyph, kind and name. */
function labelled(ctx: Context, d: Drawing, cards: number[]): void {
  const { x, y, z } = d.view, width = cardWidth * z, height = cardHeight * z
  ctx.fillStyle = d.colors.ground
  ctx.strokeStyle = d.colors.line
  ctx.lineWidth = 1
  ctx.beginPath()
  for (const i of cards) ctx.rect(d.scene.cards[i].x * z + x, d.scene.cards[i].y * z + y, width, height)
  ctx.fill()
  ctx.stroke()
  fillTones(ctx, d, cards, (c) => ctx.fillRect(c.x * z + x, c.y * z + y, 5 * z, height))
  const two = height > 26, size = Math.round(Math.max(10, 15 * z))
  ctx.font = `${size}px system-ui, sans-serif`
  ctx.textAlign = 'left'
  ctx.textBaseline = 'middle'
  for (const i of cards) {
    const c = d.scene.cards[i], left = c.x * z + x + 9 * z, top = c.y * z + y, h = health[healthOf(d.page, c.item)]
    const { kind, name } = nameOf(d.page, c.item)
    ctx.globalAlpha = c.item.context ? 0.55 : 1
    ctx.fillStyle = d.colors[h.tone]
    ctx.fillText(h.glyph, left, top + height * (two ? 0.3 : 0.5))
    const indent = h.glyph ? size * 1.1 : 0
    if (two) {
      ctx.fillStyle = d.colors.faint
      ctx.fillText(cut(ctx, kind, width - 14 * z - indent, size), left + indent, top + height * 0.3)
    }
    ctx.fillStyle = d.colors.text
    ctx.fillText(cut(ctx, name, width - 14 * z - (two ? 0 : indent), size), left + (two ? 0 : indent), top + height * (two ? 0.7 : 0.5))
  }
  ctx.globalAlpha = 1
}

const widths = new Map<string, number>()

/** Shortens text in the middle: the end of a name distinguishes pods. */
export function cut(ctx: Context, text: string, room: number, size: number): string {
  const key = size + text
  let w = widths.get(key)
  if (w === undefined) {
    if (widths.size > 20_000) widths.clear()
    widths.set(key, w = ctx.measureText(text).width)
  }
  if (w <= room) return text
  const keep = Math.max(Math.floor(text.length * room / w) - 2, 2), tail = Math.ceil(keep * 0.6)
  return text.slice(0, keep - tail) + '…' + text.slice(-tail)
}

/** Draws a ring around the selected card, and its lines with labels. */
function selected(ctx: Context, d: Drawing): void {
  const { scene, view: { x, y, z }, colors } = d, c = scene.cards[d.active]
  const lines = linesAt(scene, d.active), many = lines.length > hub
  ctx.lineWidth = many ? 1 : 2
  ctx.globalAlpha = many ? 0.4 : 1
  strokes(ctx, d, lines, (l) => l, (l) => curve(ctx, bend(d, l)))
  ctx.globalAlpha = 1
  ctx.lineWidth = 2
  if (c.parent >= 0) strokes(ctx, d, [c], () => c, () => elbow(ctx, d.view, scene.cards[c.parent], c))
  if (!many) for (const l of lines) arrow(ctx, d, l, color(d, l.relation))
  if (z >= named) write(ctx, d)
  if (d.mounted.has(d.active)) return
  ctx.strokeStyle = colors.accent
  ctx.lineWidth = 3
  ctx.strokeRect(c.x * z + x - 3, c.y * z + y - 3, cardWidth * z + 6, cardHeight * z + 6)
}

/** Draws a ring around each card of the path, and thick lines between them. */
function chosenPath(ctx: Context, d: Drawing): void {
  const { scene: { cards, of }, view: { x, y, z } } = d
  ctx.strokeStyle = d.colors.accent
  ctx.lineWidth = 3
  ctx.beginPath()
  d.path.forEach((id, i) => {
    const to = of.get(id), from = of.get(d.path[i - 1])
    if (to === undefined) return
    ctx.rect(cards[to].x * z + x - 4, cards[to].y * z + y - 4, cardWidth * z + 8, cardHeight * z + 8)
    if (from === undefined || from === to) return
    if (cards[to].parent === from) elbow(ctx, d.view, cards[from], cards[to])
    else if (cards[from].parent === to) elbow(ctx, d.view, cards[to], cards[from])
    else curve(ctx, bend(d, { from, to }))
  })
  ctx.stroke()
}

/** Draws what an impact affects: rings and lines, dashed where they are inferred, with words. */
function spread(ctx: Context, d: Drawing): void {
  const { scene: { cards }, view: { x, y, z }, impact, colors } = d
  ctx.strokeStyle = colors.impact
  ctx.lineWidth = z < named ? 1.5 : 2.5
  for (const inferred of [false, true]) {
    ctx.setLineDash(inferred ? [6, 4] : [])
    ctx.beginPath()
    for (const [i, m] of impact.cards) if (m.inferred === inferred) ctx.rect(cards[i].x * z + x - 2, cards[i].y * z + y - 2, cardWidth * z + 4, cardHeight * z + 4)
    for (const l of impact.lines) if (l.inferred === inferred) {
      if (cards[l.to].parent === l.from) elbow(ctx, d.view, cards[l.from], cards[l.to])
      else if (cards[l.from].parent === l.to) elbow(ctx, d.view, cards[l.to], cards[l.from])
      else curve(ctx, bend(d, l))
    }
    ctx.stroke()
  }
  ctx.setLineDash([])
  for (const l of impact.lines) {
    if (cards[l.from].parent !== l.to) arrow(ctx, d, l, colors.impact)
    const b = bend(d, l)
    if (l.inferred && z >= named) label(ctx, d, 'inferred', (b[0] + b[6]) / 2 - 20, (b[1] + b[7]) / 2, colors.impact)
  }
  for (const [i, m] of impact.cards) {
    if (!d.mounted.has(i)) label(ctx, d, z < named ? glyphs[m.tone] : `${glyphs[m.tone]} ${m.text}`, cards[i].x * z + x, cards[i].y * z + y - (z < named ? 0 : 5), colors.impact)
  }
}

function arrow(ctx: Context, d: Drawing, l: Pick<Line, 'from' | 'to'>, fill: string): void {
  const b = bend(d, l), way = Math.sign(b[6] - b[4]) || 1
  ctx.fillStyle = fill
  ctx.beginPath()
  ctx.moveTo(b[6], b[7])
  ctx.lineTo(b[6] - 8 * way, b[7] - 4)
  ctx.lineTo(b[6] - 8 * way, b[7] + 4)
  ctx.fill()
}

/** The labels of the lines of a card, by the card at the other end: direction, relation and via. */
export function words(s: Scene, active: number): Map<number, { text: string; relation: number }> {
  const out = new Map<number, { text: string; relation: number }>()
  for (const { from, to, relation, via, inferred } of linesAt(s, active)) {
    const other = from === active ? to : from, before = out.get(other)?.text
    const text = `${from === active ? '→' : '←'} ${relations[relation]} · ${via}${inferred ? ' (inferred)' : ''}`
    out.set(other, { text: before ? before + ', ' + text : text, relation })
  }
  return out
}

/** Writes the labels above cards that are not elements. */
function write(ctx: Context, d: Drawing): void {
  const { x, y, z } = d.view
  for (const [i, { text, relation }] of words(d.scene, d.active)) {
    if (!d.mounted.has(i) && (!LARGE || !d.impact.cards.has(i))) label(ctx, d, text, d.scene.cards[i].x * z + x, d.scene.cards[i].y * z + y - 7, color(d, relation))
  }
}

/** Writes a word on a ground of its own. */
function label(ctx: Context, d: Drawing, text: string, left: number, middle: number, fill: string): void {
  ctx.font = '11px system-ui, sans-serif'
  ctx.textAlign = 'left'
  ctx.textBaseline = 'middle'
  ctx.fillStyle = d.colors.panel
  ctx.fillRect(left, middle - 7, ctx.measureText(text).width + 6, 14)
  ctx.fillStyle = fill
  ctx.fillText(text, left + 3, middle)
}

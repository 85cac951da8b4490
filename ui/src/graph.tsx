// The graph of a stack: a canvas for lines and small cards, and buttons for readable cards. It shows
// the same shape and selection as the treegrid.

import { useEffect, useLayoutEffect, useMemo, useReducer, useRef } from 'preact/hooks'
import { GraphCard } from './graph_card.tsx'
import { colors, draw, elements, named, words, type CardImpact, type Colors } from './graph_draw.ts'
import { Legend } from './graph_legend.tsx'
import { bring, fit, hub, inside, keep, neighbor, reveal, scene, worst, zoom, type Scene, type Size, type View } from './graph_scene.ts'
import { gestures } from './graph_touch.ts'
import { glyphs } from './impact_document.ts'
import { together, unmarked, useMarks, type Marks } from './impact_marks.ts'
import type { Page } from './page.ts'
import { Depth, Parts } from './parts.tsx'
import { pathOf } from './path.ts'
import { all, type Shape } from './shape.ts'
import { filtered, large } from './tree_rows.ts'
import type { Stack } from './ui_state.ts'
import { plural, relations, short } from './words.ts'

/** The maximum of cards that are elements; more visible cards are drawn, since elements are slow. */
const fewElements = 120
/** The margin of the canvas around the visible part, in pixels, so that few drags redraw it. */
const overscan = 128
/** The margin around the visible part in which cards are elements, in pixels. */
const around = 160

const noImpact: CardImpact = { cards: new Map(), lines: [] }

interface Live {
  scene: Scene | null
  shape: Shape | null
  /** The stack and the root of the scene. */
  stackKey: string
  topology: number
  aspect: number
  view: View
  /** The view that the canvas shows, and whether it must be redrawn. */
  drawn: View
  dirty: boolean
  size: Size
  colors: Colors | null
  frame: number
  timer: number
  /** The inputs of the last drawing: a change of one redraws. */
  was: unknown[]
  /** The nodes of the chosen path. */
  path: number[]
  impact: CardImpact
  /** The timer that redraws after a zoom. */
  rest: number
  /** The cards that are elements, and the part of the scene that they cover. */
  mounted: number[]
  part: [number, number, number, number]
  /** The selected card; a fold has no node, and is identified by key. */
  active: number
  key: string
  node: string
  focus: boolean
}

export function Graph({ page, shape }: { page: Page; shape: Shape }) {
  const { depth } = page.choice, many = shape.of > large, impact = LARGE ? useMarks(page) : unmarked, parts = LARGE && (depth ? depth === 'workloads' : many && !filtered(page))
  return <section class="graph" aria-label="Graph">{LARGE && parts ? <Parts page={page} stack={page.stack()!} marks={impact.marks} /> : <Objects page={page} shape={shape} many={many || depth !== ''} marks={impact.marks} />}{LARGE && impact.summary && <ImpactBar page={page} {...impact} />}</section>
}

/** The objects with the shape of the tree. */
function Objects({ page, shape, many, marks }: { page: Page; shape: Shape; many: boolean; marks: Marks }) {
  const stack = page.stack()!
  const [, again] = useReducer((n: number) => n + 1, 0)
  const canvas = useRef<HTMLCanvasElement>(null), world = useRef<HTMLDivElement>(null), pane = useRef<HTMLDivElement>(null)
  const live = useRef<Live>({
    scene: null, shape: null, stackKey: '', topology: -1, aspect: 0, view: { x: 0, y: 0, z: 1 }, drawn: { x: 0, y: 0, z: 0 }, dirty: true, size: { width: 0, height: 0 }, colors: null,
    frame: 0, timer: 0, rest: 0, was: [], path: [], impact: noImpact, mounted: [], part: [0, 0, 0, 0], active: -1, key: '', node: '', focus: false,
  }).current

  function look(view: View) {
    live.view = view
    live.frame ||= requestAnimationFrame(paint)
  }
  const inputs = () => [live.scene, live.active, live.mounted, live.size, page.uiState, live.path, live.impact]
  function paint() {
    live.frame = 0
    const { view, size, scene } = live, ctx = canvas.current?.getContext('2d')
    if (!ctx || !scene || !size.width || page.printing) return
    // The canvas is transformed as an image, which is cheap, and redrawn sharply after the last move.
    const { drawn } = live, grown = view.z / drawn.z, dx = view.x - drawn.x, dy = view.y - drawn.y
    const reuse = !live.dirty && (grown === 1 ? Math.max(Math.abs(dx), Math.abs(dy)) <= overscan : grown > 0.5 && grown < 2 && view.z < elements === drawn.z < elements)
    clearTimeout(live.rest)
    if (reuse && grown !== 1) live.rest = window.setTimeout(() => { live.dirty = true; look(live.view) }, 120)
    else if (stale(live) && !live.timer) live.timer = window.setTimeout(() => { live.timer = 0; again(0) }, 60)
    world.current!.classList.toggle('graph-far', view.z < elements)
    world.current!.style.willChange = reuse ? 'transform' : ''
    world.current!.style.transform = `translate(${view.x}px, ${view.y}px) scale(${view.z})`
    canvas.current!.style.transform = reuse ? `translate(${view.x + overscan - (drawn.x + overscan) * grown}px, ${view.y + overscan - (drawn.y + overscan) * grown}px) scale(${grown})` : ''
    if (reuse) return
    live.drawn = view
    live.dirty = false
    live.was = inputs()
    world.current!.style.setProperty('--z', String(view.z))
    const ratio = devicePixelRatio || 1, width = size.width + 2 * overscan, height = size.height + 2 * overscan
    const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)]
    if (canvas.current!.width !== w || canvas.current!.height !== h) Object.assign(canvas.current!, { width: w, height: h })
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0)
    live.colors ??= colors(pane.current!)
    draw(ctx, {
      page, scene, view: { x: view.x + overscan, y: view.y + overscan, z: view.z }, size: { width, height },
      colors: live.colors, active: live.active, path: live.path, impact: live.impact, mounted: new Set(view.z < elements ? [] : live.mounted),
    })
  }

  live.path = useMemo(() => pathOf(page), [page.uiState.nodes, page.choice.node, page.choice.to])
  if (live.size.width) {
    renew(live, page, shape)
    choose(live, page)
    mount(live)
  }
  if (LARGE) live.impact = useMemo(() => live.scene ? onCards(live.scene, stack, marks) : noImpact, [live.scene, marks, page.uiState])

  useLayoutEffect(() => {
    const measure = () => {
      const { clientWidth: width, clientHeight: height } = pane.current!
      if (width === live.size.width && height === live.size.height) return
      live.size = { width, height }
      again(0)
    }
    measure()
    const observer = new ResizeObserver(measure), dark = matchMedia('(prefers-color-scheme: dark)')
    const recolor = () => {
      live.colors = null
      live.dirty = true
      look(live.view)
    }
    observer.observe(pane.current!)
    dark.addEventListener('change', recolor)
    const off = gestures(pane.current!, () => live.view, look)
    return () => {
      observer.disconnect()
      dark.removeEventListener('change', recolor)
      off()
      cancelAnimationFrame(live.frame)
      clearTimeout(live.timer)
      clearTimeout(live.rest)
      live.frame = live.timer = 0
    }
  }, [])

  // Printed is all of the scene, at a zoom at which names can be read.
  useLayoutEffect(() => {
    if (!page.printing || !live.scene) return
    const z = Math.min(1, Math.max(named, 1400 / live.scene.width), 16_000 / live.scene.height), part = { width: (live.scene.width + 48) * z, height: (live.scene.height + 48) * z }
    Object.assign(canvas.current!, part)
    draw(canvas.current!.getContext('2d')!, { page, scene: live.scene, view: { x: 24 * z, y: 24 * z, z }, size: part, colors: live.colors ??= colors(pane.current!), active: live.active, path: live.path, impact: live.impact, mounted: new Set() })
    live.dirty = true
  }, [page.printing, live.scene])

  useEffect(() => {
    live.dirty ||= inputs().some((v, i) => v !== live.was[i])
    look(live.view)
    if (!live.focus) return
    live.focus = false
    world.current!.querySelector<HTMLElement>('[tabindex="0"]')?.focus({ preventScroll: true })
  })

  function select(i: number) {
    const { item } = live.scene!.cards[i]
    live.key = item.fold ? item.key : ''
    live.node = page.ref(item.bad ?? item.node)
    live.active = i
    page.set({ node: live.node })
    again(0)
  }
  function toggle(i: number) {
    const { key, fold } = live.scene!.cards[i].item, { open } = page.choice
    if (fold) page.set({ open: open.includes(key) ? open.filter((k) => k !== key) : [...open, key] })
  }
  function center(factor: number) { look(zoom(live.view, factor, live.size.width / 2, live.size.height / 2)) }
  function whole() { if (live.scene) look(fit(live.scene, live.size, live.active, 0)) }
  function toTrouble() { if (live.scene) look(fit(live.scene, live.size, worst(page, live.scene))) }

  function keys(e: KeyboardEvent) {
    const s = live.scene
    if (!s?.cards.length || e.ctrlKey || e.metaKey || e.altKey) return
    const step = { ArrowLeft: [80, 0], ArrowRight: [-80, 0], ArrowUp: [0, 80], ArrowDown: [0, -80] }[e.key]
    if (e.shiftKey && step) look({ ...live.view, x: live.view.x + step[0], y: live.view.y + step[1] })
    else if (step || e.key === 'Home' || e.key === 'End') {
      select(live.active < 0 ? 0 : neighbor(s, live.active, e.key))
      look(reveal(live.view, live.size, s.cards[live.active]))
      live.focus = true
    } else if (e.key === 'Enter' || e.key === ' ') {
      // Starts at the focused card, which may not be selected.
      const i = cardOf(e)
      if (i < 0) return
      const object = !s.cards[i].item.fold && e.key === 'Enter'
      select(i)
      toggle(i)
      live.focus = !object
      if (object) page.toDetails()
    } else if (e.key === '+' || e.key === '=') center(1.25)
    else if (e.key === '-') center(0.8)
    else if (e.key === 'f') whole()
    else return
    e.preventDefault()
  }
  function click(e: MouseEvent) {
    const i = cardOf(e)
    if (i < 0) {
      const hit = live.scene && at(live, e)
      if (hit === null || hit < 0) return
      live.focus = true
      select(hit)
      return
    }
    live.focus = true
    select(i)
    toggle(i)
  }

  const s = live.scene, first = s && live.active < 0 ? 0 : live.active
  return (
    <>
      <p class="unseen" id="graph-help">
        The table of the stack holds all of this, and more. Arrow keys go to parent, first child and siblings; Enter opens a group, or the details of an object; plus and minus zoom, f fits.
      </p>
      <div class="graph-pane" ref={pane} onKeyDown={keys} onClick={click}>
        <canvas class="graph-canvas" ref={canvas} aria-hidden="true" />
        <div class="graph-world" ref={world} role={s?.cards.length ? 'tree' : undefined} aria-label={s?.cards.length ? 'Objects' : undefined}
          aria-describedby={s?.cards.length ? 'graph-help' : undefined}>
          {s && shown(live, first ?? -1).map((i) => (
            <GraphCard key={s.cards[i].item.key} page={page} stack={stack} card={s.cards[i]} number={i} roots={shape.roots}
              selected={i === live.active} tabbable={i === first} hub={s.hubs.get(i)} impact={LARGE ? live.impact.cards.get(i) : undefined} />
          ))}
          {s && lineLabels(live).map(([i, { text, relation }]) => (
            <span key={'word' + i} class={`graph-word graph-${relations[relation]}`} aria-hidden="true" style={{ left: s.cards[i].x + 'px', top: s.cards[i].y + 'px' }}>{text}</span>
          ))}
          {s && LARGE && [...live.impact.cards].filter(([i]) => live.mounted.includes(i)).map(([i, { tone, text }]) => (
            <span key={'impact' + i} class="graph-word graph-impact" aria-hidden="true" style={{ left: s.cards[i].x + 'px', top: s.cards[i].y + 'px' }}>{glyphs[tone]} {text}</span>
          ))}
        </div>
        {s && !s.cards.length && <p class="graph-empty">No object of this stack matches the filters.</p>}
      </div>
      {page.choice.open.includes(all) && (
        <p class="graph-capped">
          Showing all {shape.of}, without groups.{' '}
          <button type="button" onClick={() => page.set({ open: page.choice.open.filter((k) => k !== all) })}>Group</button>
        </p>
      )}
      {LARGE && shape.capped > 0 && (
        <p class="graph-capped" role="status">
          Showing {shape.shown} of {shape.shown + shape.capped}: the rest is well, and in groups.{' '}
          <button type="button" onClick={() => page.set({ open: [...page.choice.open, all] })}>Show all</button>
        </p>
      )}
      <div class="graph-bar">
        <div class="graph-tools" role="group" aria-label="Zoom">
          <button type="button" aria-label="Zoom out" title="Zoom out (−)" onClick={() => center(0.8)}>−</button>
          <button type="button" aria-label="Zoom in" title="Zoom in (+)" onClick={() => center(1.25)}>+</button>
          <button type="button" title="All of it (f)" onClick={whole}>Fit</button>
          {s && worst(page, s) >= 0 && <button type="button" onClick={toTrouble}>To trouble</button>}
        </div>
        {LARGE && many && <Depth page={page} depth="objects" />}
        <Legend />
      </div>
    </>
  )
}

/** The impact of a scene: a fold says how many of its objects are affected, and a card with many lines
    how many these are. Along the tree it spreads from parent to child. */
function onCards(s: Scene, stack: Stack, { of, lines }: Marks): CardImpact {
  const byCard = new Map<number, number[]>(), cards: CardImpact['cards'] = new Map(), seen = new Set<string>()
  for (const id of of.keys()) {
    const at = s.of.get(id)
    if (at !== undefined) byCard.get(at)?.push(id) ?? byCard.set(at, [id])
  }
  for (const at of byCard.keys()) {
    const { item } = s.cards[at], m = together(item.fold && !item.children.length ? item.fold.map((p) => stack.tree[p].n) : [item.node], { of, lines })
    if (m) cards.set(at, m)
  }
  const below = (at: number, of: number): boolean => at >= 0 && (s.cards[at].parent === of || below(s.cards[at].parent, of))
  const leaving = new Map<number, CardImpact['lines']>()
  for (const { from, to, inferred } of lines) {
    const b = s.of.get(to), cause = s.of.get(from)
    if (b === undefined || cause === undefined || b === cause) continue
    const a = below(b, cause) ? s.cards[b].parent : cause, key = `${a} ${b}`
    if (!seen.has(key)) leaving.get(a)?.push({ from: a, to: b, inferred }) ?? leaving.set(a, [{ from: a, to: b, inferred }])
    seen.add(key)
  }
  for (const [at, all] of leaving) {
    const m = cards.get(at), across = all.filter((l) => s.cards[l.to].parent !== at)
    if (across.length <= hub || !m) continue
    cards.set(at, { ...m, text: `${m.text}, ${across.length} affected by it` })
    leaving.set(at, all.filter((l) => s.cards[l.to].parent === at))
  }
  return { cards, lines: [...leaving.values()].flat() }
}

/** What the marks mean, and the way to the next one. */
function ImpactBar({ page, marks, summary }: { page: Page; marks: Marks; summary: string }) {
  const { impact } = page.choice, stack = page.stack()!, here = [...new Set(stack.tree.map((p) => p.n))].filter((n) => marks.of.has(n) && page.ref(n) !== impact)
  const next = here[(here.indexOf(page.selected()) + 1) % here.length]
  return (
    <p class="graph-capped graph-impact" role="status">
      If {short(impact)} is deleted: {summary}. {plural(here.length, 'object')} of this stack marked.{' '}
      {here.length > 0 && <button type="button" onClick={() => page.set({ node: page.ref(next) })}>Next affected</button>}
    </p>
  )
}

function cardOf(e: Event): number {
  const el = (e.target as Element).closest('[data-card]')
  return el ? Number(el.getAttribute('data-card')) : -1
}

/** The drawn card at the pointer, or -1. */
function at(live: Live, e: MouseEvent): number {
  const box = (e.currentTarget as Element).getBoundingClientRect(), { x, y, z } = live.view
  const px = (e.clientX - box.left - x) / z, py = (e.clientY - box.top - y) / z
  return inside(live.scene!, px, py, px, py)[0] ?? -1
}

/** Rebuilds the scene if the shown objects changed, and keeps the landmark at its position. */
function renew(live: Live, page: Page, shape: Shape): void {
  if (live.shape === shape && live.topology === page.topology) return
  const stack = page.stack()!, stackKey = stack.name + ' ' + page.choice.root
  const old = live.stackKey === stackKey ? live.scene : null
  live.shape = shape
  if (old && live.topology === page.topology && keep(old, stack, shape)) return
  if (!old) live.aspect = Math.round(100 * live.size.width / live.size.height)
  const before = old && old.cards[landmark(live, old)]
  live.scene = scene(page, stack, shape, live.aspect)
  live.topology = page.topology
  live.stackKey = stackKey
  live.part = [0, 0, 0, 0]
  choose(live, page)
  const after = before && live.scene.cards.find((c) => c.item.key === before.item.key)
  if (after) live.view = { z: live.view.z, x: live.view.x + (before.x - after.x) * live.view.z, y: live.view.y + (before.y - after.y) * live.view.z }
  else live.view = fit(live.scene, live.size, live.active >= 0 ? live.active : worst(page, live.scene))
}

/** The card that keeps its position in a new scene: the selected one, else the one nearest to the center. */
function landmark(live: Live, s: Scene): number {
  const { x, y, z } = live.view, cx = (live.size.width / 2 - x) / z, cy = (live.size.height / 2 - y) / z
  if (live.active >= 0) return live.active
  let best = -1, least = Infinity
  s.cards.forEach((c, i) => {
    const far = Math.hypot(c.x - cx, c.y - cy)
    if (far < least) [best, least] = [i, far]
  })
  return best
}

/** Finds the card of the selection, and shows it if another view selected it. */
function choose(live: Live, page: Page): void {
  const s = live.scene!, { node } = page.choice
  const other = node !== live.node
  if (other) [live.node, live.key] = [node, '']
  const id = node ? page.selected() : -1
  live.active = live.key ? s.cards.findIndex((c) => c.item.key === live.key) : -1
  if (live.active < 0) live.active = s.of.get(id) ?? -1
  if (other && live.active >= 0) live.view = bring(live.view, live.size, s.cards[live.active])
}

/** Whether the visible part is no longer covered by elements. */
function stale(live: Live): boolean {
  const { view: { x, y, z }, size, part } = live
  if (z < elements) return live.mounted.length > 0
  return -x / z < part[0] || -y / z < part[1] || (size.width - x) / z > part[2] || (size.height - y) / z > part[3]
}

function mount(live: Live): void {
  if (live.view.z < elements) {
    live.mounted = []
    live.part = [0, 0, 0, 0]
    return
  }
  if (!stale(live)) return
  const { view: { x, y, z }, size } = live
  for (const margin of [around, 0]) {
    live.part = [(-margin - x) / z, (-margin - y) / z, (size.width + margin - x) / z, (size.height + margin - y) / z]
    live.mounted = inside(live.scene!, ...live.part)
    if (live.mounted.length <= fewElements) return
  }
  live.mounted = []
}

/** The labels above cards that are linked with the selected one. */
function lineLabels(live: Live) {
  return live.active < 0 ? [] : [...words(live.scene!, live.active)].filter(([i]) => live.mounted.includes(i) && !live.impact.cards.has(i))
}

/** The cards to render as elements: the mounted ones, and the one with the keyboard focus. */
function shown(live: Live, active: number): number[] {
  if (active < 0 || !live.scene!.cards[active] || live.mounted.includes(active)) return live.mounted
  return [...live.mounted, active].sort((a, b) => a - b)
}

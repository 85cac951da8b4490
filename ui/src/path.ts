// A shortest chain of edges between two objects, as pkg/graph/path.go finds it: the same answers.

import { isPeer, linksOf, manages, needs, owns, serves, type Arrow, type Links } from './links.ts'
import type { Page } from './page.ts'

/** An edge of a path; against says that it is walked from its end to its start. */
export interface Step { arrow: Arrow; against: boolean }

/** How a node was come to, by the best chain there is. */
interface Reached extends Step { before: number; cost: number }

/** Each kind of cost outweighs any number of the next one. */
const perInferred = 2 ** 34, perUnowned = 2 ** 17, perServing = 1

/** The steps from one node to another; null where no chain leads there. From one end they are the
    same as from the other. It does not pass through a boundary or a missing object: that two pods
    run on one node relates nothing. But it does through what is missing and has an owner, who is to
    make it. */
export function path(page: Page, from: number, to: number): Step[] | null {
  if (from === to) return []
  const l = linksOf(page), turned = l.rank[from] > l.rank[to]
  const steps = turned ? chain(page, l, to, from) : chain(page, l, from, to)
  return steps && turned ? steps.reverse().map(({ arrow, against }) => ({ arrow, against: !against })) : steps
}

/** Goes out from a node in rings. */
function chain(page: Page, l: Links, from: number, to: number): Step[] | null {
  const seen = new Map<number, Reached | null>([[from, null]])
  for (let ring = [from]; ring.length;) {
    const next = new Map<number, Reached>()
    for (const id of ring) {
      const { b, t } = page.node(id)
      if (id !== from && (b || t === 'missing' && !awaited(page, l, id))) continue
      for (const near of around(l, id)) {
        if (seen.has(near)) continue
        const r = cheapest(l, id, near), have = next.get(near)
        r.cost += seen.get(id)?.cost ?? 0
        if (!have || r.cost < have.cost) next.set(near, r)
      }
    }
    ring = [...next.keys()].sort((a, b) => l.rank[a] - l.rank[b])
    for (const [id, r] of next) seen.set(id, r)
    if (next.has(to)) return stepsTo(seen, to)
  }
  return null
}

function stepsTo(seen: Map<number, Reached | null>, to: number): Step[] {
  const steps: Step[] = []
  for (let r = seen.get(to); r; r = seen.get(r.before)) steps.unshift({ arrow: r.arrow, against: r.against })
  return steps
}

const awaited = (page: Page, l: Links, id: number) =>
  l.into[id].some((a) => a.edge.r === owns && !manages(a) && !isPeer(a) && !page.node(a.from).t)

/** The nodes of the path that is chosen, from end to end; none where none is. */
export function pathOf(page: Page): number[] {
  const from = page.selected(), to = page.choice.to ? page.find(page.choice.to) : -1
  if (from < 0 || to < 0) return []
  const steps = path(page, from, to)
  return steps ? [from, ...steps.map((s) => s.against ? s.arrow.from : s.arrow.to)] : []
}

function around(l: Links, id: number): Set<number> {
  const near = new Set<number>()
  for (const a of l.out[id]) near.add(a.to)
  for (const a of l.into[id]) near.add(a.from)
  return near
}

function cheapest(l: Links, a: number, b: number): Reached {
  let best: Reached | null = null
  for (const against of [false, true]) {
    const [from, to] = against ? [b, a] : [a, b]
    for (const arrow of l.out[from].length <= l.into[to].length ? l.out[from] : l.into[to]) {
      if (arrow.from !== from || arrow.to !== to) continue
      const cost = costOf(arrow)
      if (!best || cost < best.cost) best = { arrow, against, cost, before: a }
    }
  }
  return best!
}

const costOf = ({ edge: { i, r } }: Arrow) => (i ? perInferred : 0) + (r === needs || r === serves ? perUnowned : 0) + (r === serves ? perServing : 0)

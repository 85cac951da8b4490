// The shortest path between two objects, with the same results as pkg/graph/path.go.

import { isPeer, linksOf, manages, needs, owns, serves, type Arrow, type Links } from './links.ts'
import type { Page } from './page.ts'

/** An edge of a path; against: it is followed from target to source. */
export interface Step { arrow: Arrow; against: boolean }

/** The last step to a node, and the cost of the cheapest path to it. */
interface Reached extends Step { before: number; cost: number }

/** The cost of an edge by its type; one edge outweighs any number of edges of the next type. */
const perInferred = 2 ** 34, perUnowned = 2 ** 17, perServing = 1

/** Returns the steps from one node to another; null if they are not connected. The result is
    symmetric. A path does not pass through a boundary, since pods on one Node are unrelated, nor
    through a missing object, unless an owner is to create it. */
export function path(page: Page, from: number, to: number): Step[] | null {
  if (from === to) return []
  const l = linksOf(page), turned = l.rank[from] > l.rank[to]
  const steps = turned ? chain(page, l, to, from) : chain(page, l, from, to)
  return steps && turned ? steps.reverse().map(({ arrow, against }) => ({ arrow, against: !against })) : steps
}

/** Breadth-first search from a node. */
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

/** The nodes of the chosen path, from end to end; empty without a path. */
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

// A shortest chain of edges between two objects, as pkg/graph/path.go finds it: the same answers.

import { aside, linksOf, manages, owns, type Arrow, type Links } from './links.ts'
import type { Page } from './page.ts'

/** An edge of a path; against says that it is walked from its end to its start. */
export interface Step { arrow: Arrow; against: boolean }

/** Each kind of cost outweighs any number of the next one. */
const perEdge = 2 ** 32, perInferred = 2 ** 16, perAgainst = 1

/** The steps from one node to another; null where no chain leads there. It does not pass through
    a boundary or a missing object: that two pods run on one node relates nothing. But it does through
    what is missing and has an owner, who is to make it. */
export function path(page: Page, from: number, to: number): Step[] | null {
  if (from === to) return []
  const l = linksOf(page), distance = new Map([[from, 0]]), before = new Map<number, number>()
  const queue: Queue = [{ id: from, cost: 0 }]
  for (let at = pop(queue); at; at = pop(queue)) {
    const { id, cost } = at
    if (cost > distance.get(id)!) continue
    if (id === to) break
    const { b, t } = page.node(id)
    if (id !== from && (b || t === 'missing' && !awaited(page, l, id))) continue
    for (const near of around(l, id)) {
      const sum = cost + cheapest(l, id, near).cost
      if (sum >= (distance.get(near) ?? Infinity)) continue
      push(queue, { id: near, cost: sum })
      distance.set(near, sum)
      before.set(near, id)
    }
  }
  if (!before.has(to)) return null
  const steps: Step[] = []
  for (let id = to; id !== from; id = before.get(id)!) steps.unshift(cheapest(l, before.get(id)!, id).step!)
  return steps
}

const awaited = (page: Page, l: Links, id: number) =>
  l.into[id].some((a) => a.edge.r === owns && !manages(a) && !aside(a) && !page.node(a.from).t)

/** The nodes of the path that is chosen, from end to end; none where none is. */
export function pathOf(page: Page): number[] {
  const from = page.selected(), to = page.choice.to ? page.find(page.choice.to) : -1
  if (from < 0 || to < 0) return []
  const steps = path(page, from, to)
  return steps ? [from, ...steps.map((s) => s.against ? s.arrow.from : s.arrow.to)] : []
}

function around(l: Links, id: number): number[] {
  const near = new Set<number>()
  for (const a of l.out[id]) near.add(a.to)
  for (const a of l.into[id]) near.add(a.from)
  return [...near].sort((a, b) => l.rank[a] - l.rank[b])
}

function cheapest(l: Links, a: number, b: number): { step: Step | null; cost: number } {
  let step: Step | null = null, cost = 0
  for (const against of [false, true]) {
    const [from, to] = against ? [b, a] : [a, b]
    for (const arrow of l.out[from].length <= l.into[to].length ? l.out[from] : l.into[to]) {
      if (arrow.from !== from || arrow.to !== to) continue
      const c = perEdge + (arrow.edge.i ? perInferred : 0) + (against ? perAgainst : 0)
      if (!step || c < cost) [step, cost] = [{ arrow, against }, c]
    }
  }
  return { step, cost }
}

// The heap is that of Go's container/heap, step by step: of chains that are equal it decides which is found.
type Queue = { id: number; cost: number }[]

function push(q: Queue, x: Queue[0]): void {
  q.push(x)
  for (let j = q.length - 1; j > 0;) {
    const i = (j - 1) >> 1
    if (!(q[j].cost < q[i].cost)) break
    ;[q[i], q[j]] = [q[j], q[i]]
    j = i
  }
}

function pop(q: Queue): Queue[0] | undefined {
  const n = q.length - 1
  if (n < 0) return undefined
  ;[q[0], q[n]] = [q[n], q[0]]
  for (let i = 0; ;) {
    let j = 2 * i + 1
    if (j >= n) break
    if (j + 1 < n && q[j + 1].cost < q[j].cost) j++
    if (!(q[j].cost < q[i].cost)) break
    ;[q[i], q[j]] = [q[j], q[i]]
    i = j
  }
  return q.pop()
}

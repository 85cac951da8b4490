// The parts of a large stack: its workloads, those of one name as one part; what comes in; and what
// they need, each once. Independent of the browser, for tests.

import type { Page } from './page.ts'
import type { Stack } from './ui_state.ts'
import { isQuiet, range } from './shape.ts'
import { compare } from './table.ts'
import { trouble } from './words.ts'

/** A top object with what it owns, what serves it, and what it alone needs. */
export interface Unit {
  node: number
  members: number[]
  /** All pods, and those that are unhealthy. */
  pods: number[]
  bad: number[]
  health: number
}

/** Workloads whose names differ by a number only, or one workload. */
export interface Part { name: string; units: Unit[]; pods: number; well: number; health: number }

/** What parts need. */
export interface Need extends Unit {
  /** The parts that need it, by number. */
  parts: number[]
  /** The objects that refer to it, pods only if there are such. */
  users: number
  byPods: boolean
  why: string
}

/** What leads to parts from outside, as an Ingress does. */
export interface Entry extends Unit { parts: number[] }

export interface PartsModel {
  entries: Entry[]
  parts: Part[]
  needs: Need[]
  /** The number of objects by kind that have no card: they are in the card of what they belong to. */
  folded: Map<string, number>
}

/** From so many workloads of one name on, they are one part. */
export const together = 4

const owns = 1, needs = 2, serves = 3, aside = 1
const entryKind = /^(Ingress|Gateway|HTTPRoute|GRPCRoute|TLSRoute|TCPRoute|IngressRoute|VirtualService|Route)$/
const workloadKind = /^(Deployment|StatefulSet|DaemonSet|CronJob|Job|Rollout|ReplicaSet|Pod)$/

/** The name without a number at its end: api, api9 and api-17 are one part. */
const stem = (name: string) => name.replace(/[-_.]?\d+$/, '') || name

export function partsModel(page: Page, stack: Stack): PartsModel {
  const { nodes } = page.uiState, [from, to] = range(page, stack.tree), shown = new Set<number>()
  for (const p of stack.tree.slice(from, to)) if (nodes[p.n]) shown.add(p.n)
  const kindOf = (i: number) => page.kind(page.node(i)).kind, isPod = (i: number) => kindOf(i) === 'Pod'
  const health = (i: number) => isQuiet(page, i) ? 0 : nodes[i]!.h ?? (nodes[i]!.t === 'missing' ? 5 : 0)
  const each = (relation: number, visit: (from: number, to: number, why: string) => void) => {
    for (const i of shown) for (const e of nodes[i]!.e ?? []) if (e.r === relation && !((e.f ?? 0) & aside) && e.t !== i && shown.has(e.t)) visit(i, e.t, e.w ?? '')
  }
  const home = homes(shown, each, kindOf)
  const units = new Map<number, Unit>()
  for (const i of shown) {
    const top = home.get(i)!, u = units.get(top) ?? { node: top, members: [], pods: [], bad: [], health: 0 }
    units.set(top, u)
    u.members.push(i)
    if (isPod(i)) u.pods.push(i)
    if (isPod(i) && health(i) >= trouble) u.bad.push(i)
    u.health = Math.max(u.health, health(i))
  }
  const name = (u: Unit) => page.node(u.node).n, byName = (a: Unit, b: Unit) => compare(name(a), name(b), false)
  const work = [...units.values()].filter((u) => u.pods.length || workloadKind.test(kindOf(u.node))).sort(byName), isWork = new Set(work.map((u) => u.node))
  const parts = partsOf(work, name), partOf = new Map<number, number>()
  parts.forEach((p, at) => p.units.forEach((u) => partOf.set(u.node, at)))

  const needed = new Map<number, Need & { pods_: Set<number>; others: Set<number> }>(), entries = new Map<number, Entry>()
  each(needs, (i, t, why) => {
    const part = partOf.get(home.get(i)!), top = home.get(t)!, u = units.get(top)!
    if (part === undefined || top === home.get(i) || partOf.get(top) === part) return
    const n = needed.get(top) ?? { ...u, parts: [], users: 0, byPods: false, why, pods_: new Set(), others: new Set() }
    needed.set(top, n)
    if (!n.parts.includes(part)) n.parts.push(part)
    ;(isPod(i) ? n.pods_ : n.others).add(i)
  })
  each(serves, (i, t) => {
    const top = home.get(i)!, part = partOf.get(home.get(t)!) ?? -1
    if (part < 0 || isWork.has(top) || needed.has(top)) return
    const e = entries.get(top) ?? { ...units.get(top)!, parts: [] }
    entries.set(top, e)
    if (!e.parts.includes(part)) e.parts.push(part)
  })
  const all = [...needed.values()].map(({ pods_, others, ...n }) => ({ ...n, users: pods_.size || others.size, byPods: pods_.size > 0 }))
  const cards = new Set([...work, ...all, ...entries.values()].map((u) => u.node)), folded = new Map<string, number>()
  for (const i of shown) if (!cards.has(i) && !isPod(i)) folded.set(kindOf(i), (folded.get(kindOf(i)) ?? 0) + 1)
  const last = (n: Need) => +(kindOf(n.node) === 'ConfigMap')
  return {
    parts, folded,
    entries: [...entries.values()].sort(byName),
    needs: all.filter((n) => !isWork.has(n.node)).sort((a, b) => +(b.health >= trouble) - +(a.health >= trouble) || last(a) - last(b) || b.users - a.users || byName(a, b)),
  }
}

/** The unit of each object: its topmost owner; for what serves one unit, or is needed by one alone, that unit. */
function homes(shown: Set<number>, each: (relation: number, visit: (from: number, to: number) => void) => void, kindOf: (i: number) => string): Map<number, number> {
  const home = new Map<number, number>([...shown].map((i) => [i, i]))
  const top = (i: number) => { for (let steps = 0; home.get(i) !== i && steps < 64; steps++) i = home.get(i)!; return i }
  each(owns, (from, to) => { if (home.get(to) === to && top(from) !== to) home.set(to, from) })
  for (let again = true; again;) {
    again = false
    for (const relation of [serves, needs]) {
      const others = new Map<number, Set<number>>()
      each(relation, (from, to) => {
        const [a, b] = relation === serves ? [top(from), top(to)] : [top(to), top(from)]
        if (a !== b) others.get(a)?.add(b) ?? others.set(a, new Set([b]))
      })
      for (const [a, of] of others) {
        const [b] = of, kind = kindOf(a)
        if (of.size !== 1 || top(b) === a || workloadKind.test(kind) || entryKind.test(kind)) continue
        home.set(a, b)
        again = true
      }
    }
  }
  for (const i of shown) home.set(i, top(i))
  return home
}

/** Workloads of one stem are one part, the others are parts of their own: broken ones first, then by size. */
function partsOf(work: Unit[], name: (u: Unit) => string): Part[] {
  const stems = new Map<string, Unit[]>(), out: Part[] = []
  for (const u of work) stems.get(stem(name(u)))?.push(u) ?? stems.set(stem(name(u)), [u])
  for (const [of, units] of stems) for (const list of units.length < together ? units.map((u) => [u]) : [units]) {
    const pods = list.reduce((n, u) => n + u.pods.length, 0)
    out.push({
      name: list.length > 1 ? of : name(list[0]), units: list.sort((a, b) => b.health - a.health), pods,
      well: pods - list.reduce((n, u) => n + u.bad.length, 0), health: Math.max(...list.map((u) => u.health)),
    })
  }
  return out.sort((a, b) => +(b.health >= trouble) - +(a.health >= trouble) || b.pods - a.pods || compare(a.name, b.name, false))
}

/** The beginning that all names have, up to a separator. */
export function common(names: string[]): string {
  if (names.length < 2) return ''
  let n = names[0].length
  for (const name of names) while (!name.startsWith(names[0].slice(0, n))) n--
  const end = Math.max(names[0].slice(0, n).lastIndexOf('-'), names[0].slice(0, n).lastIndexOf('.')) + 1
  return names[0].slice(0, end)
}

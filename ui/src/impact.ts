// What goes with an object, and who would miss it, as pkg/graph/impact.go says: the same answers.

import { aside, leaf, linksOf, manages, needs, owns, serves, type Arrow, type Links } from './links.ts'
import type { Page } from './page.ts'

/** Who suffers, from what (one step nearer to what goes), by which edge. */
export interface Dependent { id: number; cause: number; arrow: Arrow; optional: boolean }

export interface Impact {
  /** What the garbage collector takes along, and what loses an owner and stays. */
  deleted: number[]
  orphaned: number[]
  /** Who needs what goes; last, who was told to do without. */
  direct: Dependent[]
  /** Who suffers in turn. */
  through: Dependent[]
}

export function impact(page: Page, id: number): Impact {
  const l = linksOf(page), gone = new Set([id]), hurt = new Set<number>(), ill: number[] = []
  const isMissing = (n: number) => page.node(n).t === 'missing'
  const { deleted, orphaned } = collect(l, id, gone, isMissing)
  const direct: Dependent[] = [], through: Dependent[] = [], dead = [id, ...deleted]

  /** Whether the harm is news. */
  const harm = (n: number) => {
    if (gone.has(n) || hurt.has(n)) return false
    hurt.add(n)
    ill.push(n)
    return true
  }
  /** Passes harm on to those who cannot do without. */
  const pass = (at: number, to: Dependent[]) => {
    for (const d of dependents(l, at, isMissing)) if (!d.optional && harm(d.id)) to.push(d)
  }
  /** Passes harm on to owners, and to what fronts it if anybody needs that. */
  const spread = (at: number) => {
    for (const arrow of l.into[at]) {
      const { from, edge } = arrow
      if (aside(arrow) || manages(arrow) || page.node(from).b || isMissing(from)) continue
      if (edge.r === needs || edge.r === serves && !l.into[from].some((a) => a.edge.r === needs && !leaf(a) && !aside(a))) continue
      if (harm(from)) through.push({ id: from, cause: at, arrow, optional: false })
    }
  }

  for (const at of dead) pass(at, direct)
  for (const at of dead) spread(at)
  for (let i = 0; i < ill.length; i++) {
    pass(ill[i], through)
    spread(ill[i])
  }
  // Who was told to do without comes last: it may suffer by another way.
  for (const at of dead) {
    for (const d of dependents(l, at, isMissing)) {
      if (gone.has(d.id) || hurt.has(d.id)) continue
      hurt.add(d.id)
      direct.push(d)
    }
  }
  return { deleted, orphaned, direct, through }
}

/** Who needs a node, each once; optional only where every one of its edges says so. */
function dependents(l: Links, id: number, isMissing: (n: number) => boolean): Dependent[] {
  const out: Dependent[] = []
  for (const arrow of l.into[id]) {
    if (arrow.edge.r !== needs || aside(arrow) || isMissing(arrow.from)) continue
    const optional = !!arrow.edge.o, last = out.at(-1)
    if (last?.id !== arrow.from) out.push({ id: arrow.from, cause: id, arrow, optional })
    else if (last.optional && !optional) Object.assign(last, { optional, arrow })
  }
  return out
}

/** Owner references count alone, and no guess. */
const reference = (a: Arrow) => a.edge.r === owns && a.edge.v === 'owner'

/** Follows owner references as the garbage collector does: an object goes when its last owner goes. */
function collect(l: Links, id: number, gone: Set<number>, isMissing: (n: number) => boolean) {
  const left = new Map<number, number>(), next = [id], byRank = (a: number, b: number) => l.rank[a] - l.rank[b]
  for (const at of next) {
    for (const child of new Set(l.out[at].filter(reference).map((a) => a.to))) {
      if (gone.has(child)) continue
      const owners = left.get(child) ?? new Set(l.into[child].filter((a) => reference(a) && !isMissing(a.from)).map((a) => a.from)).size
      left.set(child, owners - (isMissing(at) ? 0 : 1))
      if (left.get(child)! > 0) continue
      gone.add(child)
      next.push(child)
    }
  }
  return { deleted: next.slice(1).sort(byRank), orphaned: [...left.keys()].filter((n) => !gone.has(n)).sort(byRank) }
}

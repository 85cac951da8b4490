// What the map shows: each stack as one card, each part that several of them need as one more, and
// who needs whom. Independent of the browser, for tests.

import type { Page } from './page.ts'
import { whyAlone } from './links.ts'
import type { Edge, Stack } from './ui_state.ts'
import { appsOf, compare, inGroups, showsCluster } from './table.ts'
import { parse, visible } from './words.ts'

/** A card: a stack, or a part that several cards need. */
export interface Card {
  /** The name of the stack, or the reference of the part's top object. */
  key: string
  stack?: Stack
  /** The top object. */
  node: number
  /** Empty for the whole cluster. */
  namespace: string
  /** The region that it stands in: its namespace, or the System app that it is part of. */
  group: string
  /** The worst health of its objects that count; for a stack its health. */
  health: number
  /** All pods, and those that are well. */
  pods: number[]
  /** Hundredths; undefined without a price. For a part what all stacks pay for it. */
  cost?: number
  /** What a stack pays for parts that others need too. */
  shared: number
  /** Who pays what for a part, by the key of the stack. */
  payers: Map<string, number>
  /** The cards that need it, and the stacks that depend on it, directly or by others; in the whole map. */
  users: number
  /** The namespaces of those cards. */
  spaces: number
  dependants: number
}

/** A card needs another one. */
export interface Line {
  from: number
  to: number
  /** The edges that say so, the strongest first, with the node that each one leaves. */
  evidence: { node: number; edge: Edge }[]
  inferred: boolean
  optional: boolean
}

export interface MapModel {
  /** The stacks in the order of the names, then the parts. */
  cards: Card[]
  lines: Line[]
  rest: Rest[]
}

/** Objects of a kind that are in no stack, and why. */
export interface Rest { kind: string; why: string; nodes: number[] }

/** Health from this number on is broken: Missing and Degraded. What makes progress is not. */
export const isBroken = (health: number) => health >= 5

const owns = 1, needs = 2, serves = 3
/** The port that a line is about: of the first evidence that has one. */
export const portOf = (line: Line): string => line.evidence.find(({ edge }) => edge.p)?.edge.p?.match(/\d+(?= and |$)/)?.[0] ?? ''

/** Of Edge.f: no stack follows the edge, such as the one of a NetworkPolicy to those it admits. */
const aside = 1

/** The card of each node, -1 for none, and the cards of the stacks with those of the parts. */
function group(page: Page, stacks: Stack[]): { home: Int32Array; cards: Card[] } {
  const { nodes } = page.uiState, home = new Int32Array(nodes.length).fill(-1), cards: Card[] = []
  const shown = new Uint8Array(nodes.length), above = new Int32Array(nodes.length).fill(-1), roots = new Map<number, number>()
  for (const s of stacks) {
    for (const p of s.tree) if (nodes[p.n]) shown[p.n] = 1
    for (const r of s.roots) roots.set(r, cards.length)
    cards.push({ key: s.name, stack: s, node: s.roots[0] ?? -1, namespace: s.namespace ?? '', group: s.namespace ?? '', health: s.health ?? 0, pods: s.pods ? [s.pods[0], s.pods[2] ?? 0] : [], cost: s.cost, shared: 0, payers: new Map(), users: 0, spaces: 0, dependants: 0 })
  }
  const each = (relation: number, visit: (from: number, to: number) => void) => nodes.forEach((n, i) => {
    if (shown[i]) for (const e of n!.e ?? []) if (e.r === relation && shown[e.t] && e.t !== i) visit(i, e.t)
  })
  each(owns, (from, to) => { if (above[to] < 0) above[to] = from })
  // A Service, a scaler or a budget stands with what it serves, unless something owns it.
  const served = new Map<number, number[]>()
  each(serves, (from, to) => { if (above[from] < 0 && !roots.has(from)) served.get(from)?.push(to) ?? served.set(from, [to]) })
  const top = (i: number): number => {
    for (let steps = 0; above[i] >= 0 && !roots.has(i) && steps < 64; steps++) i = above[i]
    return i
  }
  const tops = new Int32Array(nodes.length)
  nodes.forEach((_, i) => { tops[i] = shown[i] ? top(i) : -1 })
  // Two rounds: an Ingress serves a Service, which serves pods.
  for (let round = 0; round < 3; round++) {
    for (const [from, to] of served) {
      const targets = new Set(to.map((t) => tops[t]))
      if (targets.size === 1) tops[from] = [...targets][0]
    }
    nodes.forEach((_, i) => { if (shown[i]) tops[i] = tops[top(i)] })
  }
  const byTop = new Map<number, number>()
  nodes.forEach((_, i) => {
    if (!shown[i]) return
    const t = tops[i], card = roots.get(t) ?? byTop.get(t)
    if (card !== undefined) home[i] = card
    else {
      byTop.set(t, cards.length)
      home[i] = cards.push({ key: page.ref(t), node: t, namespace: page.namespace(page.node(t)), group: page.namespace(page.node(t)), health: 0, pods: [], shared: 0, payers: new Map(), users: 0, spaces: 0, dependants: 0 }) - 1
    }
  })
  return { home, cards }
}

/** Builds the map of stacks. What one card alone needs is in that card. */
export function mapModel(page: Page, stacks: Stack[]): MapModel {
  const { nodes } = page.uiState, { home, cards } = group(page, [...stacks].sort((a, b) => compare(a.name, b.name, false)))
  const into: Set<number>[] = cards.map(() => new Set())
  const link = (visit: (from: number, to: number, node: number, edge: Edge) => void) => nodes.forEach((n, i) => {
    if (home[i] >= 0) for (const e of n!.e ?? []) if (e.r === needs && !((e.f ?? 0) & aside) && home[e.t] >= 0 && home[e.t] !== home[i]) visit(home[i], home[e.t], i, e)
  })
  link((from, to) => into[to].add(from))
  const merged = absorb(cards, into)
  for (let i = 0; i < home.length; i++) if (home[i] >= 0) home[i] = merged[home[i]]

  const lines = new Map<string, Line>()
  link((from, to, node, edge) => {
    const key = from + ' ' + to, line = lines.get(key)
    if (line) line.evidence.push({ node, edge })
    else lines.set(key, { from, to, evidence: [{ node, edge }], inferred: false, optional: false })
  })
  for (const l of lines.values()) {
    l.evidence.sort((a, b) => +!!a.edge.o - +!!b.edge.o || +!!a.edge.i - +!!b.edge.i || a.node - b.node)
    l.inferred = l.evidence.every(({ edge }) => edge.i)
    l.optional = l.evidence.every(({ edge }) => edge.o)
  }
  sums(page, cards, home)
  return compact(cards, [...lines.values()], rest(page))
}

/** Which card each one is part of: a part that one card needs is in that card, and so on; one that none needs stays. */
function absorb(cards: Card[], into: Set<number>[]): Int32Array {
  const merged = Int32Array.from(cards, (_, i) => i)
  const find = (i: number): number => { while (merged[i] !== i) i = merged[i] = merged[merged[i]]; return i }
  for (let again = true; again;) {
    again = false
    for (let i = 0; i < cards.length; i++) {
      if (cards[i].stack || merged[i] !== i) continue
      const users = new Set([...into[i]].map(find))
      users.delete(i)
      if (users.size !== 1) continue
      merged[i] = [...users][0]
      again = true
    }
  }
  for (let i = 0; i < cards.length; i++) find(i)
  return merged
}

/** Adds health, pods and costs to the cards. */
function sums(page: Page, cards: Card[], home: Int32Array): void {
  const { nodes } = page.uiState, pod = page.uiState.kinds.findIndex((k) => k.kind === 'Pod' && !k.group)
  const counts = new Map<number, boolean>() // whether an object counts for the health of a stack that has it
  for (const c of cards) {
    if (!c.stack) continue
    for (const p of c.stack.tree) {
      if (p.a) continue
      counts.set(p.n, counts.get(p.n) || !p.x)
      if (!p.o) continue
      const of = cards[home[p.n]]
      of.payers.set(c.key, (of.payers.get(c.key) ?? 0) + p.o)
      if (of !== c) c.shared += p.o
    }
  }
  nodes.forEach((n, i) => {
    const c = home[i] >= 0 ? cards[home[i]] : undefined
    if (!c || c.stack || !n) return
    const health = n.h ?? (n.t === 'missing' ? 5 : 0)
    if (counts.get(i) && health > c.health) c.health = health
    if (n.k === pod) c.pods = [(c.pods[0] ?? 0) + 1, (c.pods[1] ?? 0) + +(n.h === 1)]
  })
  for (const c of cards) if (!c.stack && c.payers.size) c.cost = [...c.payers.values()].reduce((a, b) => a + b, 0)
}

/** Drops the parts that no card needs, and numbers the others anew. */
function compact(cards: Card[], lines: Line[], rest: Rest[]): MapModel {
  const needed = new Set(lines.map((l) => l.to)), number = new Map<number, number>(), kept: Card[] = []
  cards.forEach((c, i) => { if (c.stack || needed.has(i)) number.set(i, kept.push(c) - 1) })
  const m = { cards: kept, rest, lines: lines.filter((l) => number.has(l.from) && number.has(l.to)).map((l) => ({ ...l, from: number.get(l.from)!, to: number.get(l.to)! })) }
  m.cards.forEach((c, i) => {
    const users = m.lines.filter((l) => l.to === i && !l.optional).map((l) => m.cards[l.from])
    c.users = users.length
    c.spaces = new Set(users.map((u) => u.namespace)).size
    c.dependants = dependants(m, i).length
  })
  return m
}

/** The objects that are in no stack, by kind and why: those with the most first. */
function rest(page: Page): Rest[] {
  const { nodes, stacks } = page.uiState, within = new Set(stacks.flatMap((s) => s.tree.map((p) => p.n))), out = new Map<string, Rest>()
  // What is for the whole cluster stands in no tree, also where a stack needs it.
  for (const i of [...within]) for (const e of nodes[i]?.e ?? []) if (nodes[e.t]?.b) within.add(e.t)
  nodes.forEach((n, i) => {
    if (!n || n.t || within.has(i)) return
    const why = whyAlone(page, i), key = n.k + ' ' + why
    out.get(key)?.nodes.push(i) ?? out.set(key, { kind: page.kind(n).kind, why, nodes: [i] })
  })
  return [...out.values()].sort((a, b) => b.nodes.length - a.nodes.length || compare(a.kind, b.kind, false))
}

/** The stacks of a map that are wanted, and what they need, with the costs and users that it has in the whole. */
export function part(m: MapModel, wanted: (s: Stack) => boolean): MapModel {
  const kept = new Set(m.cards.map((_, i) => i).filter((i) => m.cards[i].stack && wanted(m.cards[i].stack!))), todo = [...kept]
  for (let at = todo.pop(); at !== undefined; at = todo.pop()) {
    for (const l of m.lines) if (l.from === at && !l.optional && !kept.has(l.to)) { kept.add(l.to); todo.push(l.to) }
  }
  const number = new Map([...kept].sort((a, b) => a - b).map((i, n) => [i, n]))
  return { rest: m.rest, cards: [...number.keys()].map((i) => m.cards[i]), lines: m.lines.filter((l) => number.has(l.from) && number.has(l.to)).map((l) => ({ ...l, from: number.get(l.from)!, to: number.get(l.to)! })) }
}

/** The part of the map that is chosen, in regions of namespaces or of System apps. */
export function chosen(page: Page, whole: MapModel): MapModel {
  const cluster = showsCluster(page), m = part(whole, (s) => (cluster || !s.cluster) && inGroups(page, s))
  if (!page.choice.group) return m
  const app = appsOf(page)
  return { ...m, cards: m.cards.map((c) => ({ ...c, group: app(c.node) })) }
}

/** The stacks that need a card, directly or by others. */
export function dependants(m: MapModel, card: number): number[] {
  const seen = new Set([card]), todo = [card]
  for (let at = todo.pop(); at !== undefined; at = todo.pop()) {
    for (const l of m.lines) if (l.to === at && !l.optional && !seen.has(l.from)) { seen.add(l.from); todo.push(l.from) }
  }
  seen.delete(card)
  return [...seen].filter((i) => m.cards[i].stack).sort((a, b) => a - b)
}

/** The cards in trouble: the worst first, then what more depends on, then the expensive, then the name. */
export function broken(m: MapModel): number[] {
  return m.cards.map((_, i) => i).filter((i) => isBroken(m.cards[i].health))
    .map((i) => ({ i, c: m.cards[i] }))
    .sort((a, b) => b.c.health - a.c.health || b.c.dependants - a.c.dependants || (b.c.cost ?? 0) - (a.c.cost ?? 0) || compare(a.c.key, b.c.key, false)).map(({ i }) => i)
}

/** The kind and the name of a card. */
export const titleOf = (c: Card) => { const { kind, name } = parse(c.key); return name ? { kind, name: visible(name) } : { kind: '', name: visible(c.key) } }

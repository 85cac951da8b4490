// The shape of a stack: its tree after filters and folding, shared by treegrid and graph.
//
// The layout is stable when health changes: folding depends on the health at the last change of
// objects. A fold shows the worst health of its objects.

import { linksOf } from './links.ts'
import { filtersOf, type Choice, type Page } from './page.ts'
import type { Node, Place, Stack } from './ui_state.ts'
import { kindKey, trouble, wordsOf } from './words.ts'

/** A row of the treegrid and a card of the graph: one object, or a fold of equal leaves. */
export interface Item {
  /** Unique in the shape, and stable across changes: the ref of the node, and that of its parent. */
  key: string
  /** The index in stack.tree; of a fold that of its first leaf. */
  place: number
  node: number
  /** The places of a fold; undefined for an object. An open fold has its objects as children. */
  fold?: number[]
  /** The worst node of a fold, if it is unhealthy. */
  bad?: number
  depth: number
  parent: Item | null
  children: Item[]
  /** The worst health of the object and its descendants; of a fold that of its leaves. */
  worst: number
  /** In hundredths; undefined if unknown. */
  cost?: number
  /** Shown only because a descendant matches the filters. */
  context: boolean
}

export interface Shape {
  roots: Item[]
  /** All items in preorder, also those in closed rows. */
  items: Item[]
  /** The number of shown objects, with those in folds of equal leaves, of the total below the chosen root. */
  shown: number
  of: number
  /** The number of matching objects that are folded because of the limit. */
  capped: number
}

/** The maximum of items; above it healthy items are folded, the deepest first. Unhealthy ones are never folded. */
export const limit = 1500
/** More equal leaves than this are folded. */
export const maxEqual = 3
/** In choice.open: disables folding and the limit. */
export const all = '*'

/** The name of a fold that the limit creates. */
const more = 'more'

interface Memory { tree: Place[]; bad: Set<number>; at: string; choice: string; uiState: unknown; shape?: Shape }
const memories = new WeakMap<Page, Map<string, Memory>>()

export function shape(page: Page, stack: Stack): Shape {
  let byStack = memories.get(page)
  if (!byStack) memories.set(page, byStack = new Map())
  let m = byStack.get(stack.name)
  if (!m || m.tree !== stack.tree) {
    const bad = !FILE && m && sameTree(m.tree, stack.tree) ? m.bad : troubled(page, stack)
    byStack.set(stack.name, m = { tree: stack.tree, bad, at: '', choice: '', uiState: null })
  }
  const choice = JSON.stringify([page.choice.root, page.choice.open, page.choice.sort, filtersOf(page.choice)])
  if (!m.shape || m.at !== page.uiState.at || m.choice !== choice || m.uiState !== page.uiState) {
    Object.assign(m, { at: page.uiState.at, choice, uiState: page.uiState, shape: build(page, stack, m.bad) })
  }
  return m.shape!
}

function sameTree(a: Place[], b: Place[]): boolean {
  return a.length === b.length && a.every((p, i) => p.n === b[i].n && p.d === b[i].d && p.w === b[i].w && p.a === b[i].a)
}

/** The nodes that are unhealthy themselves now. */
function troubled(page: Page, stack: Stack): Set<number> {
  return new Set(stack.tree.filter(({ n }) => own(page.uiState.nodes[n]) >= trouble && !isQuiet(page, n)).map((p) => p.n))
}

/** The health that an item shows as its own; of a fold the worst in it. What is missing and only optionally needed has none. */
export const healthOf = (page: Page, it: Item) => it.fold ? it.worst : isQuiet(page, it.node) ? 0 : own(page.uiState.nodes[it.node])

const own = (n: Node | null) => n?.h ?? (n?.t === 'missing' ? 5 : 0)

/** Whether an object is missing, and all that refers to it says that it is optional. */
export function isQuiet(page: Page, id: number): boolean {
  if (page.uiState.nodes[id]?.t !== 'missing') return false
  const into = linksOf(page).into[id]
  return into.length > 0 && into.every(({ edge }) => edge.o)
}

function build(page: Page, stack: Stack, bad: Set<number>): Shape {
  const { uiState, choice } = page, { tree } = stack, open = new Set(choice.open)
  const [from, to] = range(page, tree)
  const parent = parents(tree, from, to), want = wanted(page, tree, from, to)
  const keep = want.slice()
  for (let i = to - 1; i > from; i--) if (keep[i] && parent[i] >= 0) keep[parent[i]] = 1
  const item: Item[] = [], roots: Item[] = []
  let shown = 0
  for (let i = from; i < to; i++) {
    const p = tree[i], node = uiState.nodes[p.n]
    if (!keep[i] || !node) continue
    let up = parent[i]
    while (up >= 0 && !item[up]) up = parent[up]
    const above = item[up] ?? null
    const it: Item = {
      key: page.ref(p.n) + (above ? '<' + page.ref(above.node) : ''), place: i, node: p.n, depth: above ? above.depth + 1 : 0, parent: above, children: [],
      worst: Math.max(isQuiet(page, p.n) ? 0 : node.h ?? 0, p.b ?? 0), cost: p.c, context: !want[i],
    }
    item[i] = it
    ;(above?.children ?? roots).push(it)
    if (want[i] && !p.a) shown++
  }
  const f: Folding = { page, tree, bad, open }
  const ill = (it: Item) => it.children.length ? it.worst : healthOf(page, it)
  const order = choice.sort === 'health' ? (a: Item, b: Item) => ill(b) - ill(a) || healthOf(page, b) - healthOf(page, a) || last(page, a) - last(page, b) : (a: Item, b: Item) => last(page, a) - last(page, b)
  for (const siblings of [roots, ...item.filter(Boolean).map((it) => it.children)]) siblings.sort(order)
  let capped = 0
  if (!open.has(all)) {
    foldEqual(f, roots, null)
    for (let i = from; i < to; i++) if (item[i]?.children.length) foldEqual(f, item[i].children, item[i])
    if (LARGE) cap(f, roots)
  }
  const items = preorder(roots)
  if (LARGE) for (const it of items) {
    if (it.key.startsWith(`(${more})`) && !it.children.length) for (const p of it.fold!) if (want[p] && !tree[p].a) capped++
  }
  return { roots, items, shown: shown - capped, of: tree.slice(from, to).filter((p) => !p.a).length, capped }
}

/** ConfigMaps are last among siblings. */
const last = (page: Page, it: Item) => +(page.kind(page.node(it.node)).kind === 'ConfigMap')

/** The range of the tree that is shown: all, or the subtree of the chosen root. */
export function range(page: Page, tree: Place[]): [number, number] {
  const root = page.choice.root ? page.find(page.choice.root) : -1
  const at = root < 0 ? -1 : tree.findIndex((p) => p.n === root && !p.a)
  if (at < 0) return [0, tree.length]
  const end = tree.findIndex((p, i) => i > at && (p.d ?? 0) <= (tree[at].d ?? 0))
  return [at, end < 0 ? tree.length : end]
}

function parents(tree: Place[], from: number, to: number): number[] {
  const path: number[] = [], parent: number[] = [], base = tree[from]?.d ?? 0
  for (let i = from; i < to; i++) {
    const d = Math.min((tree[i].d ?? 0) - base, path.length)
    parent[i] = d > 0 ? path[d - 1] : -1
    path.length = d
    path.push(i)
  }
  return parent
}

const texts = new WeakMap<Node, string>()

/** The text that a search matches: kind/name, namespace, reason and labels. */
export function searchText(page: Page, n: Node): string {
  let text = texts.get(n)
  if (text === undefined) {
    text = [`${page.kind(n).kind}/${n.n}`, page.namespace(n), n.r ?? '', ...(n.l ?? []).map((l) => page.uiState.labels[l])].join('\n').toLowerCase()
    texts.set(n, text)
  }
  return text
}

/** The relation of a place to its parent, by its w. */
export const relationOf = { root: '', owned: 'owns', needed: 'needs', serving: 'serves', behind: 'serves', made: 'owns' }

/** 1 for each place that matches the filters. */
function wanted(page: Page, tree: Place[], from: number, to: number): Uint8Array {
  const c = page.choice, { uiState } = page, want = new Uint8Array(tree.length)
  const kinds = uiState.kinds.map((k) => c.kinds.includes(k.kind) || c.kinds.includes(kindKey(k)))
  const namespaces = uiState.namespaces.map((n) => c.namespaces.includes(n))
  const words = wordsOf(c.search), labels = selector(c)
  for (let i = from; i < to; i++) {
    const p = tree[i], n = uiState.nodes[p.n]
    want[i] = n
      && (!c.kinds.length || kinds[n.k])
      && (!c.namespaces.length || namespaces[n.s ?? 0])
      && (!c.health.length || c.health.includes(n.h ?? 0))
      && (!c.relations.length || c.relations.includes(relationOf[p.w ?? 'root']) || (p.w ?? 'root') === 'root')
      && labels.every((any) => n.l?.some((l) => any.includes(uiState.labels[l])))
      && (!words.length || words.every((w) => searchText(page, n).includes(w))) ? 1 : 0
  }
  return want
}

/** The chosen labels by key: labels of one key are alternatives, and all keys must match. */
function selector(c: Choice): string[][] {
  const byKey = new Map<string, string[]>()
  for (const l of c.labels) {
    const key = l.split('=', 1)[0]
    byKey.set(key, [...(byKey.get(key) ?? []), l])
  }
  return [...byKey.values()]
}

interface Folding { page: Page; tree: Place[]; bad: Set<number>; open: Set<string> }

/** Folds equal leaves among siblings: those of the same kind and relation. */
function foldEqual(f: Folding, siblings: Item[], parent: Item | null): void {
  if (siblings.length <= maxEqual) return
  const groups = new Map<string, Item[]>()
  for (const it of siblings) {
    const p = f.tree[it.place], n = f.page.node(it.node)
    if (it.children.length || p.a || it.context || f.bad.has(it.node)) continue
    const key = (p.w ?? 'root') + ':' + n.k + (n.t ?? '')
    const group = groups.get(key)
    if (group) group.push(it)
    else groups.set(key, [it])
  }
  for (const group of groups.values()) {
    if (group.length <= maxEqual) continue
    const { w = 'root' } = f.tree[group[0].place], n = f.page.node(group[0].node), k = f.page.kind(n)
    replace(f, siblings, group, parent, `${w}:${kindKey(k)}${n.t ?? ''}`)
  }
}

/** Replaces a group of siblings by one fold, at the position of the first. */
function replace(f: Folding, siblings: Item[], group: Item[], parent: Item | null, name: string): Item {
  const fold: Item = {
    key: '(' + name + ')' + (parent ? '<' + parent.key : ''), place: group[0].place, node: group[0].node, fold: group.flatMap(places), depth: group[0].depth,
    parent, children: [], worst: Math.max(...group.map((it) => it.children.length || it.fold ? it.worst : healthAt(f, it.place))), cost: sumOf(group), context: false,
  }
  const worst = fold.fold!.reduce((a, b) => healthAt(f, b) > healthAt(f, a) ? b : a)
  if (healthAt(f, worst) >= trouble) fold.bad = f.tree[worst].n
  if (f.open.has(fold.key)) {
    fold.children = group
    for (const it of group) it.parent = fold
    deepen(group)
  }
  const at = siblings.indexOf(group[0]), gone = new Set(group)
  siblings[at] = fold
  let to = at + 1
  for (let i = to; i < siblings.length; i++) if (!gone.has(siblings[i])) siblings[to++] = siblings[i]
  siblings.length = to
  return fold
}

const healthAt = (f: Folding, place: number) => isQuiet(f.page, f.tree[place].n) ? 0 : f.page.node(f.tree[place].n).h ?? 0

function sumOf(items: Item[]): number | undefined {
  const known = items.filter((it) => it.cost !== undefined)
  return known.length ? known.reduce((sum, it) => sum + it.cost!, 0) : undefined
}

/** The places of an item and its descendants. */
function places(it: Item): number[] {
  const out: number[] = []
  for (const x of preorder([it])) {
    if (!x.fold) out.push(x.place)
    else if (!x.children.length) for (const p of x.fold) out.push(p)
  }
  return out
}

function deepen(items: Item[]): void {
  for (const it of preorder(items)) it.depth++
}

function preorder(roots: Item[]): Item[] {
  const out: Item[] = [], todo = [...roots].reverse()
  for (let it = todo.pop(); it; it = todo.pop()) {
    out.push(it)
    for (let i = it.children.length - 1; i >= 0; i--) todo.push(it.children[i])
  }
  return out
}

/** Folds siblings with healthy subtrees until the items are within the limit: the deepest first, and
    of siblings only as many as necessary, from the last. */
function cap(f: Folding, roots: Item[]): void {
  const items = preorder(roots)
  let count = items.length
  if (count <= limit) return
  const firm = new Set<Item>(), size = new Map<Item, number>(), levels: (Item | null)[][] = [[null]]
  for (let i = items.length - 1; i >= 0; i--) {
    const it = items[i]
    if (isFirm(f, it) || it.children.some((c) => firm.has(c))) firm.add(it)
    size.set(it, it.children.reduce((n, c) => n + size.get(c)!, 1))
    if (it.children.length && !it.fold) (levels[it.depth + 1] ??= []).push(it)
  }
  for (const level of levels.reverse()) {
    for (const parent of level ?? []) {
      if (count <= limit) return
      const siblings = parent?.children ?? roots, soft: Item[] = []
      let less = -1
      for (let i = siblings.length - 1; i >= 0 && count - less > limit; i--) {
        if (firm.has(siblings[i])) continue
        soft.unshift(siblings[i])
        less += size.get(siblings[i])!
      }
      if (less < 1) continue
      const fold = replace(f, siblings, soft, parent, more)
      if (fold.children.length) {
        firm.add(fold)
        continue
      }
      count -= less
      size.set(fold, 1)
      for (let up = parent; up; up = up.parent) size.set(up, size.get(up)! - less)
    }
  }
}

/** Firm items are not folded by the limit: nodes that were unhealthy when the stack last changed, and opened folds. */
const isFirm = (f: Folding, it: Item) => it.fold ? it.children.length > 0 : f.bad.has(it.node)

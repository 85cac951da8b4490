// The state of the page: the UIState, the choice of the user and the address. Views read it and
// call set; no state that another view needs is kept elsewhere.

import type { Change, Edge, Kind, Node, UIState, Place, Stack, ViewName } from './ui_state.ts'
import { health, kindKey, relations } from './words.ts'

/** The choice of the user, which is encoded in the address. Nodes are Kind.group/namespace/name. */
export interface Choice {
  view: ViewName
  /** The name of the shown stack. */
  stack: string
  /** The node that the stack is re-rooted at, or empty. */
  root: string
  /** The selection, shared by tree, graph and details. */
  node: string
  /** The second object of a path, or empty. */
  to: string
  /** The object whose deletion is followed, or empty; and how its dependents are deleted. */
  impact: string
  cascade: string
  search: string
  kinds: string[]
  namespaces: string[]
  labels: string[]
  health: number[]
  /** The shown relations, of owns, needs, serves; empty for all. */
  relations: string[]
  /** Opened folds and closed places, by key. */
  open: string[]
  closed: string[]
  /** tree, graph, or both side by side. */
  show: 'tree' | 'graph' | 'both'
  /** What the graph shows; empty: the workloads of a large stack, the objects of another one. */
  depth: '' | 'workloads' | 'objects'
  /** The column that a table is sorted by; the prefix - reverses the order. */
  sort: string
  /** The grouping of costs: namespace, or label KEY; empty for stacks. */
  by: string
  /** The stacks as a table, not as a map. */
  as: '' | 'table'
  /** What the regions of the map are: System apps, else namespaces. */
  group: '' | 'app'
  /** What the tone of a card of the map says: its cost, else nothing. */
  tone: '' | 'cost'
}

/** The server of the page; a saved page has null. */
export interface Server {
  /** GET of a JSON document; fails with the message of the server. */
  get<T>(path: string, query?: { [key: string]: string }, signal?: AbortSignal): Promise<T>
  post<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T>
}

export interface Connection {
  /** live, stale (with a reason), ended, or still (a snapshot or a file). */
  state: 'live' | 'stale' | 'ended' | 'still'
  why: string
  /** The time of the last event, in ms of Unix time. */
  at: number
}

/** Stores the choice. */
export interface Address {
  read(): string
  /** Sets the fragment; push adds an entry to the history of the browser. */
  write(text: string, push: boolean): void
  watch(changed: () => void): void
}

export class Page {
  choice: Choice
  connection: Connection = { state: 'still', why: '', at: 0 }
  /** Counts changes of objects and edges, not of health. */
  topology = 0
  /** The stack that the server returned for a chosen root that is in no tree of the UIState. */
  rooted: { root: string; stack: Stack } | null = null
  /** The changes of the health of stacks since the page is open, the newest first. */
  changes: { at: number; stack: string; from: number; to: number; cause: string }[] = []
  /** Whether details are shown for a selection. */
  details = true
  /** Whether the page is printed, and therefore shows what else only scrolls into sight. */
  printing = false
  /** Opens the details and moves the focus there; Esc returns. StackView sets it. */
  toDetails = () => {}
  private listeners = new Set<() => void>()
  private index: Map<string, number> | null = null
  /** The last filters of each view. */
  private filters = new Map<ViewName, Partial<Choice>>()

  constructor(public uiState: UIState, public server: Server | null, private address: Address | null = browserAddress()) {
    this.choice = this.read()
    address?.watch(() => {
      const { node } = this.choice
      this.choice = this.read()
      if (this.choice.node !== node) this.details = true
      this.tell()
    })
  }

  private read(): Choice {
    const text = this.address?.read() ?? ''
    return this.placed((text && (FILE || !isToken(text)) ? decode(text) : null) ?? (FILE && this.uiState.address ? decode(this.uiState.address) : null) ?? this.home())
  }

  /** An address may name an object as a stack that is none: it is selected in its stack, or is a root. */
  private placed(c: Choice): Choice {
    const { stacks } = this.uiState, id = stacks.some((s) => s.name === c.stack) ? -1 : this.find(c.stack)
    if (id < 0) return c
    const holder = stacks.find((s) => s.tree.some((p) => p.n === id))
    return holder ? { ...c, stack: holder.name, node: c.node || c.stack } : { ...c, stack: '', root: c.root || c.stack }
  }

  /** The choice for an empty address. */
  private home(): Choice {
    const { view, stacks } = this.uiState, single = stacks.length === 1 ? stacks[0].name : ''
    const first = view || (single ? 'stack' : 'stacks')
    return { ...none(), view: first, stack: first === 'stack' ? single || stacks[0]?.name || '' : '' }
  }

  /** Changes the choice and notifies listeners; with jump, Back returns to the previous choice. */
  set(patch: Partial<Choice>, jump = false): void {
    this.choice = { ...this.choice, ...patch }
    if (patch.node || patch.impact) this.details = true
    this.address?.write(encode(this.choice), jump)
    this.tell()
  }

  /** Follows the deletion of the selected object, or no longer; of what does not exist there is none. */
  toggleImpact(): void {
    const { node, impact } = this.choice, { t } = this.node(this.selected())
    if (t !== 'missing' && t !== 'virtual') this.set({ impact: impact === node ? '' : node, cascade: '' }, true)
  }

  /** Another view, with its last filters. */
  last(view: ViewName): Choice {
    return { ...this.choice, ...noFilters(), ...this.filters.get(view), view, sort: '' }
  }

  /** Shows another view, with its last filters; without a stack the worst one. */
  go(view: ViewName): void {
    if (view === this.choice.view) return
    const to = this.last(view)
    if (view === 'stack') to.stack ||= this.uiState.stacks.reduce<Stack | undefined>((a, s) => a && (a.health ?? 0) >= (s.health ?? 0) ? a : s, undefined)?.name ?? ''
    this.jump(to)
  }

  /** A whole stack without filters, with the node selected. */
  inStack(stack: string, node = ''): Choice {
    const { show, as, group, tone } = this.choice
    return { ...none(), view: 'stack', show, as, group, tone, stack, node }
  }

  /** Where an object is shown: in the shown stack, else in the first stack that contains it, else as a root. */
  whereIs(ref: string): Choice {
    const id = this.find(ref), has = (s?: Stack) => s?.tree.some((p) => p.n === id)
    const stack = has(this.stack()) ? this.choice.stack : this.uiState.stacks.find(has)?.name
    return stack ? this.inStack(stack, ref) : { ...this.inStack(this.choice.stack, ref), root: ref }
  }

  /** Goes to a choice; Back returns. */
  jump(to: Choice): void {
    const { view } = this.choice
    if (to.view !== view) this.filters.set(view, filtersOf(this.choice))
    this.set(to, true)
  }

  open(stack: string, node = ''): void { this.jump(this.inStack(stack, node)) }
  reveal(ref: string): void { this.jump(this.whereIs(ref)) }

  /** Applies a change to the UIState. */
  apply(change: Change): void {
    if (!FILE) {
      const { uiState } = this, { head, order } = change
      const nodes = change.nodes ? uiState.nodes.slice() : uiState.nodes
      const next: UIState = { ...(head ?? uiState), at: change.at, nodes, stacks: uiState.stacks }
      let moved = false
      for (const [at, node] of Object.entries(change.nodes ?? {})) {
        const id = +at, old = nodes[id] ?? null
        if (old && this.index?.get(this.ref(id)) === id) this.index.delete(this.ref(id))
        while (nodes.length < id) nodes.push(null)
        nodes[id] = node
        moved ||= !sameObject(old, node)
      }
      if (change.stacks || order) {
        const byName = new Map(uiState.stacks.map((s) => [s.name, s]))
        for (const [name, stack] of Object.entries(change.stacks ?? {})) {
          moved ||= !sameStack(byName.get(name), stack)
          if (stack) byName.set(name, stack)
          else byName.delete(name)
        }
        next.stacks = (order ?? [...byName.keys()]).flatMap((name) => byName.get(name) ?? [])
      }
      this.uiState = next
      this.note(uiState.stacks)
      if (head && !(begins(uiState.kinds.map(kindKey), next.kinds.map(kindKey)) && begins(uiState.namespaces, next.namespaces))) this.index = null
      if (this.index) for (const at of Object.keys(change.nodes ?? {})) if (nodes[+at]) this.index.set(this.ref(+at), +at)
      if (moved) this.topology++
      this.tell()
    }
  }

  /** Replaces the UIState, after a reconnect. The choice is preserved. */
  replace(next: UIState): void {
    if (!FILE) {
      const { nodes, stacks } = this.uiState
      const same = nodes.length === next.nodes.length && nodes.every((n, i) => sameObject(n, next.nodes[i]))
        && stacks.length === next.stacks.length && stacks.every((s, i) => s.name === next.stacks[i].name && sameStack(s, next.stacks[i]))
      this.uiState = next
      this.index = null
      this.note(stacks)
      if (!same) this.topology++
      this.tell()
    }
  }

  /** Notes the stacks whose health is another one than before; one that is new or gone is no change. */
  private note(before: Stack[]): void {
    if (FILE) return
    const old = new Map(before.map((s) => [s.name, s.health ?? 0]))
    for (const s of this.uiState.stacks) {
      const from = old.get(s.name), to = s.health ?? 0, n = s.causes?.[0]?.n
      if (from !== undefined && from !== to) this.changes.unshift({ at: Date.parse(this.uiState.at) / 1000, stack: s.name, from, to, cause: n !== undefined && this.uiState.nodes[n] ? this.ref(n) : '' })
    }
    this.changes.length = Math.min(this.changes.length, 200)
  }

  connected(connection: Partial<Connection>): void {
    if (!FILE) {
      const { state, why } = this.connection
      Object.assign(this.connection, connection)
      if (state !== this.connection.state || why !== this.connection.why) this.tell()
    }
  }

  watch(listener: () => void): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  print(on: boolean): void {
    this.printing = on
    this.tell()
  }

  tell(): void {
    for (const l of this.listeners) l()
  }

  node(id: number): Node { return this.uiState.nodes[id]! }
  kind(n: Node): Kind { return this.uiState.kinds[n.k] }
  namespace(n: Node): string { return this.uiState.namespaces[n.s ?? 0] }
  /** Returns Kind.group/namespace/name. */
  ref(id: number): string {
    const n = this.node(id), k = this.kind(n), ns = this.namespace(n)
    return kindKey(k) + '/' + (ns ? ns + '/' : '') + n.n
  }

  /** Returns the ID of a node, or -1. */
  find(ref: string): number {
    if (!ref) return -1
    if (!this.index) {
      this.index = new Map()
      for (let i = 0; i < this.uiState.nodes.length; i++) if (this.uiState.nodes[i]) this.index.set(this.ref(i), i)
    }
    return this.index.get(ref) ?? -1
  }

  stack(): Stack | undefined {
    const { stack, root } = this.choice
    return root && this.rooted?.root === root ? this.rooted.stack : this.uiState.stacks.find((s) => s.name === stack)
  }

  /** Returns the ID of the selected node, or -1. */
  selected(): number { return this.find(this.choice.node) }

  /** The chosen objects that do not exist now. The choice is preserved, since they may reappear. */
  gone(): { what: 'stack' | 'root' | 'node' | 'to' | 'impact'; ref: string }[] {
    const { stack, root, node, to, impact } = this.choice
    return [
      ...(stack && !this.uiState.stacks.some((s) => s.name === stack) ? [{ what: 'stack' as const, ref: stack }] : []),
      ...(['root', 'node', 'to', 'impact'] as const).map((field) => ({ what: field, ref: { root, node, to, impact }[field] })).filter(({ ref }) => ref && this.find(ref) < 0),
    ]
  }

  /** The reference for ages, in seconds of Unix time: for a snapshot or a file, its read time. */
  now(): number {
    return (this.uiState.mode === 'live' ? Date.now() : Date.parse(this.uiState.at)) / 1000
  }
}

const begins = (a: string[], b: string[]) => a.every((x, i) => x === b[i])
const isToken = (text: string) => /(^|&)token=/.test(text)

const sameEdges = (a: Edge[] = [], b: Edge[] = []) =>
  a.length === b.length && a.every((x, i) => { const y = b[i]; return x.t === y.t && x.r === y.r && x.v === y.v && x.w === y.w && x.u === y.u && (x.f ?? 0) === (y.f ?? 0) && !x.i === !y.i && !x.o === !y.o })

const sameObject = (a: Node | null | undefined, b: Node | null | undefined) =>
  a === b || !a && !b || !!a && !!b && a.k === b.k && (a.s ?? 0) === (b.s ?? 0) && a.n === b.n && a.t === b.t && sameEdges(a.e, b.e)

const samePlace = (a: Place, b: Place) => a.n === b.n && (a.d ?? 0) === (b.d ?? 0) && a.w === b.w && !a.a === !b.a

const sameStack = (a: Stack | null | undefined, b: Stack | null | undefined) =>
  a === b || !!a && !!b && a.tree.length === b.tree.length && a.tree.every((p, i) => samePlace(p, b.tree[i]))

export const noFilters = () => ({ search: '', kinds: [] as string[], namespaces: [] as string[], labels: [] as string[], health: [] as number[], relations: [] as string[] })

/** The filters of a choice. */
export const filtersOf = ({ search, kinds, namespaces, labels, health, relations }: Choice) => ({ search, kinds, namespaces, labels, health, relations })

export function none(): Choice {
  return { view: 'stacks', stack: '', root: '', node: '', to: '', impact: '', cascade: '', ...noFilters(), open: [], closed: [], show: 'both', depth: '', sort: '', by: '', as: '', group: '', tone: '' }
}

export const viewNames: ViewName[] = ['stacks', 'stack', 'costs', 'findings', 'regulation', 'compose']

/** The parameters of an address, and their fields in Choice: single values, and lists. */
const texts = { in: 'stack', root: 'root', at: 'node', to: 'to', impact: 'impact', cascade: 'cascade', q: 'search', sort: 'sort', by: 'by' } as const
const lists = { kind: 'kinds', ns: 'namespaces', label: 'labels', rel: 'relations', open: 'open', closed: 'closed' } as const

/** Encodes the choice, such as "stack?in=Moodle.example/shop/blog&health=Degraded", without default
    values. */
export function encode(c: Choice): string {
  const out: string[] = []
  const put = (key: string, value: string) => out.push(key + '=' + encodeURIComponent(value).replace(/%(2F|3A|40|2C|3D)/g, (_, hex) => String.fromCharCode(parseInt(hex, 16))))
  for (const [key, field] of Object.entries(texts)) if (c[field]) put(key, c[field])
  for (const [key, field] of Object.entries(lists)) for (const value of c[field]) put(key, value)
  for (const h of c.health) put('health', health[h]?.word || 'none')
  if (c.show !== 'both') put('show', c.show)
  if (c.depth) put('depth', c.depth)
  for (const key of ['as', 'group', 'tone'] as const) if (c[key]) put(key, c[key])
  return c.view + (out.length ? '?' + out.join('&') : '')
}

/** Decodes the choice of an address; null if it names no view. Unknown values are ignored. */
export function decode(text: string): Choice | null {
  const at = text.indexOf('?'), view = (at < 0 ? text : text.slice(0, at)).replace(/^[#/]+/, '') as ViewName
  if (!viewNames.includes(view)) return null
  const query = new URLSearchParams(at < 0 ? '' : text.slice(at + 1)), c = { ...none(), view }
  const all = (key: string) => [...new Set(query.getAll(key).filter(Boolean))]
  for (const [key, field] of Object.entries(texts)) c[field] = query.get(key) ?? ''
  for (const [key, field] of Object.entries(lists)) c[field] = all(key)
  c.relations = c.relations.filter((r) => (relations as readonly string[]).includes(r))
  c.health = all('health').map((w) => w === 'none' ? 0 : health.findIndex((h) => h.word === w)).filter((h) => h >= 0)
  const show = query.get('show')
  if (show === 'tree' || show === 'graph') c.show = show
  const depth = query.get('depth')
  if (depth === 'workloads' || depth === 'objects') c.depth = depth
  if (query.get('as') === 'table') c.as = 'table'
  if (query.get('group') === 'app') c.group = 'app'
  if (query.get('tone') === 'cost') c.tone = 'cost'
  return c
}

/** The address of the browser. Writes are throttled, since browsers limit changes of the history. */
function browserAddress(): Address | null {
  if (typeof window === 'undefined') return null
  let late = 0, text = location.hash.slice(1)
  const write = (push: boolean) => { try { history[push ? 'pushState' : 'replaceState'](null, '', '#' + text) } catch { /* rate limit of the browser */ } }
  const settle = () => {
    if (late) write(false)
    clearTimeout(late)
    late = 0
  }
  addEventListener('pagehide', settle)
  return {
    read: () => text,
    write(next, push) {
      if (push) settle()
      text = next
      if (push) write(true)
      else if (!late) {
        write(false)
        late = window.setTimeout(settle, 200)
      }
    },
    watch(changed) {
      addEventListener('popstate', () => {
        clearTimeout(late)
        late = 0
        const now = location.hash.slice(1)
        // A restarted server has the same port, and its address was opened in the same tab.
        if (!FILE && isToken(now)) location.reload()
        else if (now !== text) {
          text = now
          changed()
        }
      })
    },
  }
}

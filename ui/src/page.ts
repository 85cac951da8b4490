// What is shown, and of what: the one place where the UIState, the choice of the user and the
// address meet. Views read it and call set; nothing else holds state that another view needs.

import type { Change, Edge, Kind, Node, UIState, Place, Stack, ViewName } from './ui_state.ts'
import { health, kindKey, relations } from './words.ts'

/** What the user chose. All of it is in the address. Nodes are written as Kind.group/namespace/name. */
export interface Choice {
  view: ViewName
  /** The stack that is shown, by name. */
  stack: string
  /** The node that is looked at from now on (re-rooted), or empty. */
  root: string
  /** The one selection of tree, graph and details. */
  node: string
  /** The second object of a path, or empty. */
  to: string
  search: string
  kinds: string[]
  namespaces: string[]
  labels: string[]
  health: number[]
  /** Relations that are shown, of owns, needs, serves; empty for all. */
  relations: string[]
  /** Folds that were opened, and places that were closed, by key. */
  open: string[]
  closed: string[]
  /** tree, graph, or both side by side. */
  show: 'tree' | 'graph' | 'both'
  /** How a table is sorted: the name of a column, with - before it for the other way round. */
  sort: string
  /** What costs are by: namespace, or label KEY; empty for stacks. */
  by: string
}

/** Whom the page can ask. A file has nobody to ask: then it is null. */
export interface Server {
  /** GET of a JSON document; the error is what the server says. */
  get<T>(path: string, query?: { [key: string]: string }, signal?: AbortSignal): Promise<T>
  post<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T>
}

export interface Connection {
  /** live, stale (with why), ended, or still (a snapshot or a file). */
  state: 'live' | 'stale' | 'ended' | 'still'
  why: string
  /** When the last news came, in ms of Unix time. */
  at: number
}

/** Where the choice is kept. */
export interface Address {
  read(): string
  /** Writes what is behind #; what is pushed can be gone back from. */
  write(text: string, push: boolean): void
  watch(changed: () => void): void
}

export class Page {
  choice: Choice
  connection: Connection = { state: 'still', why: '', at: 0 }
  /** Counts changes of what objects and edges there are; health alone does not count. */
  topology = 0
  /** The stack of a chosen root that is in no tree of the UIState, where the server told it. */
  rooted: { root: string; stack: Stack } | null = null
  /** Whether details are shown, when something is selected. */
  details = true
  /** Opens the details and moves the focus there; Esc leads back. The frame fills it in. */
  toDetails = () => {}
  private listeners = new Set<() => void>()
  private index: Map<string, number> | null = null
  /** What each view was filtered by when it was left. */
  private filters = new Map<ViewName, Partial<Choice>>()

  constructor(public uiState: UIState, public server: Server | null, private address: Address | null = browserAddress()) {
    this.choice = this.read()
    address?.watch(() => {
      this.choice = this.read()
      this.tell()
    })
  }

  private read(): Choice {
    const text = this.address?.read() ?? ''
    return (text && (FILE || !isToken(text)) ? decode(text) : null) ?? this.home()
  }

  /** What is shown where the address says nothing. */
  private home(): Choice {
    const { view, stacks } = this.uiState, single = stacks.length === 1 ? stacks[0].name : ''
    const first = view || (single ? 'stack' : 'stacks')
    return { ...none(), view: first, stack: first === 'stack' ? single || stacks[0]?.name || '' : '' }
  }

  /** Tells everybody after a change of choice; with jump, Back leads to the choice before. */
  set(patch: Partial<Choice>, jump = false): void {
    this.choice = { ...this.choice, ...patch }
    if (patch.node) this.details = true
    this.address?.write(encode(this.choice), jump)
    this.tell()
  }

  /** Shows another view, filtered as it was when it was left. */
  go(view: ViewName): void {
    const { view: from, stack } = this.choice
    if (view === from) return
    this.filters.set(from, filtersOf(this.choice))
    const first = view === 'stack' && !stack ? this.uiState.stacks.reduce<Stack | undefined>((a, s) => a && (a.health ?? 0) >= (s.health ?? 0) ? a : s, undefined)?.name : ''
    this.set({ ...noFilters(), ...this.filters.get(view), view, sort: '', ...(first && { stack: first }) }, true)
  }

  /** Shows a stack as a whole, with one of its objects selected. */
  open(stack: string, node = ''): void {
    this.filters.delete('stack')
    this.set({ ...none(), view: 'stack', show: this.choice.show, stack, node }, true)
  }

  /** Shows an object: in the stack that is shown, if it is there, or in one that has it. */
  reveal(ref: string): void {
    const id = this.find(ref), has = (s?: Stack) => s?.tree.some((p) => p.n === id)
    const stack = has(this.stack()) ? this.choice.stack : this.uiState.stacks.find(has)?.name
    if (stack) this.open(stack, ref)
    else this.set({ ...none(), view: 'stack', stack: this.choice.stack, root: ref, node: ref }, true)
  }

  /** Takes in what changed. */
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
      if (head && !(begins(uiState.kinds.map(kindKey), next.kinds.map(kindKey)) && begins(uiState.namespaces, next.namespaces))) this.index = null
      if (this.index) for (const at of Object.keys(change.nodes ?? {})) if (nodes[+at]) this.index.set(this.ref(+at), +at)
      if (moved) this.topology++
      this.tell()
    }
  }

  /** Takes a whole UIState, after a time without news. What was chosen stays. */
  replace(next: UIState): void {
    if (!FILE) {
      const { nodes, stacks } = this.uiState
      const same = nodes.length === next.nodes.length && nodes.every((n, i) => sameObject(n, next.nodes[i]))
        && stacks.length === next.stacks.length && stacks.every((s, i) => s.name === next.stacks[i].name && sameStack(s, next.stacks[i]))
      this.uiState = next
      this.index = null
      if (!same) this.topology++
      this.tell()
    }
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

  tell(): void {
    for (const l of this.listeners) l()
  }

  node(id: number): Node { return this.uiState.nodes[id]! }
  kind(n: Node): Kind { return this.uiState.kinds[n.k] }
  namespace(n: Node): string { return this.uiState.namespaces[n.s ?? 0] }
  /** Kind.group/namespace/name, as the program writes objects. */
  ref(id: number): string {
    const n = this.node(id), k = this.kind(n), ns = this.namespace(n)
    return kindKey(k) + '/' + (ns ? ns + '/' : '') + n.n
  }

  /** The number of a node; -1 where there is none. */
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

  /** The selected node; -1 for none. */
  selected(): number { return this.find(this.choice.node) }

  /** What was chosen and is not there, or not any more. The choice stays: it may come back. */
  gone(): { what: 'stack' | 'root' | 'node' | 'to'; ref: string }[] {
    const { stack, root, node, to } = this.choice
    return FILE ? [] : [
      ...(stack && !this.uiState.stacks.some((s) => s.name === stack) ? [{ what: 'stack' as const, ref: stack }] : []),
      ...(['root', 'node', 'to'] as const).map((field) => ({ what: field, ref: { root, node, to }[field] })).filter(({ ref }) => ref && this.find(ref) < 0),
    ]
  }

  /** Seconds of Unix time that ages are told against: of what does not change, when it was read. */
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

/** The part of a choice that filters. */
export const filtersOf = ({ search, kinds, namespaces, labels, health, relations }: Choice) => ({ search, kinds, namespaces, labels, health, relations })

export function none(): Choice {
  return { view: 'stacks', stack: '', root: '', node: '', to: '', ...noFilters(), open: [], closed: [], show: 'both', sort: '', by: '' }
}

export const viewNames: ViewName[] = ['stacks', 'stack', 'costs', 'findings', 'regulation', 'compose']

/** The keys of texts and of lists of texts in an address. */
const texts = { in: 'stack', root: 'root', at: 'node', to: 'to', q: 'search', sort: 'sort', by: 'by' } as const
const lists = { kind: 'kinds', ns: 'namespaces', label: 'labels', rel: 'relations', open: 'open', closed: 'closed' } as const

/** The choice as an address: "stack?in=Moodle.example/shop/blog&health=Degraded". What is as it is
    without a choice is left out. */
export function encode(c: Choice): string {
  const out: string[] = []
  const put = (key: string, value: string) => out.push(key + '=' + encodeURIComponent(value).replace(/%(2F|3A|40|2C|3D)/g, (_, hex) => String.fromCharCode(parseInt(hex, 16))))
  for (const [key, field] of Object.entries(texts)) if (c[field]) put(key, c[field])
  for (const [key, field] of Object.entries(lists)) for (const value of c[field]) put(key, value)
  for (const h of c.health) put('health', health[h]?.word || 'none')
  if (c.show !== 'both') put('show', c.show)
  return c.view + (out.length ? '?' + out.join('&') : '')
}

/** The choice of an address; null where it names no view. What is not known in it is left aside. */
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
  return c
}

/** The address of the browser. A selection that wanders through a tree is written a few times a
    second at most: browsers take no more. */
function browserAddress(): Address | null {
  if (typeof window === 'undefined') return null
  let late = 0, text = location.hash.slice(1)
  const write = (push: boolean) => { try { history[push ? 'pushState' : 'replaceState'](null, '', '#' + text) } catch { /* too many of them */ } }
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
        // The address of a server that was started again at the same port, opened in the same tab.
        if (!FILE && isToken(now)) location.reload()
        else if (now !== text) {
          text = now
          changed()
        }
      })
    },
  }
}

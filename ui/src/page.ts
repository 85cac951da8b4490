// What is shown, and of what: the one place where the Picture, the choice of the user and the
// address meet. Views read it and call set; nothing else holds state that another view needs.

import type { Change, Kind, Node, Picture, Stack, ViewName } from './picture.ts'

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

export class Page {
  choice: Choice
  connection: Connection = { state: 'still', why: '', at: 0 }
  private listeners = new Set<() => void>()
  /** Counts changes of what objects and edges there are; health alone does not count. */
  topology = 0

  constructor(public picture: Picture, public server: Server | null) {
    this.choice = none()
  }

  /** Tells everybody after a change of choice; also what is behind a jump goes into the history. */
  set(_patch: Partial<Choice>, _jump = false): void {
    Object.assign(this.choice, _patch)
    this.tell()
  }

  apply(_change: Change): void {}

  watch(listener: () => void): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  tell(): void {
    for (const l of this.listeners) l()
  }

  node(id: number): Node { return this.picture.nodes[id]! }
  kind(n: Node): Kind { return this.picture.kinds[n.k] }
  namespace(n: Node): string { return this.picture.namespaces[n.s ?? 0] }
  /** Kind.group/namespace/name, as the program writes objects. */
  ref(id: number): string {
    const n = this.node(id), k = this.kind(n), ns = this.namespace(n)
    return k.kind + (k.group ? '.' + k.group : '') + '/' + (ns ? ns + '/' : '') + n.n
  }
  find(_ref: string): number { return -1 }
  stack(): Stack | undefined { return this.picture.stacks.find((s) => s.name === this.choice.stack) }
  /** The selected node; -1 for none. */
  selected(): number { return this.find(this.choice.node) }
}

export function none(): Choice {
  return {
    view: 'stacks', stack: '', root: '', node: '', to: '', search: '', kinds: [], namespaces: [], labels: [],
    health: [], relations: [], open: [], closed: [], show: 'both',
  }
}

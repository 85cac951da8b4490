// The objects and edges of a UIState as in pkg/graph: in the order of object.Compare, with outgoing
// and incoming edges. Path search uses it.

import type { Page } from './page.ts'
import type { Edge, UIState } from './ui_state.ts'
import { relations, short } from './words.ts'

export interface Arrow { from: number; to: number; edge: Edge }

export interface Links {
  /** The index of each node in the order of object.Compare. */
  rank: number[]
  /** By node: outgoing edges, by relation and target; incoming edges, by source. */
  out: Arrow[][]
  into: Arrow[][]
}

export const owns = 1, needs = 2, serves = 3
const peerFlag = 1, managerFlag = 4

export const isPeer = ({ edge }: Arrow) => !!((edge.f ?? 0) & peerFlag)
export const manages = ({ edge }: Arrow) => !!((edge.f ?? 0) & managerFlag)

let last: { nodes: UIState['nodes']; links: Links } | null = null

/** Returns the links of the current UIState, cached until its nodes are replaced. */
export function linksOf(page: Page): Links {
  const { nodes, kinds, namespaces } = page.uiState
  if (last?.nodes === nodes) return last.links
  const ids: number[] = [], compare = (a: string, b: string) => a < b ? -1 : a > b ? 1 : 0
  nodes.forEach((n, id) => { if (n) ids.push(id) })
  ids.sort((x, y) => {
    const a = nodes[x]!, b = nodes[y]!, k = kinds[a.k], l = kinds[b.k]
    return compare(k.group ?? '', l.group ?? '') || compare(k.kind, l.kind) || compare(namespaces[a.s ?? 0], namespaces[b.s ?? 0]) || compare(a.n, b.n)
  })
  const rank: number[] = [], out: Arrow[][] = nodes.map(() => []), into: Arrow[][] = nodes.map(() => [])
  ids.forEach((id, i) => { rank[id] = i })
  for (const from of ids) {
    for (const edge of nodes[from]!.e ?? []) {
      if (!nodes[edge.t]) continue
      const arrow = { from, to: edge.t, edge }
      out[from].push(arrow)
      into[edge.t].push(arrow)
    }
  }
  last = { nodes, links: { rank, out, into } }
  return last.links
}

/** Why an object is in no stack. */
export function whyAlone(page: Page, node: number): string {
  if (page.node(node).b) return 'it is for the whole cluster'
  const { into, out } = linksOf(page), [by] = into[node], [to] = out[node]
  if (by) return `only ${short(page.ref(by.from))} ${relations[by.edge.r]} it, which is in no stack`
  return to ? `nothing needs it; it ${relations[to.edge.r]} ${short(page.ref(to.to))}` : 'nothing owns, needs or serves it, nor it anything'
}

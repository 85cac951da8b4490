// Filter and order of the rows of stacks and costs. Independent of the browser, for tests.

import type { Page } from './page.ts'
import type { Costs, Stack, UIState } from './ui_state.ts'
import { short, wordsOf } from './words.ts'

/** The sort key of each column; undefined (unknown) is last in both directions. */
export const columns: { [name: string]: (s: Stack) => number | string | undefined } = {
  health: (s) => -(s.health ?? 0),
  name: (s) => short(s.name).toLowerCase(),
  objects: (s) => -s.objects,
  pods: (s) => s.pods && -s.pods[0],
  cpu: (s) => s.usage?.c === undefined ? undefined : -s.usage.c,
  memory: (s) => s.usage?.m === undefined ? undefined : -s.usage.m,
  cost: (s) => s.cost === undefined ? undefined : -s.cost,
  age: (s) => s.created,
}

/** The stacks that match the filters, in the chosen order; by default unhealthy ones first. */
export function wantedStacks(page: Page): Stack[] {
  const { choice, uiState } = page, words = wordsOf(choice.search)
  const all = showsCluster(page)
  const rows = uiState.stacks.filter((s) => (all || !s.cluster)
    && inGroups(page, s)
    && (!choice.health.length || choice.health.includes(s.health ?? 0))
    && (!words.length || words.every((w) => textOf(page, s).includes(w))))
  const turned = choice.sort[0] === '-', key = choice.sort.replace(/^-/, '')
  const column = columns[Object.hasOwn(columns, key) ? key : 'health']
  return rows.map((s) => ({ s, by: column(s), name: columns.name(s) as string })).sort((a, b) => compare(a.by, b.by, turned) || compare(a.name, b.name, false)).map((r) => r.s)
}

/** The value of a filter by namespace for what has none. */
export const cluster = '-'

/** Whether a stack is in a chosen namespace and in a chosen System app; the filter labels has the apps. */
export function inGroups(page: Page, s: Stack): boolean {
  const { namespaces, labels } = page.choice
  return (!namespaces.length || namespaces.includes(s.namespace || cluster)) && (!labels.length || labels.includes(appsOf(page)(s.roots[0] ?? -1) || cluster))
}

/** Returns the System app of an object, or empty: as its label says, or the record of an adopted System. */
export function appsOf({ uiState: { nodes, labels } }: Page): (node: number) => string {
  const values = (key: string) => new Map(labels.flatMap((l, i) => l.startsWith(key + '=') ? [[i, l.slice(key.length + 1)] as const] : []))
  const apps = values('app.kubernetes.io/part-of'), members = values('applyset.kubernetes.io/part-of'), ids = values('applyset.kubernetes.io/id')
  const names = new Map(ids.size ? nodes.flatMap((n) => (n?.l ?? []).flatMap((l) => ids.has(l) ? [[ids.get(l)!, n!.n] as const] : [])) : [])
  return (node) => {
    const own = nodes[node]?.l ?? []
    for (const l of own) if (apps.has(l)) return apps.get(l)!
    for (const l of own) if (members.has(l)) return names.get(members.get(l)!) ?? ''
    return ''
  }
}

/** Whether a stack is part of a System app. */
export function hasApps(page: Page): boolean {
  const app = appsOf(page)
  return page.uiState.stacks.some((s) => app(s.roots[0] ?? -1))
}

/** Stacks of the cluster itself are shown on request, or if there are no others. */
export const showsCluster = (page: Page) => page.choice.open.includes('cluster') || page.uiState.stacks.every((s) => s.cluster)

function textOf(page: Page, s: Stack): string {
  return [s.name, ...(s.causes ?? []).map((c) => page.uiState.nodes[c.n] ? page.ref(c.n) + ' ' + (page.node(c.n).r ?? '') : '')].join('\n').toLowerCase()
}

export function compare(a: number | string | undefined, b: number | string | undefined, turned: boolean): number {
  if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? 1 : -1
  return (a < b ? -1 : a > b ? 1 : 0) * (turned ? -1 : 1)
}

/** The row of the volumes that no claim has, for which no stack pays. */
export const unclaimed = ({ costs }: UIState) => costs?.find((c) => c.groupBy === 'namespace')?.rows.find((r) => r.name === 'unclaimed volumes')

/** The costs of stacks by charge, and of unclaimed volumes. The rest of a stack has the charges without a place. */
export function stackCosts(stacks: Stack[], volumes?: Costs['rows'][number]): Costs {
  const rows = volumes ? [volumes] : []
  for (const s of stacks) {
    if (s.cost === undefined) continue
    const parts: { [part: string]: number } = {}
    for (const p of s.tree) if (!p.a) for (const [part, cost] of Object.entries(p.g ?? {})) parts[part] = (parts[part] ?? 0) + cost
    for (const r of s.rest ?? []) parts[r.name] = (parts[r.name] ?? 0) + r.cost
    rows.push({ name: s.name, pods: s.pods?.[0], cost: s.cost, parts })
  }
  rows.sort((a, b) => b.cost - a.cost || compare(a.name, b.name, false))
  return { groupBy: 'stack', rows, total: rows.reduce((sum, r) => sum + r.cost, 0) }
}

/** The names of the parts with their totals, cpu, memory and storage first. */
export function partsOf(costs: Costs): [string, number][] {
  const sums = new Map<string, number>()
  for (const r of costs.rows) for (const [part, cost] of Object.entries(r.parts ?? {})) sums.set(part, (sums.get(part) ?? 0) + cost)
  for (const [part, cost] of Object.entries(costs.parts ?? {})) sums.set(part, cost)
  const usual = ['cpu', 'memory', 'storage'], place = (part: string) => (usual.indexOf(part) + 1) || 9
  return [...sums].sort(([a], [b]) => place(a) - place(b) || compare(a, b, false))
}

/** The keys of labels, common ones first. */
export function labelKeys(labels: string[]): string[] {
  const usual = ['app.kubernetes.io/name', 'app.kubernetes.io/part-of', 'app.kubernetes.io/instance', 'team'], place = (key: string) => (usual.indexOf(key) + 1) || 9
  return [...new Set(labels.map((l) => l.split('=', 1)[0]))].sort((a, b) => place(a) - place(b) || compare(a, b, false))
}

/** The cost of one interval. */
export interface Point { from: number; to: number; total: number; stacks: { [name: string]: number } }

/** The most expensive stacks of a history, and for each point their costs and that of the others. */
export function series(points: Point[], limit = 5): { names: string[]; rows: number[][] } {
  const sums = new Map<string, number>()
  for (const p of points) for (const [name, cost] of Object.entries(p.stacks)) sums.set(name, (sums.get(name) ?? 0) + cost)
  const names = [...sums].sort(([a, x], [b, y]) => y - x || compare(a, b, false)).slice(0, limit).map(([name]) => name)
  const rows = points.map((p) => {
    const known = names.map((name) => p.stacks[name] ?? 0)
    return [...known, p.total - known.reduce((a, b) => a + b, 0)]
  })
  return rows.some((r) => Math.abs(r.at(-1)!) > 0.001) ? { names: [...names, 'others'], rows } : { names, rows: rows.map((r) => r.slice(0, -1)) }
}

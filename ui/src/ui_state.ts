// The UIState: docs/schema/ui-state.json; internal/uistate/state.go explains each field. An absent
// field is unknown or empty.

import type { Impact } from './impact_document.ts'

export interface UIState {
  apiVersion: string
  kind: 'UIState'
  version: string
  title: string
  at: string
  mode: 'live' | 'snapshot' | 'file'
  source?: string
  flags?: { [name: string]: string }
  namespace?: string
  view?: ViewName
  address?: string
  impact?: Impact
  currency?: string
  prices?: string
  sharedAmong?: 'alone' | 'requested' | 'namespace' | 'cluster'
  window?: { from: string; to: string; hours: number }
  kinds: Kind[]
  namespaces: string[]
  labels: string[]
  rules: string[]
  nodes: (Node | null)[]
  stacks: Stack[]
  costs?: Costs[]
  objects: number
  parts?: { [part: string]: string }
  notes?: { source?: string; about?: string; reason: string; message: string; partial?: boolean }[]
  gaps?: { resource: string; namespace?: string; reason: string; message: string }[]
}

export type ViewName = 'stacks' | 'stack' | 'costs' | 'findings' | 'regulation' | 'compose'

export interface Kind { kind: string; group?: string }

export interface Node {
  k: number
  s?: number
  n: string
  t?: 'missing' | 'unread' | 'virtual'
  b?: boolean
  h?: number
  r?: string
  m?: string
  i?: number
  c?: number
  l?: number[]
  e?: Edge[]
  u?: Usage
  v?: { r: string; m: string; c?: number; l?: number }[]
}

export interface Edge {
  t: number
  r: number
  v: 'owner' | 'label' | 'annotation' | 'spec' | 'env'
  w?: string
  u: number
  p?: string
  i?: boolean
  o?: boolean
  f?: number
}

export interface Usage {
  c?: number
  m?: number
  s?: number
  cr?: number
  mr?: number
  cl?: number
  ml?: number
  sc?: number
  w?: string
}

export interface Stack {
  name: string
  namespace?: string
  groupedBy?: string
  roots: number[]
  tree: Place[]
  objects: number
  health?: number
  since?: number
  causes?: { n: number; o: number }[]
  pods?: number[]
  usage?: Usage
  cost?: number
  rest?: { name: string; cost: number }[]
  created?: number
  cluster?: boolean
}

export interface Place {
  n: number
  d?: number
  w?: 'root' | 'owned' | 'needed' | 'serving' | 'behind' | 'made'
  a?: boolean
  s?: boolean
  x?: boolean
  b?: number
  c?: number
  o?: number
  p?: string
  y?: number[]
  g?: { [part: string]: number }
  q?: number
}

export interface Costs {
  groupBy: string
  rows: { name: string; pods?: number; cost: number; parts?: { [part: string]: number } }[]
  total: number
  parts?: { [part: string]: number }
}

export interface Change {
  at: string
  head?: Omit<UIState, 'nodes' | 'stacks'>
  nodes?: { [id: string]: Node | null }
  stacks?: { [name: string]: Stack | null }
  order?: string[]
}

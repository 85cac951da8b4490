// What of a stack is drawn: the tree after filters and folding, the same for treegrid and graph.

import type { Page } from './page.ts'
import type { Stack } from './picture.ts'

/** A row of the treegrid and a card of the graph: one object, or a fold of equal leaves. */
export interface Item {
  /** Unique in the shape, and the same from change to change: the ref of the node under that of its parent. */
  key: string
  /** The place in stack.tree; of a fold that of its first leaf. */
  place: number
  node: number
  /** The places of a fold; undefined for an object. */
  fold?: number[]
  depth: number
  parent: Item | null
  children: Item[]
  /** Worst of own and below; of a fold the worst of its leaves. */
  worst: number
  /** In hundredths; undefined where nothing is known. */
  cost?: number
  /** Shown only because something below it is wanted. */
  context: boolean
}

export interface Shape {
  roots: Item[]
  /** All items, in preorder, whether opened in the tree or not. */
  items: Item[]
  /** Objects that are shown, and those of the stack. */
  shown: number
  of: number
}

export function shape(_page: Page, _stack: Stack): Shape {
  return { roots: [], items: [], shown: 0, of: 0 }
}

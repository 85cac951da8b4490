// Lays out the cards of a graph: a tidy forest, its trees packed to the aspect ratio of a window.
// internal/layout has the same algorithm in Go, with an explanation; its testdata/ requires equal
// coordinates of both. All numbers are integers.

export interface Node { width: number; height: number; children: Node[] }
export interface Box { x: number; y: number }
export interface Options {
  /** Distances between a card and its children, between siblings, between trees. */
  across: number
  between: number
  apart: number
  /** Aspect ratio of the window, in hundredths. */
  aspect: number
}
/** The boxes in preorder, and the size of the layout. */
export interface Placed { boxes: Box[]; width: number; height: number }

interface Forest { nodes: Node[]; parent: number[]; depth: number[]; size: number[]; box: Box[] }
/** The upper and lower border of a subtree, by depth from the leaves up. */
interface Outline { top: number[]; bottom: number[]; shift: number }
interface Tree extends Box { at: number; width: number; height: number }

export function layout(roots: Node[], o: Options): Placed {
  const f = forest(roots), trees: Tree[] = []
  for (let at = 0; at < f.nodes.length; at += f.size[at]) trees.push(place(f, at, o))
  const p = pack(trees, o)
  for (const t of trees) {
    for (let at = t.at; at < t.at + f.size[t.at]; at++) {
      f.box[at].x += t.x
      f.box[at].y += t.y
    }
  }
  return { boxes: f.box, ...p }
}

function forest(roots: Node[]): Forest {
  const f: Forest = { nodes: [], parent: [], depth: [], size: [], box: [] }
  const todo: Node[] = [], parents: number[] = []
  const push = (nodes: Node[], parent: number) => {
    for (let i = nodes.length - 1; i >= 0; i--) {
      todo.push(nodes[i])
      parents.push(parent)
    }
  }
  push(roots, -1)
  for (let node = todo.pop(); node; node = todo.pop()) {
    const parent = parents.pop()!, at = f.nodes.push(node) - 1
    f.parent.push(parent)
    f.depth.push(parent < 0 ? 0 : f.depth[parent] + 1)
    f.size.push(1)
    f.box.push({ x: 0, y: 0 })
    push(node.children, at)
  }
  for (let at = f.nodes.length - 1; at > 0; at--) if (f.parent[at] >= 0) f.size[f.parent[at]] += f.size[at]
  return f
}

function place(f: Forest, at: number, o: Options): Tree {
  const end = at + f.size[at], width = columns(f, at, end, o)
  const outlines: Outline[] = new Array(end - at)
  for (let v = end - 1; v >= at; v--) outlines[v - at] = join(f, v, at, outlines, o)
  const all = outlines[0]
  let top = 0, bottom = 0
  for (let i = 0; i < all.top.length; i++) {
    top = Math.min(top, all.top[i] + all.shift)
    bottom = Math.max(bottom, all.bottom[i] + all.shift)
  }
  f.box[at].y = -top
  for (let v = at + 1; v < end; v++) f.box[v].y += f.box[f.parent[v]].y
  return { at, width, height: bottom - top, x: 0, y: 0 }
}

function columns(f: Forest, at: number, end: number, o: Options): number {
  const widest: number[] = [], left = [0]
  for (let v = at; v < end; v++) widest[f.depth[v]] = Math.max(widest[f.depth[v]] ?? 0, f.nodes[v].width)
  for (const w of widest) left.push(left[left.length - 1] + w + o.across)
  for (let v = at; v < end; v++) f.box[v].x = left[f.depth[v]]
  return left[left.length - 1] - o.across
}

function join(f: Forest, v: number, root: number, outlines: Outline[], o: Options): Outline {
  const height = f.nodes[v].height, end = v + f.size[v]
  if (f.size[v] === 1) return { top: [0], bottom: [height], shift: 0 }
  let last = v + 1, sum = outlines[last - root]
  for (let c = last + f.size[last]; c < end; c += f.size[c]) {
    const next = outlines[c - root], y = distance(sum, next) + o.between
    f.box[c].y = y
    next.shift += y
    sum = merge(sum, next)
    last = c
  }
  const up = half(f.box[last].y + f.nodes[last].height) - half(height)
  for (let c = v + 1; c < end; c += f.size[c]) f.box[c].y -= up
  sum.shift -= up
  sum.top.push(-sum.shift)
  sum.bottom.push(height - sum.shift)
  return sum
}

const half = (n: number) => Math.floor(n / 2)

function distance(above: Outline, next: Outline): number {
  const a = above.bottom.length, n = next.top.length, offset = above.shift - next.shift
  let down = above.bottom[a - 1] - next.top[n - 1] + offset
  for (let i = Math.min(a, n); i > 1; i--) down = Math.max(down, above.bottom[a - i] - next.top[n - i] + offset)
  return down
}

function merge(above: Outline, next: Outline): Outline {
  const deeper = next.top.length > above.top.length
  const deep = deeper ? next : above, flat = deeper ? above : next
  const to = deeper ? deep.top : deep.bottom, from = deeper ? flat.top : flat.bottom
  const d = to.length, n = from.length, offset = flat.shift - deep.shift
  for (let i = 1; i <= n; i++) to[d - i] = from[n - i] + offset
  return deep
}

function pack(trees: Tree[], o: Options): { width: number; height: number } {
  const aspect = Math.max(1, o.aspect)
  let area = 0, widest = 0, best = 0, cost = 0
  for (const t of trees) {
    area += (t.width + o.apart) * (t.height + o.apart)
    widest = Math.max(widest, t.width)
  }
  const order = [...trees].sort((a, b) => b.height - a.height)
  const side = Math.floor(Math.sqrt(Math.floor(area * aspect / 100)))
  for (let i = 8; i <= 20; i++) {
    const limit = Math.max(widest, Math.floor(side * i / 8)), p = shelve(order, limit, o.apart)
    const c = Math.max(p.width * 100, p.height * aspect)
    if (!best || c < cost) [best, cost] = [limit, c]
  }
  return shelve(order, best, o.apart)
}

function shelve(order: Tree[], limit: number, gap: number): { width: number; height: number } {
  let width = 0, height = 0, shelf = 0, high = -1, left = 0, wide = 0, y = 0
  for (const t of order) {
    if (high < 0 || y + t.height > shelf + high || left + Math.max(wide, t.width) > limit) {
      left += wide + gap
      wide = 0
      y = shelf
      if (high < 0 || left + t.width > limit) {
        if (high >= 0) shelf += high + gap
        left = 0
        y = shelf
        high = t.height
      }
    }
    t.x = left
    t.y = y
    y += t.height + gap
    wide = Math.max(wide, t.width)
    width = Math.max(width, left + wide)
    height = Math.max(height, t.y + t.height)
  }
  return { width, height }
}

// Pointer gestures of the graph: drag to move, wheel and two fingers to zoom.

import { zoom, type View } from './graph_scene.ts'

/** A pointer that moves less than this is a click, in pixels. */
const still = 4

/** Listens on an element; the returned function removes the listeners. */
export function gestures(el: HTMLElement, view: () => View, look: (v: View) => void): () => void {
  const down = new Map<number, { x: number; y: number }>()
  let moved = 0
  const off: (() => void)[] = []
  function on<K extends keyof HTMLElementEventMap>(name: K, listener: (e: HTMLElementEventMap[K]) => void, options?: AddEventListenerOptions) {
    el.addEventListener(name, listener, options)
    off.push(() => el.removeEventListener(name, listener, options))
  }
  on('wheel', (e) => {
    e.preventDefault()
    const box = el.getBoundingClientRect()
    look(zoom(view(), Math.exp(-e.deltaY * (e.deltaMode ? 16 : 1) * 0.0015), e.clientX - box.left, e.clientY - box.top))
  }, { passive: false })
  on('pointerdown', (e) => {
    if (e.button !== 0) return
    if (!down.size) moved = 0
    down.set(e.pointerId, { x: e.clientX, y: e.clientY })
  })
  on('pointermove', (e) => {
    const from = down.get(e.pointerId)
    if (!from) return
    const dx = e.clientX - from.x, dy = e.clientY - from.y, other = [...down].find(([id]) => id !== e.pointerId)?.[1]
    if (moved < still && Math.hypot(dx, dy) < still) return
    if (moved < still) el.setPointerCapture(e.pointerId)
    moved = still
    if (other) {
      const box = el.getBoundingClientRect(), before = Math.hypot(from.x - other.x, from.y - other.y)
      const factor = Math.hypot(e.clientX - other.x, e.clientY - other.y) / Math.max(before, 1)
      look(zoom(view(), factor, (e.clientX + other.x) / 2 - box.left, (e.clientY + other.y) / 2 - box.top))
    } else look({ ...view(), x: view().x + dx, y: view().y + dy })
    down.set(e.pointerId, { x: e.clientX, y: e.clientY })
  })
  const up = (e: PointerEvent) => down.delete(e.pointerId)
  on('pointerup', up)
  on('pointercancel', up)
  // The end of a drag is not a click.
  on('click', (e) => {
    if (moved < still) return
    moved = 0
    e.stopPropagation()
    e.preventDefault()
  }, { capture: true })
  return () => off.forEach((f) => f())
}

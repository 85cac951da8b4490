// What an impact marks in the graph: the affected objects, and the lines along which it spreads.

import { useMemo } from 'preact/hooks'
import { useAsk, type Asked } from './bits.tsx'
import { cascades, effectWord, toneOf, type Impact, type Tone } from './impact_document.ts'
import type { Page } from './page.ts'
import { kindKey } from './words.ts'

/** What happens to an object: "breaks", "may break (inferred)", "deleted". */
export interface Mark { tone: Tone; text: string; inferred: boolean }

/** A line from a cause to what it affects. */
export interface Spread { from: number; to: number; inferred: boolean }

export interface Marks { of: Map<number, Mark>; lines: Spread[] }

const none: Marks = { of: new Map(), lines: [] }
export const unmarked = { marks: none, summary: '' }
const rank = { bad: 2, warn: 1, none: 0 }

/** Asks for the impact of the chosen object; again when objects or edges change. A file has the one that
    was drawn when it was saved. */
export function useImpact(page: Page): Asked<Impact> {
  const { impact, cascade } = page.choice
  if (FILE) {
    const { impact: saved } = page.uiState
    return { answer: saved?.object === impact && saved.cascade === (cascade || cascades[0]) ? saved : undefined, waiting: false, again: () => {} }
  }
  const id = impact ? page.find(impact) : -1
  const deletable = id >= 0 && !page.node(id).t && kindKey(page.kind(page.node(id))) !== 'Node'
  return useAsk<Impact>(page, deletable ? 'impact' : '', { ref: impact, cascade: cascade || cascades[0] }, page.topology)
}

/** The marks of the chosen impact, and what it says in a sentence. */
export function useMarks(page: Page): { marks: Marks; summary: string } {
  const { answer } = useImpact(page), { impact } = page.choice
  const marks = useMemo(() => answer ? marksOf(page, answer) : none, [answer, page.uiState.nodes])
  return { marks, summary: answer && impact ? answer.summary : '' }
}

export function marksOf(page: Page, im: Impact): Marks {
  const of: Marks['of'] = new Map(), lines: Spread[] = []
  const mark = (ref: string, cause: string, m: Mark, inferred = false) => {
    const id = page.find(ref), from = page.find(cause), had = of.get(id)
    if (id < 0) return
    if (!had || rank[m.tone] > rank[had.tone]) of.set(id, m)
    if (from >= 0 && from !== id) lines.push({ from, to: id, inferred })
  }
  mark(im.object, '', { tone: 'bad', text: 'deleted', inferred: false })
  for (const d of [...im.direct, ...im.indirect, ...im.served]) {
    const m = { tone: toneOf(d), text: effectWord(d), inferred: d.inferred }
    mark(d.id, d.cause, m, d.edge.inferred)
    for (const below of d.controlled) mark(below, d.id, m)
  }
  for (const d of im.deletions) mark(d.id, d.cause, { tone: 'bad', text: 'deleted with it', inferred: false })
  for (const d of im.mayBeDeleted) mark(d.id, d.cause, { tone: 'warn', text: 'may be deleted', inferred: false })
  return { of, lines }
}

/** What happens to several objects as one: the worst, with how many of them. */
export function together(all: number[], { of }: Marks): Mark | undefined {
  const found = all.flatMap((id) => of.get(id) ?? [])
  if (all.length === 1 || !found.length) return found[0]
  const worst = found.reduce((a, b) => rank[b.tone] > rank[a.tone] ? b : a), n = found.filter((m) => m.text === worst.text).length
  return { ...worst, text: `${worst.text}: ${n} of ${all.length}` }
}

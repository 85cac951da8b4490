// The document of kubectl sysop impact (docs/schema/impact.json) as far as the page shows it, with
// the layout and the texts of internal/view/impact.go. Independent of the browser, for tests.

import type { UIState } from './ui_state.ts'
import { parse, plural } from './words.ts'

export const cascades = ['background', 'foreground', 'orphan'] as const

export interface Impact {
  object: string
  cascade: string
  summary: string
  appliesWhen?: string
  finalizers: string[]
  recreatedBy?: { id: string; known: boolean }
  stacks: Touched[]
  deletions: Deletion[]
  mayBeDeleted: Deletion[]
  retained: { id: string; cause: string; reason: string }[]
  direct: Dependent[]
  indirect: Dependent[]
  served: Dependent[]
  unreadKinds: string[]
  gaps: UIState['gaps']
}
export interface Touched { stack: string; effect: string; inferred: boolean; cause?: string; deleted: number; objects: string[] }
export interface Deletion { id: string; cause: string; removal: string; why?: string; blocks: boolean; finalizers: string[] }
export interface Dependent { id: string; effect: string; inferred: boolean; consequence?: string; cause: string; edge: { why: string; inferred?: boolean }; controlled: string[]; remaining?: number; total?: number }

export type Tone = 'bad' | 'warn' | 'none'
export const glyphs = { bad: '✖', warn: '▲', none: '·' }

export interface Layout {
  /** Each stack, with the affected objects that no earlier stack has. */
  stacks: { touched: Touched; objects: Dependent[] }[]
  /** Affected objects in no stack. */
  loose: Dependent[]
  /** Objects that are deleted with it: those with data, and the rest. */
  data: Deletion[]
  rest: Deletion[]
}

export function layout(im: Impact): Layout {
  const all = [...im.direct, ...im.indirect, ...im.served], byID = new Map<string, Dependent>(), shown = new Set<Dependent>()
  for (const d of all) if (!byID.has(d.id)) byID.set(d.id, d)
  const stacks = im.stacks.map((touched) => {
    const objects = touched.objects.flatMap((id) => byID.get(id) ?? []).filter((d) => !shown.has(d))
    for (const d of objects) shown.add(d)
    return { touched, objects }
  })
  const isData = (d: Deletion) => d.removal === 'reclaim policy' || parse(d.id).kind === 'PersistentVolumeClaim'
  return { stacks, loose: all.filter((d) => !shown.has(d)), data: im.deletions.filter(isData), rest: im.deletions.filter((d) => !isData(d)) }
}

const broken = (effect: string) => effect.startsWith('breaks')

export function toneOf({ effect, inferred }: { effect: string; inferred: boolean }): Tone {
  if ((broken(effect) || effect === 'deleted') && !inferred) return 'bad'
  return effect === 'only new ones' || effect === 'does without' ? 'none' : 'warn'
}

export function worst({ stacks }: Impact): Tone {
  const tones = stacks.map(toneOf)
  return (['bad', 'warn'] as const).find((t) => tones.includes(t)) ?? 'none'
}

/** The effect on a stack. */
export function stackWord({ effect, inferred }: Touched): string {
  if (inferred && broken(effect)) return 'may break'
  return { deleted: 'is deleted', 'loses it': 'loses a part', 'only new ones': 'stays available, but cannot create new ones' }[effect] ?? effect
}

/** The effect on an object, marked if it is inferred. */
export function effectWord({ effect, inferred }: Dependent): string {
  return inferred ? (broken(effect) ? effect.replace('breaks', 'may break') : effect) + ' (inferred)' : effect
}

/** Details of the effect on an object. */
export function effectMore({ controlled, consequence, remaining, total }: Dependent): string {
  return (total ? `: ${remaining ?? 0} of ${total} left` : '') + (controlled.length ? `, with ${plural(controlled.length, 'object')} below it` : '') + (consequence ? ': ' + consequence : '')
}

/** The reason why an object is deleted with it. */
export function removalWhy({ removal, why }: Deletion): string {
  return {
    namespace: 'it is in the namespace',
    definition: 'the CRD of its kind is deleted',
    'reclaim policy': 'its reclaim policy is Delete: the data is deleted',
    controller: 'its controller deletes it: ' + why,
  }[removal] ?? 'all its owners are deleted'
}

/** The reason why an object is retained. */
export function keptWhy(reason: string): string {
  return {
    'another owner': 'another owner remains',
    orphaned: 'it is orphaned, by --cascade',
    retained: 'its reclaim policy keeps it: it is Released, with its data',
  }[reason] ?? 'its controller does not delete it'
}

/** Notes on the object itself. */
export function notes(im: Impact, name: (ref: string) => string): [string, string][] {
  const out: [string, string][] = [], blocks = im.deletions.filter((d) => d.blocks && d.cause === im.object).length
  if (im.appliesWhen) out.push(['only new ones', im.appliesWhen])
  if (im.finalizers.length) out.push(['finalizers', 'it stays Terminating until these are removed: ' + im.finalizers.join(', ')])
  if (im.cascade === 'foreground' && blocks) out.push(['foreground', 'it waits for its blocking dependents: ' + plural(blocks, 'object')])
  if (im.recreatedBy) out.push(im.recreatedBy.known ? ['recreated', name(im.recreatedBy.id) + ' recreates it at once'] : ['recreated?', name(im.recreatedBy.id) + ' created it, and may recreate it'])
  return out
}

/** Says how many deletions wait for finalizers. */
export function waiting({ deletions }: Impact): string {
  const n = deletions.filter((d) => d.finalizers.length).length
  return n === 0 ? '' : n === deletions.length ? ', once their finalizers are removed' : `, ${n} of them once their finalizers are removed`
}

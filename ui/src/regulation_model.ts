// Who is held over time if an app fails or is upgraded. Independent of the browser, for tests.

import { plural } from './words.ts'

export interface Need { from: string; to: string; declared: boolean; reason?: string; inferred: boolean; why?: string }
export interface Target { app: string; path?: Need[]; signals?: { signal: string; rule: string }[] }
export interface Trouble { app: string; neighbours: Target[]; stopOrder: string[][]; recoverOrder: string[][] }
export interface Action { action: string; text?: string; targets?: string[]; notes?: string[] }
export interface WhatIf {
  rules: { name: string; text: string; app?: string; fails: boolean; upgraded: boolean; for: number; recover: number }[]
  bounds: string
  /** How many apps rules hold at a time; 0 for no bound. */
  maxUnavailable: number
  roots: { [app: string]: string[] }
  fails: Trouble[]
  upgraded: Trouble[]
  /** By SIGNAL/APP. */
  effects: { [key: string]: { actions?: Action[]; refused?: string } }
}

export type Case = 'fails' | 'upgraded'

/** An app that is held: from the step of its signal until that of Recover, both counted from 1. */
export interface Held { app: string; signals: string[]; from: number; until: number; path: Need[]; actions: Action[]; refused: string; order: string[] }
export interface Course { app: string; held: Held[]; stops: string[]; recovers: string[]; rules: WhatIf['rules']; sentence: string; after: number; over: number }

/** The course of events if an app fails or is upgraded. needs are the direct needs of each app. */
export function course(w: WhatIf, kind: Case, app: string, needs: { [app: string]: string[] }): Course {
  const t = w[kind].find((t) => t.app === app)
  const targets = (t?.neighbours ?? []).filter((n) => n.signals?.length), rank = (waves: string[][], name: string) => waves.findIndex((wave) => wave.includes(name)) + 1
  const stops = (t?.stopOrder ?? []).filter((wave) => wave.some((a) => targets.some((n) => n.app === a))), recovers = t?.recoverOrder ?? []
  const names = new Set(targets.flatMap((n) => n.signals!.map((s) => s.rule))), rules = w.rules.filter((r) => names.has(r.name))
  const held = targets.map((n): Held => {
    const signals = [...new Set(n.signals!.map((s) => s.signal))], effects = signals.map((s) => w.effects[s + '/' + n.app] ?? {})
    const others = targets.filter((o) => o !== n).map((o) => o.app)
    return {
      app: n.app, signals, from: rank(stops, n.app), until: rank(recovers, n.app), path: n.path ?? [],
      actions: effects.flatMap((e) => e.actions ?? []), refused: effects.map((e) => e.refused ?? '').find(Boolean) ?? '',
      order: [
        ...others.filter((o) => needs[n.app]?.includes(o)).map((o) => `before ${o}, which it needs`),
        ...others.filter((o) => needs[o]?.includes(n.app)).map((o) => `after ${o}, which needs it`),
      ],
    }
  }).sort((a, b) => a.from - b.from)
  const of = (waves: string[][]) => waves.map((wave) => [...new Set(wave.flatMap((a) => held.find((h) => h.app === a)?.signals ?? []))].join(', '))
  return {
    app, held, rules, stops: of(stops), recovers: recovers.map(() => 'Recover'), sentence: sentence(app, kind, held, stops.length, w.rules.some((r) => r[kind])),
    after: Math.max(0, ...rules.map((r) => r.for)), over: Math.max(0, ...rules.map((r) => r.recover)),
  }
}

function sentence(app: string, kind: Case, held: Held[], steps: number, ruled: boolean): string {
  const when = `If ${app} ${kind === 'fails' ? 'fails' : 'is upgraded'}, `
  if (!held.length) return when + (ruled ? 'nobody is held: no rule sends a signal then.' : `nobody is held: the System has no rule about ${kind === 'fails' ? 'health' : 'upgrades'}.`)
  const signals = [...new Set(held.flatMap((h) => h.signals))].join(' or '), who = held.length === 1 ? `${held[0].app} gets` : `${held.length} apps get`
  return `${when}${who} ${signals}${steps > 1 ? ` in ${plural(steps, 'step')}, and Recover in the reverse order` : ', and Recover afterwards'}.`
}

/** The needs among the app in trouble and those that are held, each once. */
export function needsAmong({ app, held }: Course): Need[] {
  const shown = new Set([app, ...held.map((h) => h.app)]), out = new Map<string, Need>()
  for (const n of held.flatMap((h) => h.path)) if (shown.has(n.from) && shown.has(n.to) && n.from !== n.to) out.set(n.from + ' ' + n.to, out.get(n.from + ' ' + n.to) ?? n)
  return [...out.values()]
}

/** How a need is known. */
export const known = (n: Need) => n.declared ? 'declared' : n.inferred ? 'inferred' : 'said by the spec'

/** What is done to an app, in plain words. */
export function effect({ action, text, targets = [] }: Action): string {
  const names = targets.map((t) => t.split('/').pop()).join(', '), of = names && ': ' + names
  if (action === 'scale') return (text ?? '').replace(/^replicas = /, 'scaled to ') + of
  if (action === 'cordonTraffic') return 'no traffic, its Service selects no pods' + of
  if (action === 'suspendCronJobs') return 'CronJobs suspended' + of
  return [action, text].filter(Boolean).join(': ') + (names && ' of ' + names)
}

/** The words on the bar of an app that is held. */
export const heldAs = ({ actions, refused }: Held) => refused ? 'not held: refused' : 'held' + (actions.some((a) => a.action === 'cordonTraffic') ? ', no traffic' : actions.some((a) => a.text === 'replicas = 0') ? ', 0 pods' : '')

// The document of kubectl sysop check (docs/schema/check.json) as far as the page shows it, and its
// filter. Independent of the browser, for tests.

import { wordsOf } from './words.ts'

export type Severity = 'error' | 'warning' | 'info'
export const severities: Severity[] = ['error', 'warning', 'info']

export interface Score { score?: number; passed: number; evaluated: number; unknown: number; uncheckable: number; waived: number }
export interface Scores { overall: Score; categories: { [category: string]: Score }; found: { [severity in Severity]: number } }
export interface Finding {
  severity: Severity
  object: string
  field?: string
  value?: string
  message: string
  remedy?: string
  patch?: string
  related: string[]
  waived?: { reason: string; until?: string; origin: string }
}
export interface Result { rule: string; category: string; guidelines: string[]; passed: number; findings: Finding[]; unknown: { object: string; reason: string }[] }
export interface Subject { scope: string; name: string; id: string; operator?: string; scores: Scores; results: Result[] }
export interface Report {
  scores: Scores
  subjects: Subject[]
  rules: { id: string; title: string; reason: string; fix?: string }[]
  waivers?: { unused?: { rule: string; object?: string; reason: string; origin: string; message: string }[] }
  gaps?: { resource: string; namespace?: string; reason: string; message: string }[]
}

/** A finding with the subjects that have it: an object that several stacks need is found once. */
export interface Found { finding: Finding; subjects: Subject[] }
export interface Rule { id: string; category: string; guidelines: string[]; title: string; reason: string; fix?: string; found: Found[] }

/** The severity by which a finding is filtered. */
export const levelOf = (f: Finding): Severity | 'waived' => f.waived ? 'waived' : f.severity

/** The findings that match the search, by rule, each once; the gravest rules and findings first. */
export function byRule(report: Report, search: string): Rule[] {
  const words = wordsOf(search), rules = new Map<string, Rule>(), seen = new Map<string, Found>()
  const rank = ({ finding: f }: Found) => severities.indexOf(f.severity) + (f.waived ? 3 : 0)
  for (const subject of report.subjects) {
    for (const { rule: id, category, guidelines, findings } of subject.results) {
      for (const finding of findings) {
        const key = JSON.stringify([id, finding.object, finding.field, finding.message, !!finding.waived]), again = seen.get(key)
        if (again) { again.subjects.push(subject); continue }
        const { title = id, reason = '', fix } = report.rules.find((r) => r.id === id) ?? {}
        const text = [subject.name, finding.object, finding.field, finding.value, finding.message, finding.remedy, id, title, category].join('\n').toLowerCase()
        if (!words.every((w) => text.includes(w))) continue
        const rule = rules.get(id) ?? { id, category, guidelines, title, reason, fix, found: [] }, found = { finding, subjects: [subject] }
        rules.set(id, rule)
        seen.set(key, found)
        rule.found.push(found)
      }
    }
  }
  for (const r of rules.values()) r.found.sort((a, b) => rank(a) - rank(b))
  return [...rules.values()].sort((a, b) => rank(a.found[0]) - rank(b.found[0]) || b.found.length - a.found.length || (a.id < b.id ? -1 : 1))
}

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

export interface Found { subject: Subject; findings: { finding: Finding; result: Result }[] }

/** The findings that match the filters, by subject; findings and subjects are sorted by severity. */
export function wantedFindings(report: Report, search: string, wanted: string[]): Found[] {
  const words = wordsOf(search)
  const rank = (f: Finding) => severities.indexOf(f.severity) + (f.waived ? 3 : 0)
  const out: Found[] = []
  for (const subject of report.subjects) {
    const findings = subject.results.flatMap((result) => result.findings.map((finding) => ({ finding, result }))).filter(({ finding: f, result }) => {
      if (wanted.length && !wanted.includes(f.waived ? 'waived' : f.severity)) return false
      const text = words.length ? [subject.name, f.object, f.field, f.value, f.message, f.remedy, result.rule, result.category].join('\n').toLowerCase() : ''
      return words.every((w) => text.includes(w))
    })
    if (findings.length) out.push({ subject, findings: findings.sort((a, b) => rank(a.finding) - rank(b.finding)) })
  }
  return out.sort((a, b) => rank(a.findings[0].finding) - rank(b.findings[0].finding))
}

// The findings of kubectl sysop check: object, evidence, reason and remedy.

import { useState } from 'preact/hooks'
import { Absent, Bar, Command, Notice, Ref, Unread, Waits, useAsk } from './bits.tsx'
import type { Page } from './page.ts'
import { type Finding, type Found, type Report, type Result, type Score, severities, wantedFindings } from './report.ts'
import { command, count, inNamespace, kindKey, parse, plural, short } from './words.ts'

const marks = { error: ['✖', 'bad'], warning: ['▲', 'warn'], info: ['●', 'info'], waived: ['‖', 'faint'] } as const

function Mark({ level, n }: { level: keyof typeof marks; n?: number }) {
  const [glyph, tone] = marks[level]
  return <span class={'finding-mark tone-' + tone}>{n !== undefined && count(n) + ' '}<span aria-hidden="true">{glyph}</span> {level}</span>
}

/** The command that shows the same. */
const checkCommand = ({ uiState: { namespace } }: Page) => command('kubectl', 'sysop', 'check', ...inNamespace(namespace, true), '--all')

export function Findings({ page }: { page: Page }) {
  const unavailable = page.uiState.parts?.checks
  return FILE || unavailable || !page.server ? <Absent title="Findings" reason={unavailable} text={checkCommand(page)} /> : <Checked page={page} />
}

function Checked({ page }: { page: Page }) {
  const asked = useAsk<Report>(page, 'check'), report = asked.answer
  return (
    <section aria-labelledby="findings-title">
      <div class="bar-head">
        <h2 id="findings-title">Findings</h2>
        {report && <button type="button" disabled={asked.waiting} onClick={asked.again}>{asked.waiting ? 'Checking ...' : 'Check again'}</button>}
      </div>
      {report ? <All page={page} report={report} /> : <Waits request={asked} label="Checking operators, definitions and stacks against the guidelines" />}
    </section>
  )
}

function All({ page, report }: { page: Page; report: Report }) {
  const { search, kinds } = page.choice, { overall, categories, found } = report.scores, [maxRows, more] = useState(100)
  // This view stores severities in the kinds of the choice.
  const flip = (s: string) => page.set({ kinds: kinds.includes(s) ? kinds.filter((x) => x !== s) : [...kinds, s] })
  const groups = wantedFindings(report, search, kinds), n = groups.reduce((sum, g) => sum + g.findings.length, 0)
  const unknown = report.subjects.flatMap((subject) => subject.results.flatMap((result) => result.unknown.map((u) => ({ ...u, rule: result.rule }))))
  let room = maxRows
  return (
    <>
      <dl class="scores">
        <Scored name="all" score={overall} />
        {Object.entries(categories).map(([name, score]) => <Scored key={name} name={name} score={score} />)}
      </dl>
      <Unread gaps={report.gaps} />
      <div class="bar-head">
        <input type="search" placeholder="Search (/)" aria-label="Search findings" value={search} onInput={(e) => page.set({ search: e.currentTarget.value })} />
        <div class="chips" role="group" aria-label="Severity">
          {severities.map((s) => <button key={s} type="button" class="chip" aria-pressed={kinds.includes(s)} onClick={() => flip(s)}><Mark level={s} n={found[s] ?? 0} /></button>)}
          {overall.waived > 0 && <button type="button" class="chip" aria-pressed={kinds.includes('waived')} onClick={() => flip('waived')}><Mark level="waived" n={overall.waived} /></button>}
        </div>
        <span class="faint" role="status">{n > maxRows ? `showing ${count(maxRows)} of ${count(n)}, the gravest first` : plural(n, 'finding')}</span>
      </div>
      {n === 0 && <Notice>{search || kinds.length ? <>No finding is like that. <button type="button" class="link" onClick={() => page.set({ search: '', kinds: [] })}>Show all</button></> : overall.evaluated ? 'Nothing was found: all that could be decided is as it should be.' : 'Nothing was checked: no operator, no definition and no stack was found.'}</Notice>}
      {groups.map((g) => {
        const findings = g.findings.slice(0, Math.max(0, room))
        room -= findings.length
        return findings.length > 0 && <Group key={g.subject.scope + g.subject.id + g.subject.name} page={page} report={report} found={{ ...g, findings }} all={g.findings.length} />
      })}
      {n > maxRows && <p><button type="button" onClick={() => more(maxRows + 200)}>Show {count(Math.min(200, n - maxRows))} more</button></p>}
      {unknown.length > 0 && (
        <details class="undecided">
          <summary>{count(unknown.length)} could not be decided</summary>
          <ul>{unknown.slice(0, 200).map((u, i) => <li key={i}><Ref page={page} target={u.object} /> <span class="faint">{u.rule}:</span> {u.reason}</li>)}</ul>
          {unknown.length > 200 && <p class="faint">The first 200; the others: <code>{checkCommand(page)} -o wide</code></p>}
        </details>
      )}
      {report.waivers?.unused && report.waivers.unused.length > 0 && (
        <details class="undecided">
          <summary>{plural(report.waivers.unused.length, 'waiver')} waived nothing</summary>
          <ul>{report.waivers.unused.map((w, i) => <li key={i}><b>{w.rule}</b> {w.object} ({w.origin}): {w.message}</li>)}</ul>
        </details>
      )}
    </>
  )
}

function Scored({ name, score }: { name: string; score: Score }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{score.score === undefined ? <span class="faint">unknown</span> : <><b>{score.score}</b>/100 <Bar part={score.score / 100} /></>} <span class="faint">{count(score.passed)} of {count(score.evaluated)} kept</span></dd>
    </div>
  )
}

function Group({ page, report, found: { subject, findings }, all }: { page: Page; report: Report; found: Found; all: number }) {
  const grave = findings.some(({ finding }) => !finding.waived && finding.severity !== 'info')
  return (
    <details class="findings" open={grave || !!page.choice.search || page.choice.kinds.length > 0}>
      <summary>
        <h3>{subject.scope === 'stack' ? short(subject.name) : subject.name}</h3> <span class="faint">{subject.scope}{subject.operator && ' of ' + subject.operator}{subject.scores.overall.score !== undefined && ` · ${subject.scores.overall.score}/100`}</span>
        {severities.map((s) => subject.scores.found[s] > 0 && <span key={s}> <Mark level={s} n={subject.scores.found[s]} /></span>)}
      </summary>
      <ul>{findings.map(({ finding, result }, i) => <One key={result.rule + finding.object + (finding.field ?? '') + i} page={page} report={report} f={finding} result={result} />)}</ul>
      {findings.length < all && <p class="faint">{count(all - findings.length)} more of it are not shown yet</p>}
    </details>
  )
}

function One({ page, report, f, result }: { page: Page; report: Report; f: Finding; result: Result }) {
  const rule = report.rules.find((r) => r.id === result.rule)
  return (
    <li class={'finding' + (f.waived ? ' finding-waived' : '')}>
      <p class="finding-head"><Mark level={f.waived ? 'waived' : f.severity} /> <Ref page={page} target={f.object} />: {f.message}</p>
      {f.waived && <p class="faint">meant so, says {f.waived.origin}{f.waived.until && ` until ${f.waived.until}`}: {f.waived.reason}</p>}
      {f.field && <p><code class="evidence">{f.field} = {f.value ?? '(nothing)'}</code></p>}
      {f.remedy && <p>{f.remedy}</p>}
      <details>
        <summary>{f.patch ? 'Patch and rule' : 'Rule'}: {result.rule}</summary>
        {f.patch && <><pre>{f.patch}</pre><Command text={patchCommand(f.object, f.patch)} /></>}
        {rule && <p><b>{rule.title}</b>: {rule.reason}</p>}
        {f.related.length > 0 && <p>See also {f.related.map((r, i) => <span key={r}>{i > 0 && ', '}<Ref page={page} target={r} /></span>)}</p>}
        {result.guidelines.length > 0 && <ul class="faint">{result.guidelines.map((g) => <li key={g}>{g}</li>)}</ul>}
      </details>
    </li>
  )
}

function patchCommand(ref: string, patch: string): string {
  const object = parse(ref)
  return command('kubectl', 'patch', kindKey(object).toLowerCase(), object.name, ...inNamespace(object.namespace), '--type=merge', '--dry-run=server', '-p', patch.trimEnd())
}

// The findings of kubectl sysop check by rule: reason, remedy, and the objects with their evidence.

import { useState } from 'preact/hooks'
import { Absent, Bar, Command, Notice, Ref, Unread, Waits, useAsk } from './bits.tsx'
import type { Page } from './page.ts'
import { byRule, type Found, levelOf, type Report, type Rule, type Score, severities } from './report.ts'
import { command, count, inNamespace, kindKey, parse, plural, readFrom, short, visible } from './words.ts'

const marks = { error: ['✖', 'bad'], warning: ['▲', 'warn'], info: ['●', 'info'], waived: ['‖', 'faint'] } as const

function Mark({ level, n }: { level: keyof typeof marks; n?: number }) {
  const [glyph, tone] = marks[level]
  return <span class={'finding-mark tone-' + tone}>{n !== undefined && count(n) + ' '}<span aria-hidden="true">{glyph}</span> {level}</span>
}

/** The command that shows the same. */
const checkCommand = ({ uiState }: Page) => command('kubectl', 'sysop', 'check', ...inNamespace(uiState.namespace, true), '--all', ...readFrom(uiState))

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
  const { search, kinds } = page.choice, { overall, categories } = report.scores, [most, more] = useState(100), maxRows = page.printing ? Infinity : most
  // This view stores severities in the kinds of the choice.
  const flip = (s: string) => page.set({ kinds: kinds.includes(s) ? kinds.filter((x) => x !== s) : [...kinds, s] })
  const all = byRule(report, search), wanted = (f: Found) => !kinds.length || kinds.includes(levelOf(f.finding))
  const rules = all.map((r) => ({ ...r, found: r.found.filter(wanted) })).filter((r) => r.found.length), n = rules.reduce((sum, r) => sum + r.found.length, 0)
  const has = (level: string) => all.reduce((sum, r) => sum + r.found.filter((f) => levelOf(f.finding) === level).length, 0)
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
        <input type="search" placeholder="Search" aria-label="Search findings" value={search} onInput={(e) => page.set({ search: e.currentTarget.value })} />
        <div class="chips" role="group" aria-label="Severity">
          {severities.map((s) => <button key={s} type="button" class="chip" aria-pressed={kinds.includes(s)} onClick={() => flip(s)}><Mark level={s} n={has(s)} /></button>)}
          {overall.waived > 0 && <button type="button" class="chip" aria-pressed={kinds.includes('waived')} onClick={() => flip('waived')}><Mark level="waived" n={has('waived')} /></button>}
        </div>
        <span class="faint" role="status">{n > maxRows ? `showing ${count(maxRows)} of ${count(n)}, the gravest first` : plural(n, 'finding')} of {plural(rules.length, 'rule')}</span>
      </div>
      {n === 0 && <Notice>{search || kinds.length ? <>No finding is like that. <button type="button" class="link" onClick={() => page.set({ search: '', kinds: [] })}>Show all</button></> : overall.evaluated ? 'Nothing was found: all that could be decided is as it should be.' : 'Nothing was checked: no operator, no definition and no stack was found.'}</Notice>}
      {rules.map((r) => {
        const found = r.found.slice(0, Math.max(0, room))
        room -= found.length
        return found.length > 0 && <OneRule key={r.id} page={page} rule={{ ...r, found }} all={r.found.length} />
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

/** A rule, its remedy, and the objects that break it. */
function OneRule({ page, rule, all }: { page: Page; rule: Rule; all: number }) {
  const first = rule.found[0].finding, remedies = [...new Set(rule.found.map((f) => f.finding.remedy ?? ''))], remedy = remedies.length === 1 ? remedies[0] : ''
  const messages = [...new Set(rule.found.map((f) => f.finding.message))], message = messages.length === 1 ? messages[0] : ''
  const objects = new Set(rule.found.map((f) => f.finding.object)).size
  return (
    <details class="findings" open={levelOf(first) === 'error' || levelOf(first) === 'warning' || !!page.choice.search || page.choice.kinds.length > 0}>
      <summary>
        <Mark level={levelOf(first)} /> <h3>{rule.title}</h3> <span class="faint">{plural(objects, 'object')} · {rule.category} · {rule.id}</span>
      </summary>
      <div class="finding-rule">
        <p>{rule.reason}</p>
        {message && <p>Found: {message}.</p>}
        {(remedy || rule.fix) && <p><b>Remedy:</b> {remedy || rule.fix}</p>}
        <ul>{rule.found.map((f, i) => <One key={f.finding.object + (f.finding.field ?? '') + i} page={page} found={f} message={message} remedy={remedy} />)}</ul>
        {rule.found.length < all && <p class="faint">{count(all - rule.found.length)} more of it are not shown yet</p>}
        {rule.guidelines.length > 0 && <ul class="faint">{rule.guidelines.map((g) => <li key={g}>{g}</li>)}</ul>}
      </div>
    </details>
  )
}

function One({ page, found: { finding: f, subjects }, message, remedy }: { page: Page; found: Found; message: string; remedy: string }) {
  const stacks = subjects.filter((s) => s.id !== f.object)
  return (
    <li class={'finding' + (f.waived ? ' finding-waived' : '')}>
      <p class="finding-head"><Mark level={levelOf(f)} /> <Ref page={page} target={f.object} />{f.message !== message && <>: {visible(f.message)}</>}
        {stacks.length > 0 && <span class="faint"> · {stacks.map((s) => s.scope === 'stack' ? short(s.name) : s.name).join(', ')}</span>}</p>
      {f.waived && <p class="faint">waived by {f.waived.origin}{f.waived.until && ` until ${f.waived.until}`}: {f.waived.reason}</p>}
      {f.field && <p><code class="evidence">{f.field} = {f.value ?? '(nothing)'}</code></p>}
      {f.remedy && f.remedy !== remedy && <p><b>Remedy:</b> {f.remedy}</p>}
      {f.related.length > 0 && <p class="faint">See also {f.related.map((r, i) => <span key={r}>{i > 0 && ', '}<Ref page={page} target={r} /></span>)}</p>}
      {f.patch && <details><summary>Patch</summary><pre tabIndex={0}>{f.patch}</pre><Command text={patchCommand(f.object, f.patch)} /></details>}
    </li>
  )
}

function patchCommand(ref: string, patch: string): string {
  const object = parse(ref)
  return command('kubectl', 'patch', kindKey(object).toLowerCase(), object.name, ...inNamespace(object.namespace), '--type=merge', '--dry-run=server', '-p', patch.trimEnd())
}

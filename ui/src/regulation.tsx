// The regulation of each adopted System: who is held over time if an app fails or is upgraded, what is
// held now, the plan, and the history.

import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Absent, Command, Health, Notice, Ref, Waits, useAsk } from './bits.tsx'
import { rounded } from './map_layout.ts'
import type { Page } from './page.ts'
import { KindIcon } from './icons.tsx'
import { type Case, course, effect, heldAs, known, needsAmong, type Need, type Trouble, type WhatIf } from './regulation_model.ts'
import { age, capital, command, health, inNamespace, moment, parse, plural, readFrom, visible } from './words.ts'

/** The document of kubectl sysop regulate status: docs/schema/regulate-status.json. */
interface System {
  name: string
  namespace: string
  /** The reason why the other fields are unknown. */
  unavailable?: string
  holds?: Hold[]
  conflicts?: Hold[]
  apps?: { app: string; state: 'Free' | 'Held' | 'Cause' | 'Unknown'; health: string; needs: string[]; reason?: string; message?: string }[]
  /** The latest runs of its installation and its regulation, newest first; runsUnavailable says why some are unknown. */
  runs?: Run[]
  runsUnavailable?: string
  gaps?: { resource: string; namespace?: string; reason: string; message: string }[]
  /** The document of kubectl sysop regulate plan: docs/schema/regulate-plan.json. */
  plan?: { steps: { verb: string; app: string; signal: string; reason: string }[]; pending: { app: string; until: string; reason: string }[]; refused: { app: string; signal: string; message: string }[] }
  whatIf?: WhatIf
}
interface Run {
  action: string
  app?: string
  by: string
  started: string
  ended?: string
  result: string
  reason?: string
  failed?: boolean
}
interface Hold {
  id: number
  app: string
  signal: string
  phase: string
  at: string
  failed?: string
  causes: { rule?: string; app?: string; requestedBy?: string; run?: string; reason: string; at?: string }[]
  operations: { action: string; text: string; target?: string; state: string; at?: string; result?: string }[]
}

const states = { Free: ['✔', 'good', 'free'], Held: ['‖', 'info', 'held'], Cause: ['✖', 'bad', 'unhealthy'], Unknown: ['?', 'faint', 'ignored'] } as const
/** States of pending operations, and of those that need attention. */
const waiting = ['Waiting', 'Intended', 'Undoing'], odd = ['Left', 'Gone', 'Errored']

export function Regulation({ page }: { page: Page }) {
  const unavailable = page.uiState.parts?.regulation
  return FILE || unavailable || !page.server ? <Absent title="Regulation" reason={unavailable} text="kubectl sysop regulate status SYSTEM" /> : <Regulated page={page} />
}

/** The app and the case that are looked at are filters of this view: search has the app, kinds the case, labels the System. */
function Regulated({ page }: { page: Page }) {
  const asked = useAsk<{ systems: System[]; unavailable?: string }>(page, 'regulation', {}, page.uiState.at.slice(0, 18)), { systems = [], unavailable } = asked.answer ?? {}
  const key = (s: System) => s.namespace + '/' + s.name, shown = systems.find((s) => page.choice.labels.includes(key(s))) ?? systems[0]
  return (
    <section aria-labelledby="regulation-title">
      <div class="bar-head">
        <h2 id="regulation-title">Regulation{shown && <> of <bdi>{visible(shown.name)}</bdi></>}</h2>
        {systems.length > 1 && (
          <label>System <select value={key(shown)} onChange={(e) => page.set({ labels: [e.currentTarget.value], search: '' }, true)}>{systems.map((s) => <option key={key(s)} value={key(s)}>{s.name}, {s.namespace}</option>)}</select></label>
        )}
        {asked.answer && <button type="button" disabled={asked.waiting} onClick={asked.again}>{asked.waiting ? 'Asking ...' : 'Ask again'}</button>}
      </div>
      {!asked.answer ? <Waits request={asked} label="Asking how Systems are regulated" /> : shown ? <OneSystem page={page} system={shown} /> : <Empty reason={unavailable} />}
    </section>
  )
}

function Empty({ reason }: { reason?: string }) {
  return (
    <Notice>
      {reason ? capital(reason).replace(/\.?$/, '.') : 'No System was adopted here.'} A System is an application of several: its manifest declares its apps, which of them need each other, and what to do when one is unhealthy. These commands write a manifest and add it:
      <Command text="kubectl sysop system init NAME > system.yaml" />
      <Command text="kubectl sysop system adopt -f system.yaml" />
    </Notice>
  )
}

/** The arguments by which a command names a System. */
const named = (page: Page, s: System) => page.uiState.source === 'snapshot demo' ? ['-f', 'demo', '--from', 'demo'] : [s.name, ...inNamespace(s.namespace), ...readFrom(page.uiState)]

function OneSystem({ page, system: s }: { page: Page; system: System }) {
  const { gaps = [], runs = [] } = s, say = (what: string) => command('kubectl', 'sysop', 'regulate', what, ...named(page, s))
  return (
    <section class="system" aria-label={'System ' + s.name}>
      {s.unavailable ? <Notice>It could not be asked: {s.unavailable}</Notice> : (
        <>
          {s.whatIf && <IfApp page={page} system={s} w={s.whatIf} />}
          <div class="regulation-cards">
            {s.whatIf && <Bounds page={page} s={s} w={s.whatIf} />}
            <section aria-labelledby="held-now">
              <h3 id="held-now">Held now</h3>
              <Now page={page} system={s} />
            </section>
            <section aria-labelledby="same-there">
              <h3 id="same-there">The same in a terminal</h3>
              <Command text={say('neighbours')} />
              <Command text={say('plan')} />
            </section>
          </div>
          <Apps system={s} />
          <Runs system={s.name} runs={runs} unavailable={s.runsUnavailable} />
          {gaps.length > 0 && <ul class="notes">{gaps.map((g, i) => <li key={i}>not read: {g.resource} {g.namespace}: {g.reason}: {g.message}</li>)}</ul>}
        </>
      )}
    </section>
  )
}

const caseOf = (page: Page): Case => page.choice.kinds.includes('upgraded') ? 'upgraded' : 'fails'
const needsOf = (s: System) => Object.fromEntries((s.apps ?? []).map((a) => [a.app, a.needs]))

/** The app that is looked at: the chosen one, else the one because of which most are held. */
function appOf(page: Page, w: WhatIf): string {
  const all = w[caseOf(page)], count = (t: Trouble) => t.neighbours.filter((n) => n.signals?.length).length
  return all.find((t) => t.app === page.choice.search)?.app ?? all.reduce<Trouble | undefined>((a, t) => a && count(a) >= count(t) ? a : t, undefined)?.app ?? ''
}

function IfApp({ page, system: s, w }: { page: Page; system: System; w: WhatIf }) {
  const kind = caseOf(page), app = appOf(page, w), c = course(w, kind, app, needsOf(s)), state = (name: string) => s.apps?.find((a) => a.app === name)
  const number = (t: Trouble) => t.neighbours.filter((n) => n.signals?.length).length
  const columns = c.stops.length + c.recovers.length + 3
  const cause = state(app), grid = { '--columns': String(columns), '--ill': String((c.stops.length + 1) / columns), '--over': String((c.stops.length + 2) / columns) }
  const needs = needsAmong(c), table = useRef<HTMLDivElement>(null), lines = useNeeds(table, needs), direct = needs.filter((n) => n.to === app)
  const ways = [['said by the spec', 'by their spec'], ['inferred', 'inferred'], ['declared', 'declared']].map(([how, word]) => [direct.filter((n) => known(n) === how).length, word] as const).filter(([n]) => n)
  const ill = (name: string) => ['Degraded', 'Missing'].includes(state(name)?.health ?? '')
  return (
    <>
      <div class="bar-head regulation-if">
        <span id="regulation-if">If</span>
        <div class="chips" role="group" aria-labelledby="regulation-if">
          {w[kind].map((t) => <button key={t.app} type="button" class="chip" aria-pressed={t.app === app} onClick={() => page.set({ search: t.app }, true)}><KindIcon kind={kindOf(w, t.app)} /> <bdi>{visible(t.app)}</bdi> <span class="faint">{number(t)}<span class="unseen"> held then</span></span></button>)}
        </div>
        <div class="switch" role="group" aria-label="What happens to it">
          <button type="button" aria-pressed={kind === 'fails'} onClick={() => page.set({ kinds: [] }, true)}>fails</button>
          <button type="button" aria-pressed={kind === 'upgraded'} onClick={() => page.set({ kinds: ['upgraded'] }, true)}>is upgraded</button>
        </div>
        <span class="faint">the number: how many are held then</span>
      </div>
      <p class="regulation-says">{c.sentence}</p>
      {c.rules.map((r) => <p key={r.name} class="faint">Rule <b>{r.name}</b>: {r.text}.</p>)}
      {c.held.length > 0 && (
        <div ref={table} class="scroll" role="region" aria-label="Who is held over time" tabIndex={0}>
          <svg class="map-lines course-needs" width="100%" height="100%" aria-hidden="true">
            <defs><marker id="need-arrow" class="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0 8 4 0 8Z" /></marker></defs>
            {needs.map((n, i) => lines[i] && <path key={i} class={'line-mark ' + ({ inferred: 'dashed', declared: 'dotted' }[known(n) as string] ?? '')} d={lines[i]} marker-end="url(#need-arrow)" />)}
          </svg>
          <table class="course" style={{ '--lanes': String(needs.length) }}>
            <thead>
              <tr>
                <th scope="col">App, and what is done to it</th>
                <th scope="col"><span class="unseen">Over time</span><div class="course-time" style={grid}>
                  <span class="course-head course-bad"><b>{app} {kind === 'fails' ? 'fails' : 'is upgraded'}</b><br />{c.after ? age(c.after) + ' pass' : 'at once'}</span>
                  {c.stops.map((signal, i) => <span key={'s' + i} class="course-head"><b>Step {i + 1}</b><br />{signal}</span>)}
                  <span class="course-head course-good"><b>{kind === 'fails' ? app + ' is well' : 'it is over'}</b><br />{c.over ? age(c.over) + ' pass' : 'at once'}</span>
                  {c.recovers.map((signal, i) => <span key={'r' + i} class="course-head"><b>Step {c.stops.length + i + 1}</b><br />{signal}</span>)}
                </div></th>
                <th scope="col">Why it is held</th>
              </tr>
            </thead>
            <tbody>
              <tr>
                <th scope="row"><App w={w} name={app} bad /><p class="faint">{cause?.health ? ill(app) ? 'It is ' + cause.health + ' now' : `It is ${cause.health} now: this is what if` : ''}</p></th>
                <td><div class="course-time" style={grid}>
                  <span class="course-bar course-ill" style={{ gridColumn: `1 / ${c.stops.length + 2}` }}>{kind === 'fails' ? <><span aria-hidden="true">✖</span> Degraded or Missing</> : <><span aria-hidden="true">◌</span> upgraded</>}</span>
                  <span class="course-bar" style={{ gridColumn: `${c.stops.length + 2} / -1` }}><span class="tone-good"><span aria-hidden="true">✔</span> {kind === 'fails' ? 'Healthy' : 'done'}</span></span>
                </div></td>
                <td><b>It is the cause.</b><p class="faint">{c.held.length === 1 ? 'One app is' : `${c.held.length} apps are`} held because of it.{ways.length > 0 && ` ${direct.length} ${direct.length === 1 ? 'needs' : 'need'} it: ${ways.map(([n, word]) => n + ' ' + word).join(', ')}.`}</p></td>
              </tr>
              {c.held.map((h) => (
                <tr key={h.app}>
                  <th scope="row"><App w={w} name={h.app} />{h.actions.map((a, i) => <p key={i} title={a.notes?.join('; ')}>{capital(effect(a))}</p>)}{h.refused && <p class="tone-warn"><span aria-hidden="true">▲</span> {h.refused}</p>}</th>
                  <td><div class="course-time" style={grid}>
                    <span class={'course-line' + (ill(h.app) ? ' course-line-ill' : '')} aria-hidden="true" />
                    <span class="course-bar course-held" style={{ gridColumn: `${h.from + 1} / ${c.stops.length + 2 + h.until}` }}><span aria-hidden="true" class="course-stop">‖</span><span><span class="unseen">from step {h.from} until step {c.stops.length + h.until}: </span>{heldAs(h)}</span><span aria-hidden="true" class="course-go">▶</span></span>
                  </div></td>
                  <td>
                    {h.path.map((n, i) => <p key={i}><b>{i ? n.from + ' ' : ''}needs {n.to}</b> <span class="faint">{known(n)}</span><br />{n.why && <code>{visible(n.why)}</code>}{n.reason && <> {visible(n.reason)}</>}</p>)}
                    {!h.path.length && <p>The rule names it; it needs nothing of {app}.</p>}
                    {h.order.map((o) => <p key={o} class="faint">{capital(o)}</p>)}
                    {ill(h.app) && !ill(app) && <p class="tone-bad"><span aria-hidden="true">✖</span> {state(h.app)!.health} already now, for a cause of its own</p>}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
          {needs.length > 0 && <p class="faint course-key">Lines at the left lead to what is needed: solid as the spec says, dashed inferred, dotted declared.</p>}
        </div>
      )}
    </>
  )
}

/** The lines from the rows of apps to those that they need, left of their icons; the shortest are next to them. */
function useNeeds(table: { current: HTMLDivElement | null }, needs: Need[]): string[] {
  const [paths, set] = useState<string[]>([]), key = needs.map((n) => n.from + ' ' + n.to).join()
  useLayoutEffect(() => {
    if (!table.current) return
    const measure = () => {
      const at = table.current!.getBoundingClientRect(), { scrollLeft, scrollTop } = table.current!
      const icons = new Map([...table.current!.querySelectorAll<HTMLElement>('.course-app')].map((e) => [e.dataset.app!, e.firstElementChild!.getBoundingClientRect()]))
      const middle = (app: string) => { const r = icons.get(app)!; return r.top - at.top + scrollTop + r.height / 2 }
      const order = needs.map((_, i) => i).sort((a, b) => Math.abs(middle(needs[a].from) - middle(needs[a].to)) - Math.abs(middle(needs[b].from) - middle(needs[b].to)))
      const arrived = new Map<string, number>(), out: string[] = []
      order.forEach((i, lane) => {
        const { from, to } = needs[i], left = icons.get(from)!.left - at.left + scrollLeft - 3, x = left - 12 - lane * 8, n = arrived.get(to) ?? 0
        arrived.set(to, n + 1)
        const end = middle(to) + 6 - 4 * n
        out[i] = rounded([[left, middle(from)], [x, middle(from)], [x, end], [left, end]])
      })
      set(out)
    }
    const seen = new ResizeObserver(measure)
    seen.observe(table.current.querySelector('table')!)
    return () => seen.disconnect()
  }, [key])
  return paths
}

const kindOf = (w: WhatIf, app: string) => parse((w.roots[app] ?? [])[0] ?? 'app').kind.replace(/^./, (c) => c.toUpperCase())

function App({ w, name, bad }: { w: WhatIf; name: string; bad?: boolean }) {
  return <div class={'course-app' + (bad ? ' tone-bad' : '')} data-app={name}><KindIcon kind={kindOf(w, name)} /> <div><b><bdi>{visible(name)}</bdi></b><br /><span class="faint">{(w.roots[name] ?? []).map(visible).join(', ')}</span></div></div>
}

function Bounds({ page, s, w }: { page: Page; s: System; w: WhatIf }) {
  const { held } = course(w, caseOf(page), appOf(page, w), needsOf(s))
  return (
    <section aria-labelledby="regulation-bounds">
      <h3 id="regulation-bounds">Bounds of the rules</h3>
      {w.maxUnavailable > 0 && held.length > w.maxUnavailable && <p class="tone-warn"><span aria-hidden="true">▲</span> <b>At most {w.maxUnavailable} are held at a time, and {held.length} would be.</b> The plan says who is left alone, and why.</p>}
      <p>{w.bounds ? capital(w.bounds) + '.' : 'None.'}</p>
    </section>
  )
}

/** What is held, since when and by whom, and what the plan would do now. */
function Now({ page, system: s }: { page: Page; system: System }) {
  const { holds = [], conflicts = [], plan } = s, wait = holds.reduce((n, h) => n + h.operations.filter((o) => waiting.includes(o.state)).length, 0), steps = plan?.steps ?? []
  return (
    <>
      <p>{holds.length ? `${plural(holds.length, 'app is held', 'holds are in force')}${wait ? `, ${plural(wait, 'action waits', 'actions wait')}` : ''}.` : 'Nobody is held.'} {plan && (steps.length ? `The plan has ${plural(steps.length, 'step')}:` : 'The plan has nothing to do.')}</p>
      {steps.length > 0 && <ol class="regulation-plan">{steps.map((p, i) => <li key={i}><b>{p.verb === 'Send' ? p.signal : p.verb} {p.app}</b>: {p.reason}</li>)}</ol>}
      {!!plan?.pending.length && <ul>{plan.pending.map((p, i) => <li key={i}>{p.app} waits until {moment(p.until)}: {p.reason}</li>)}</ul>}
      {!!plan?.refused.length && <ul>{plan.refused.map((p, i) => <li key={i} class="tone-warn">{p.signal} to {p.app} is refused: {p.message}</li>)}</ul>}
      {holds.length > 0 && <ul class="holds">{holds.map((h) => <OneHold key={h.id} page={page} hold={h} />)}</ul>}
      {conflicts.length > 0 && (
        <>
          <h4>Conflicts: changed by another client</h4>
          <ul class="holds">{conflicts.map((h) => <OneHold key={h.id} page={page} hold={h}><Command text={`kubectl sysop regulate recover ${s.name} ${h.app} --force -n ${s.namespace}`} /></OneHold>)}</ul>
        </>
      )}
    </>
  )
}

function Apps({ system: s }: { system: System }) {
  return (
    <>
      <h3>Apps now</h3>
      <div class="scroll" role="region" aria-label={'Apps of ' + s.name} tabIndex={0}>
        <table>
          <thead><tr><th scope="col">App</th><th scope="col">To regulation</th><th scope="col">Health</th><th scope="col">Needs</th><th scope="col">Why</th></tr></thead>
          <tbody>
            {(s.apps ?? []).map((a) => {
              const [glyph, tone, word] = states[a.state] ?? ['?', 'faint', a.state], h = health.findIndex((x) => x.word === a.health)
              return (
                <tr key={a.app}>
                  <th scope="row"><b><bdi>{visible(a.app)}</bdi></b></th>
                  <td><span class={'mark tone-' + tone}><span aria-hidden="true">{glyph}</span> {word}</span></td>
                  <td>{<Health value={h} />}</td>
                  <td class="nowrap">{a.needs.join(', ') || <span class="faint">–</span>}</td>
                  <td>{[a.reason, !(a.message && a.reason?.includes(a.message)) && a.message].filter(Boolean).join('; ')}</td>
                </tr>
              )
            })}
          </tbody>
        </table>
      </div>
    </>
  )
}

function Runs({ system, runs, unavailable }: { system: string; runs: Run[]; unavailable?: string }) {
  return (
    <>
      <h3>History</h3>
      {!runs.length && !unavailable && <p class="faint">No run of an installation and no signal is recorded.</p>}
      {unavailable && <Notice>{capital(unavailable)}</Notice>}
      {runs.length > 0 && (
        <div class="scroll" role="region" aria-label={'Runs on ' + system} tabIndex={0}>
          <table class="journal">
            <thead><tr><th scope="col">Started</th><th scope="col">Action</th><th scope="col">By</th><th scope="col">Result</th></tr></thead>
            <tbody>
              {runs.map((r, i) => (
                <tr key={i}>
                  <td title={r.ended && r.ended !== r.started ? 'ended ' + moment(r.ended) : undefined}>{moment(r.started)}</td>
                  <td>{r.action} {r.app && <b>{r.app}</b>}</td>
                  <td>{r.by || <span class="faint">–</span>}</td>
                  <td class={r.failed ? 'tone-warn' : undefined}>{r.result}{r.reason && ': ' + r.reason}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  )
}

function OneHold({ page, hold: h, children }: { page: Page; hold: Hold; children?: ComponentChildren }) {
  const ago = (at?: string) => at ? <span class="faint" title={moment(at)}>{age(page.now() - Date.parse(at) / 1000)} ago</span> : null
  return (
    <li class="hold">
      <p><b>{h.app}</b> <span class="faint">{h.signal} #{h.id}</span> <span class={h.phase === 'Held' ? 'tone-info' : 'tone-warn'}>{h.phase.toLowerCase()}</span> {ago(h.at)}</p>
      {h.failed && <p class="tone-bad"><span aria-hidden="true">✖</span> it could not be done: {h.failed}</p>}
      <ul>{h.causes.map((c, i) => <li key={i}>{c.rule ? <>by the rule <b>{c.rule}</b>{c.app && <>, which saw <b>{c.app}</b></>}</> : c.requestedBy ? <>by <b>{c.requestedBy}</b></> : c.run ? <>during the run <b>{c.run}</b></> : null}{(c.rule || c.requestedBy || c.run) && ': '}{c.reason} {ago(c.at)}</li>)}</ul>
      {h.operations.length > 0 && (
        <table class="journal">
          <caption>Journal</caption>
          <thead><tr><th scope="col">State</th><th scope="col">Object</th><th scope="col">What</th><th scope="col">When</th></tr></thead>
          <tbody>
            {h.operations.map((o, i) => (
              <tr key={i}>
                <td><span class={waiting.includes(o.state) ? 'tone-info' : odd.includes(o.state) ? 'tone-warn' : 'tone-faint'}>{o.state}</span></td>
                <td>{o.target ? <Ref page={page} target={o.target} /> : o.action}</td>
                <td>{[o.text, o.result !== o.text && o.result].filter(Boolean).join(': ')}</td>
                <td>{ago(o.at)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {children}
    </li>
  )
}

// The regulation of each adopted System: apps, holds with causes and times, pending actions.

import type { ComponentChildren } from 'preact'
import { Absent, Command, Health, Notice, Ref, Waits, useAsk } from './bits.tsx'
import type { Page } from './page.ts'
import { age, capital, health, moment, plural } from './words.ts'

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

function Regulated({ page }: { page: Page }) {
  const asked = useAsk<{ systems: System[]; unavailable?: string }>(page, 'regulation', {}, page.uiState.at.slice(0, 18)), { systems, unavailable } = asked.answer ?? {}
  return (
    <section aria-labelledby="regulation-title">
      <div class="bar-head">
        <h2 id="regulation-title">Regulation</h2>
        {systems && <button type="button" disabled={asked.waiting} onClick={asked.again}>{asked.waiting ? 'Asking ...' : 'Ask again'}</button>}
      </div>
      {!systems ? <Waits request={asked} label="Asking how Systems are regulated" />
        : <>{systems.length === 0 && <Empty reason={unavailable} />}{systems.map((s) => <OneSystem key={s.namespace + '/' + s.name} page={page} system={s} />)}</>}
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

function OneSystem({ page, system: s }: { page: Page; system: System }) {
  const { apps = [], holds = [], conflicts = [], gaps = [], runs = [] } = s
  const wait = holds.reduce((n, h) => n + h.operations.filter((o) => waiting.includes(o.state)).length, 0)
  return (
    <section class="system" aria-label={'System ' + s.name}>
      <h3>{s.name} <span class="faint">{s.namespace}</span></h3>
      {s.unavailable ? <Notice>It could not be asked: {s.unavailable}</Notice> : (
        <>
          <p>{holds.length ? `${plural(holds.length, 'app is held', 'holds are in force')}${wait ? `, ${plural(wait, 'action waits', 'actions wait')}` : ''}.` : 'Nobody is held.'}</p>
          <div class="scroll" role="region" aria-label={'Apps of ' + s.name} tabIndex={0}>
            <table>
              <thead><tr><th scope="col">App</th><th scope="col">To regulation</th><th scope="col">Health</th><th scope="col">Needs</th><th scope="col">Why</th></tr></thead>
              <tbody>
                {apps.map((a) => {
                  const [glyph, tone, word] = states[a.state] ?? ['?', 'faint', a.state], h = health.findIndex((x) => x.word === a.health)
                  return (
                    <tr key={a.app}>
                      <th scope="row"><b>{a.app}</b></th>
                      <td><span class={'mark tone-' + tone}><span aria-hidden="true">{glyph}</span> {word}</span></td>
                      <td>{<Health value={h} />}</td>
                      <td>{a.needs.join(', ') || <span class="faint">–</span>}</td>
                      <td>{[a.reason, !(a.message && a.reason?.includes(a.message)) && a.message].filter(Boolean).join('; ')}</td>
                    </tr>
                  )
                })}
              </tbody>
            </table>
          </div>
          {holds.length > 0 && <><h4>Held</h4><ul class="holds">{holds.map((h) => <OneHold key={h.id} page={page} hold={h} />)}</ul></>}
          {conflicts.length > 0 && (
            <>
              <h4>Conflicts: changed by another client</h4>
              <ul class="holds">{conflicts.map((h) => <OneHold key={h.id} page={page} hold={h}><Command text={`kubectl sysop regulate recover ${s.name} ${h.app} --force -n ${s.namespace}`} /></OneHold>)}</ul>
            </>
          )}
          {(runs.length > 0 || s.runsUnavailable) && <Runs system={s.name} runs={runs} unavailable={s.runsUnavailable} />}
          {gaps.length > 0 && <ul class="notes">{gaps.map((g, i) => <li key={i}>not read: {g.resource} {g.namespace}: {g.reason}: {g.message}</li>)}</ul>}
        </>
      )}
    </section>
  )
}

function Runs({ system, runs, unavailable }: { system: string; runs: Run[]; unavailable?: string }) {
  return (
    <>
      <h4>Runs</h4>
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

// Costs by stack, namespace or label, and over time.

import { useState } from 'preact/hooks'
import { Bar, Command, Link, Notice, Sort, Unread, useAsk, Waits } from './bits.tsx'
import { Compare } from './compare.tsx'
import type { Page } from './page.ts'
import type { Costs } from './ui_state.ts'
import { type Point, compare, labelKeys, partsOf, series, stackCosts, unclaimed } from './table.ts'
import { age, capital, count, moment, money, parse, plural, short, visible } from './words.ts'

const among = {
  alone: 'the stack pays all that it needs', requested: 'the requested stacks share what several of them need',
  namespace: 'the stacks of the namespace share what several of them need', cluster: 'all stacks share what several of them need',
}

export function CostsView({ page }: { page: Page }) {
  const { uiState, choice } = page, { by } = choice
  const keys = labelKeys(uiState.labels), label = by.startsWith('label ')
  const live = !FILE && !!page.server && !uiState.window
  const known = by ? uiState.costs?.find((c) => c.groupBy === by) : live ? undefined : stackCosts(uiState.stacks, unclaimed(uiState))
  const minute = Math.floor(Date.parse(uiState.at) / 60_000)
  const asked = useAsk<Costs>(page, known ? '' : 'cost', { by: label ? 'label:' + by.slice(6) : by || 'stack' }, minute)
  const costs = known ?? asked.answer
  return (
    <section aria-labelledby="costs-title">
      <div class="bar-head">
        <h2 id="costs-title">Costs</h2>
        <div class="switch" role="group" aria-label="By">
          <button type="button" aria-pressed={!by} onClick={() => page.set({ by: '' })}>Stack</button>
          <button type="button" aria-pressed={by === 'namespace'} onClick={() => page.set({ by: 'namespace' })}>Namespace</button>
          <button type="button" aria-pressed={label} disabled={!keys.length} onClick={() => page.set({ by: 'label ' + keys[0] })}>Label</button>
        </div>
        {label && (
          <label>Key <select value={by.slice(6)} onChange={(e) => page.set({ by: 'label ' + e.currentTarget.value })}>
            {(keys.includes(by.slice(6)) ? keys : [by.slice(6), ...keys]).map((key) => <option key={key} value={key}>{key}</option>)}
          </select></label>
        )}
        <span class="faint">{uiState.window ? `from ${moment(uiState.window.from)} to ${moment(uiState.window.to)}` : 'a month (730 h) at the rates of now'}{uiState.prices && <> · prices: {uiState.prices === 'default' ? "OpenCost's public ones" : uiState.prices}</>}{uiState.sharedAmong && !by && <> · {among[uiState.sharedAmong]}</>}</span>
      </div>
      {uiState.parts?.cost ? <Notice>{uiState.parts.cost}<Unread gaps={uiState.gaps} /></Notice>
        : costs ? <CostTable page={page} costs={costs} />
          : !FILE && page.server ? <Waits request={asked} label="What it costs" />
            : <Notice>This file has no costs by {by}. <Command text={`kubectl sysop metrics -A --by ${label ? 'label:' + by.slice(6) : by}`} /></Notice>}
      <Unmeasured page={page} />
      <Compare page={page} />
      <History page={page} />
    </section>
  )
}

/** Pods that are charged by requests only, with the reasons; and notes on partial costs. */
function Unmeasured({ page: { uiState: { nodes, notes } } }: { page: Page }) {
  const reasons = new Map<string, number>()
  for (const n of nodes) if (n?.u?.w) reasons.set(n.u.w, (reasons.get(n.u.w) ?? 0) + 1)
  const pods = [...reasons.values()].reduce((a, b) => a + b, 0), about = (notes ?? []).filter((n) => n.partial)
  return (
    <>
      {pods > 0 && <p class="faint">The usage of {plural(pods, 'pod')} is unknown, so their requests count: {[...reasons].map(([w, n]) => `${w} (${n})`).join(', ')}.</p>}
      {about.length > 0 && <ul class="notes">{about.map((n, i) => <li key={i}>{[n.source, n.about].filter(Boolean).join(' · ')}: {n.message}</li>)}</ul>}
    </>
  )
}

/** The costs by part. The remainder of a row is one more column, so that rows add up. */
function CostTable({ page, costs }: { page: Page; costs: Costs }) {
  const { uiState } = page, { sort } = page.choice, { currency = '' } = uiState, stacks = costs.groupBy === 'stack'
  const parts = partsOf(costs).filter(([, sum]) => sum !== 0), top = Math.max(1, ...costs.rows.map((r) => r.cost))
  const other = (r: Costs['rows'][number]) => r.cost - parts.reduce((sum, [part]) => sum + (r.parts?.[part] ?? 0), 0)
  const hasOther = costs.rows.some((r) => other(r) !== 0)
  const listed = costs.rows.reduce((sum, r) => sum + r.cost, 0)
  const key = sort.replace(/^-/, '')
  const value = (r: Costs['rows'][number]) => key === 'name' ? short(r.name).toLowerCase() : key === 'pods' ? -(r.pods ?? 0) : key && key !== 'cost' ? -(r.parts?.[key] ?? 0) : -r.cost
  const rows = [...costs.rows].sort((a, b) => compare(value(a), value(b), sort[0] === '-') || compare(a.name, b.name, false))
  const [most, more] = useState(200), maxRows = page.printing ? Infinity : most
  if (!rows.length) return <Notice>No costs were found.</Notice>
  return (
    <>
      <div class="scroll" role="region" aria-label="Table of costs" tabIndex={0}>
        <table class="costs">
          <thead>
            <tr>
              <Sort page={page} name={stacks ? 'Stack' : costs.groupBy.replace(/^label /, '')} column="name" />
              <Sort page={page} name={currency} column="cost" down num initial />
              <th scope="col"><span class="unseen">Share of the dearest</span></th>
              <Sort page={page} name="Pods" column="pods" down num />
              {parts.map(([part]) => <Sort key={part} page={page} name={part} column={part} down num />)}
              {hasOther && <th scope="col" class="num">other</th>}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, maxRows).map((r) => (
              <tr key={r.name}>
                <th scope="row">{stacks && uiState.stacks.some((s) => s.name === r.name) ? <><Link page={page} to={page.inStack(r.name)} class="link" title={r.name}><bdi>{short(r.name)}</bdi></Link> <span class="faint">{parse(r.name).namespace}</span></> : r.name ? visible(r.name) : '(none)'}</th>
                <td class="num"><b>{money(r.cost)}</b></td>
                <td><Bar part={r.cost / top} /></td>
                <td class="num">{r.pods ?? <span class="faint">–</span>}</td>
                {parts.map(([part]) => <td key={part} class="num">{r.parts?.[part] ? money(r.parts[part]) : <span class="faint">–</span>}</td>)}
                {hasOther && <td class="num">{money(other(r))}</td>}
              </tr>
            ))}
            {listed !== costs.total && <tr><th scope="row">in none of them</th><td class="num"><b>{money(costs.total - listed)}</b></td><td colSpan={parts.length + 2 + (hasOther ? 1 : 0)} /></tr>}
          </tbody>
          <tfoot>
            <tr>
              <th scope="row">Total</th><td class="num">{money(costs.total)}</td><td /><td />
              {parts.map(([part, sum]) => <td key={part} class="num">{money(sum)}</td>)}
              {hasOther && <td class="num">{money(costs.rows.reduce((sum, r) => sum + other(r), 0))}</td>}
            </tr>
          </tfoot>
        </table>
      </div>
      {rows.length > maxRows && <p><button type="button" onClick={() => more(maxRows + 200)}>Show {Math.min(200, rows.length - maxRows)} more of {count(rows.length)}</button></p>}
    </>
  )
}

interface HistoryAnswer { currency: string; points: Point[]; unavailable?: string }

function History({ page }: { page: Page }) {
  const unavailable = page.uiState.parts?.history
  return FILE || unavailable || !page.server ? <NoHistory reason={unavailable ?? 'costs over time come from Prometheus, and a saved page cannot read it'} /> : <Recorded page={page} />
}

function NoHistory({ reason }: { reason: string }) {
  return <><h3>Over time</h3><Notice>{capital(reason)}. {!reason.includes('--prometheus') && <Command text="kubectl sysop ui --prometheus URL" />}</Notice></>
}

function Recorded({ page }: { page: Page }) {
  const [window, choose] = useState('24h'), asked = useAsk<HistoryAnswer>(page, 'history', { window }), h = asked.answer
  return h?.unavailable ? <NoHistory reason={h.unavailable} /> : (
    <>
      <div class="bar-head costs-time">
        <h3>Over time</h3>
        <div class="switch" role="group" aria-label="Window">
          {['24h', '7d'].map((w) => <button key={w} type="button" aria-pressed={w === window} onClick={() => choose(w)}>{w}</button>)}
        </div>
      </div>
      {h?.points.length ? <Chart currency={h.currency} points={h.points} />
        : h ? <Notice>Prometheus has no data of that time.</Notice> : <Waits request={asked} label="Costs over time" />}
    </>
  )
}

/** An amount, with more decimal places if it is small. */
const fine = (cents: number) => Math.abs(cents) < 100 ? (cents / 100).toFixed(4) : money(Math.round(cents))
const width = 960, height = 190

/** Stacked bars, repeated in a table below. */
function Chart({ currency, points }: { currency: string; points: Point[] }) {
  const { names, rows } = series(points), top = Math.max(...points.map((p) => p.total), 0.0001), total = points.reduce((sum, p) => sum + p.total, 0)
  const w = width / points.length, tick = (p: Point) => moment(p.from).slice(5)
  const span = age(points[0].to - points[0].from)
  const peak = points.reduce((a, b) => b.total > a.total ? b : a), least = points.reduce((a, b) => b.total < a.total ? b : a)
  const says = `${currency} ${fine(total)} from ${moment(points[0].from)} to ${moment(points.at(-1)!.to)}: at most ${fine(peak.total)} in ${span} (${tick(peak)}), at least ${fine(least.total)} (${tick(least)})`
  return (
    <figure class="chart">
      <figcaption>{says}</figcaption>
      <svg viewBox={`0 0 ${width} ${height + 20}`} role="img" aria-label={says}>
        <line x1="0" x2={width} y1={height} y2={height} class="axis" />
        {rows.map((row, i) => {
          let y = height
          return (
            <g key={i}>
              <title>{`${tick(points[i])}: ${currency} ${fine(points[i].total)}`}</title>
              {row.map((cost, j) => {
                const h = Math.max(0, cost / top * (height - 8))
                y -= h
                return <rect key={j} x={i * w + 1} y={y} width={Math.max(1, w - 2)} height={h} class={'s' + j} />
              })}
            </g>
          )
        })}
        {points.map((p, i) => i % Math.ceil(points.length / 8) === 0 && <text key={i} x={i * w + 1} y={height + 15}>{tick(p)}</text>)}
      </svg>
      <ul class="legend">{names.map((n, j) => <li key={n}><svg viewBox="0 0 12 12" aria-hidden="true"><rect width="12" height="12" class={'s' + j} /></svg> {short(n)}</li>)}</ul>
      <details>
        <summary>As a table</summary>
        <div class="scroll" role="region" aria-label="Costs over time" tabIndex={0}>
          <table>
            <thead><tr><th scope="col">From</th>{names.map((n) => <th scope="col" class="num" key={n}>{short(n)}</th>)}<th scope="col" class="num">{currency}</th></tr></thead>
            <tbody>{points.map((p, i) => <tr key={i}><th scope="row">{moment(p.from)}</th>{rows[i].map((c, j) => <td class="num" key={j}>{fine(c)}</td>)}<td class="num"><b>{fine(p.total)}</b></td></tr>)}</tbody>
          </table>
        </div>
      </details>
    </figure>
  )
}

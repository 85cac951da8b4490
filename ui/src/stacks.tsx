// The stacks as a map, or as a table: health, causes, usage and cost, unhealthy ones first.

import { useEffect, useState } from 'preact/hooks'
import { Bar, Health, Link, Notice, Ref, Sort, Unread, useMedia } from './bits.tsx'
import { StackMap } from './map.tsx'
import type { Page } from './page.ts'
import type { Stack } from './ui_state.ts'
import { cluster, hasApps, showsCluster, wantedStacks } from './table.ts'
import { age, bytes, count, cpu, health, money, parse, plural, short, visible } from './words.ts'

/** The number of rows that are added at a time. */
const step = 40

export function Stacks({ page }: { page: Page }) {
  const { uiState, choice } = page
  const rows = wantedStacks(page), hidden = uiState.stacks.filter((s) => s.cluster).length
  const lacks = <>{uiState.parts?.usage && <Notice>Usage: {uiState.parts.usage}</Notice>}{uiState.parts?.cost && <Notice>Cost: {uiState.parts.cost}</Notice>}</>
  return (
    <section aria-labelledby="stacks-title">
      <div class="bar-head">
        <h2 id="stacks-title">Stacks</h2>
        <input type="search" placeholder="Search" aria-label="Search stacks" value={choice.search} onInput={(e) => page.set({ search: e.currentTarget.value })} />
        <HealthChips page={page} />
        {hidden > 0 && hidden < uiState.stacks.length && (
          <label><input type="checkbox" checked={showsCluster(page)} onChange={(e) => page.set({ open: e.currentTarget.checked ? ['cluster'] : [] })} /> the cluster's own ({count(hidden)})</label>
        )}
        <span class="faint" role="status">{plural(rows.length, 'stack')}</span>
        {!choice.as && (
          <span class="bar-end map-ways" role="group" aria-label="The map">
            {(choice.group || hasApps(page)) && <button type="button" aria-pressed={choice.group === 'app'} title="Group by System app, not by namespace (g)" onClick={() => page.set({ group: choice.group ? '' : 'app' }, true)}>By app</button>}
            {uiState.stacks.some((s) => s.cost !== undefined) && <button type="button" aria-pressed={choice.tone === 'cost'} title="Darker cards cost more (c)" onClick={() => page.set({ tone: choice.tone ? '' : 'cost' }, true)}>Tone by cost</button>}
          </span>
        )}
        <div class={'switch' + (choice.as ? ' bar-end' : '')} role="group" aria-label="Show the stacks as">
          {(['', 'table'] as const).map((as) => <button key={as} type="button" aria-pressed={choice.as === as} onClick={() => page.set({ as }, true)}>{as ? 'Table' : 'Map'}</button>)}
        </div>
      </div>
      {choice.namespaces.length > 0 && <p class="stacks-only">{choice.namespaces.map((n) => n === cluster ? 'of the whole cluster' : 'namespace ' + n).join(', ')} <button type="button" onClick={() => page.set({ namespaces: [] }, true)}>All namespaces</button></p>}
      {choice.labels.length > 0 && <p class="stacks-only">{choice.labels.map((n) => n === cluster ? 'of no System app' : 'System app ' + visible(n)).join(', ')} <button type="button" onClick={() => page.set({ labels: [] }, true)}>All apps</button></p>}
      {uiState.stacks.length === 0 ? <Notice>No stacks were found{uiState.namespace && <> in the namespace {uiState.namespace}</>}. A stack is an object without an owner that no other stack needs, with everything that belongs to it: an application.<Unread gaps={uiState.gaps} /></Notice>
        : rows.length === 0 ? <Notice>No stack is like that. <button type="button" class="link" onClick={() => page.set({ search: '', health: [], namespaces: [], labels: [] })}>Show all</button></Notice>
          : choice.as === 'table' ? <><Table page={page} rows={rows} />{lacks}</> : <StackMap page={page}>{lacks}</StackMap>}
    </section>
  )
}

function Table({ page, rows }: { page: Page; rows: Stack[] }) {
  const { choice } = page, narrow = useMedia('(max-width: 760px)'), [maxRows, more] = useState(step)
  useEffect(() => more(step), [choice.search, choice.health.join(), choice.sort])
  const top = Math.max(1, ...rows.map((s) => s.cost ?? 0)), shown = !LARGE || page.printing ? rows : rows.slice(0, maxRows), left = rows.length - shown.length
  return (
    <>
      <table class="stacks">
        <thead>
          <tr>
            <Sort page={page} name="Health" column="health" down initial />
            <Sort page={page} name="Stack" column="name" />
            {!narrow && <th scope="col">Cause</th>}
            {!narrow && <Sort page={page} name="Objects" column="objects" down num />}
            <Sort page={page} name={narrow ? 'Pods' : 'Pods well'} column="pods" down num />
            {!narrow && <Sort page={page} name="CPU" column="cpu" down num />}
            {!narrow && <Sort page={page} name="Memory" column="memory" down num />}
            <Sort page={page} name={costHead(page)} column="cost" down num />
            {!narrow && <Sort page={page} name="Age" column="age" down num />}
          </tr>
        </thead>
        <tbody>{shown.map((s) => <Row key={s.name} page={page} stack={s} top={top} narrow={narrow} />)}</tbody>
      </table>
      {LARGE && left > 0 && <p><button type="button" onClick={() => more(maxRows + step)}>Show {count(Math.min(step, left))} more</button> <span class="faint">{count(shown.length)} of {count(rows.length)}{!choice.sort && ', trouble first'}</span></p>}
    </>
  )
}

const costHead = ({ uiState: { currency = '', window } }: Page) => window ? currency + ' in ' + age(window.hours * 3600) : currency + '/month'

function HealthChips({ page }: { page: Page }) {
  const { choice, uiState } = page, cluster = showsCluster(page), present = new Set(uiState.stacks.filter((s) => cluster || !s.cluster).map((s) => s.health ?? 0))
  const flip = (h: number) => page.set({ health: choice.health.includes(h) ? choice.health.filter((x) => x !== h) : [...choice.health, h] })
  return (
    <div class="chips" role="group" aria-label="Health">
      {[6, 5, 4, 3, 2, 1].filter((h) => present.has(h) || choice.health.includes(h)).map((h) => (
        <button key={h} type="button" class="chip" aria-pressed={choice.health.includes(h)} onClick={() => flip(h)}><Health value={h} /></button>
      ))}
    </div>
  )
}

function Row({ page, stack: s, top, narrow }: { page: Page; stack: Stack; top: number; narrow: boolean }) {
  const { kind, namespace, name } = parse(s.name), [all, measured, well] = s.pods ?? []
  const least = measured < all ? '≥' : '', u = s.usage
  const used = (v: number | undefined, say: (v: number) => string) => (
    <td class="num">{v === undefined ? <None /> : <span title={least && `${measured} of ${all} pods are measured`}>{least}{say(v)}</span>}</td>
  )
  const open = (e: MouseEvent) => { if (!(e.target as Element).closest('a') && !String(getSelection())) page.open(s.name) }
  return (
    <tr onClick={open}>
      <td class="stacks-health"><Health value={s.health} /></td>
      <th scope="row">
        <Link page={page} to={page.inStack(s.name)} class="link stacks-name" title={s.name}>{name ? <>{kind}/<wbr /><bdi>{name}</bdi></> : s.name}</Link>
        <span class="faint stacks-where">{namespace || s.namespace}{s.groupedBy && <> · by {s.groupedBy}</>}{s.cluster && <> · the cluster's own</>}</span>
        {narrow && <Causes page={page} stack={s} />}
      </th>
      {!narrow && <td><Causes page={page} stack={s} /></td>}
      {!narrow && <td class="num">{count(s.objects)}</td>}
      <td class="num">{s.pods ? all ? <span class={well < all ? 'tone-bad' : ''}>{well}/{all}</span> : 0 : <None />}</td>
      {!narrow && used(u?.c, cpu)}
      {!narrow && used(u?.m, bytes)}
      <td class="num">{s.cost === undefined ? <None /> : <>{!narrow && <Bar part={s.cost / top} />} {money(s.cost)}</>}</td>
      {!narrow && <td class="num">{s.created ? age(page.now() - s.created) : <None />}</td>}
    </tr>
  )
}

const None = () => <span class="faint">–</span>

/** The causes of the health of a stack; each one selects its object. */
export function Causes({ page, stack }: { page: Page; stack: Stack }) {
  const all = (stack.causes ?? []).filter((c) => page.uiState.nodes[c.n])
  if (!all.length) return null
  return (
    <ul class="causes">
      {all.slice(0, 2).map((c) => {
        const n = page.node(c.n), reason = n.t === 'missing' ? 'missing' : n.r ?? health[n.h ?? 0].word
        return <li key={c.n} title={n.m}>{reason}: <Ref page={page} target={page.ref(c.n)} stack={stack.name} />{c.o >= 0 && page.uiState.nodes[c.o] && <span class="faint"> of {short(page.ref(c.o))}</span>}</li>
      })}
      {all.length > 2 && <li class="faint">and {all.length - 2} more</li>}
    </ul>
  )
}

// The details of the selected object: identity, health, usage, cost, edges with evidence, YAML.

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Bar, Command, Health, focusOn, Link, Notice, Waits, useAsk } from './bits.tsx'
import { KindIcon } from './icons.tsx'
import { ImpactPanel } from './impact.tsx'
import { linksOf, type Arrow } from './links.ts'
import { LogsPart } from './logs.tsx'
import type { Page } from './page.ts'
import type { Node, Place, Stack } from './ui_state.ts'
import { PathPanel } from './relate.tsx'
import { isQuiet } from './shape.ts'
import { usesOf } from './tree_rows.ts'
import { age, bytes, command, count, cpu, health, inNamespace, kindKey, moment, money, optional, parse, plural, readFrom, relations, shareOf, short, trouble, visible } from './words.ts'

/** The number of entries that a list shows before it is expanded. */
const maxShown = 12
const states = { missing: 'missing: it is referenced, and does not exist', unread: 'not read: it is referenced, and could not be read', virtual: 'a name without an object' }

export function Details({ page }: { page: Page }) {
  const id = page.selected(), [path, setPath] = useState(page.choice.to !== ''), { impact, to } = page.choice
  if (id < 0) return <div class="details">{impact && <ImpactPanel page={page} target={impact} />}<Notice>{page.choice.node ? `${page.choice.node} is gone.` : 'Select an object to see its details.'}</Notice></div>
  const n = page.node(id), ref = page.ref(id), stack = page.stack(), place = stack?.tree.find((p) => p.n === id && !p.a), kind = page.kind(n), ns = page.namespace(n)
  const related = path || to !== '', deletable = n.t !== 'missing' && n.t !== 'virtual'
  return (
    <div class="details">
      <h2 id="details-title" tabIndex={-1}><KindIcon kind={kind.kind} /> <span class="faint">{kind.kind}</span> <bdi>{visible(n.n)}</bdi></h2>
      <dl class="details-facts">
        <Fact name="Kind">{kindKey(kind)}</Fact>
        <Fact name="Namespace">{ns || 'none: it is of the whole cluster'}</Fact>
        {n.t && <Fact name="State">{states[n.t]}</Fact>}
        {n.b && <Fact name="Boundary">stacks stand on it, and never go beyond</Fact>}
        {n.c && <Fact name="Created">{moment(n.c)}, {age(page.now() - n.c)} ago</Fact>}
        {place?.x && !n.b && <Fact name="Optional">the stack may be well without it</Fact>}
      </dl>
      <div class="details-deeds" role="group" aria-label="What to do with it">
        <button type="button" disabled={page.choice.root === ref} onClick={() => { page.set({ root: ref }, true); focusOn('#details-title') }}>Re-root here</button>
        {deletable && <button type="button" aria-expanded={impact === ref} onClick={() => page.toggleImpact()}>Impact</button>}
        <button type="button" aria-expanded={related} onClick={() => { if (related) page.set({ to: '' }); setPath(!related) }}>Path to ...</button>
      </div>
      {impact && <ImpactPanel page={page} target={impact} />}
      {related && <PathPanel page={page} id={id} />}
      <HealthPart page={page} id={id} place={place} stack={stack} />
      <UsagePart page={page} n={n} place={place} stack={stack} />
      <CostPart page={page} id={id} place={place} stack={stack} />
      <Edges page={page} id={id} />
      {n.l && (
        <section>
          <h3>Labels</h3>
          <ul class="details-labels">{n.l.map((l) => <li key={l}><code>{page.uiState.labels[l]}</code></li>)}</ul>
        </section>
      )}
      {kind.kind === 'Pod' && !kind.group && !n.t && <LogsPart page={page} target={ref} />}
      <section>
        <h3>YAML</h3>
        <Yaml key={ref} page={page} target={ref} n={n} />
        <Command text={commandOf(page, id)} />
      </section>
    </div>
  )
}

export function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return <div><dt>{name}</dt><dd>{children}</dd></div>
}

/** The command that shows the same in a terminal; of what is missing, that of who needs it. */
function commandOf(page: Page, id: number): string {
  const user = page.node(id).t === 'missing' ? linksOf(page).into[id].find((a) => !page.uiState.nodes[a.from]?.t) : undefined
  const object = parse(page.ref(user?.from ?? id))
  return command('kubectl', 'sysop', 'graph', kindKey(object) + '/' + object.name, ...inNamespace(object.namespace), ...readFrom(page.uiState))
}

/** A link to another object, in this stack if possible, which focuses its title; it keeps an impact. */
export function To({ page, id }: { page: Page; id: number }) {
  const n = page.uiState.nodes[id]
  if (!n) return <span class="faint">gone</span>
  const ref = page.ref(id)
  const { impact, cascade } = page.choice
  const to = page.stack()?.tree.some((p) => p.n === id) ? { ...page.choice, node: ref } : { ...page.whereIs(ref), impact, cascade }
  return <Link page={page} to={to} class="link" title={ref} then={() => focusOn('#details-title')}><bdi>{short(ref)}</bdi></Link>
}

/** A list that is shortened until it is expanded. */
export function ShortList<T>({ items, children }: { items: T[]; children: (x: T) => ComponentChildren }) {
  const [all, set] = useState(false)
  return (
    <>
      <ul class="details-list">{(all ? items : items.slice(0, maxShown)).map((x, i) => <li key={i}>{children(x)}</li>)}</ul>
      {items.length > maxShown && !all && <button type="button" onClick={() => set(true)}>Show all {count(items.length)}</button>}
    </>
  )
}

function HealthPart({ page, id, place, stack }: { page: Page; id: number; place?: Place; stack?: Stack }) {
  const { parts } = page.uiState, n = page.node(id), worstBelow = place?.b ?? 0, bad = worstBelow >= trouble && stack && place ? causes(page, stack, place) : []
  return (
    <section>
      <h3>Health</h3>
      {parts?.health && <Notice>Not known: {parts.health}</Notice>}
      <dl class="details-facts">
        <Fact name="Own">
          {isQuiet(page, id) ? <span class="faint">{optional}</span> : n.h ? <Health value={n.h} /> : <span class="faint">none: objects of this kind say nothing of it</span>}
          {n.r && n.r !== health[n.h ?? 0].word && <> <b>{n.r}</b></>}
          {n.i && <span class="faint"> for {age(page.now() - n.i)}, since {moment(n.i)}</span>}
          {n.m && <p class="details-message">{n.m}</p>}
        </Fact>
        <Fact name="Below">
          {worstBelow ? <Health value={worstBelow} /> : <span class="faint">nothing that says anything</span>}
          {bad.length > 0 && <>: {bad.slice(0, 5).map((id, i) => <span key={id}>{i > 0 && ', '}<To page={page} id={id} /></span>)}{bad.length > 5 && ` and ${bad.length - 5} more`}</>}
        </Fact>
      </dl>
      {n.v && (
        <>
          <h4>Warnings</h4>
          <ul class="details-list">{n.v.map((e, i) => <li key={i}><span class="tone-warn"><span aria-hidden="true">▲</span> {e.r}</span>{e.c && e.c > 1 && <> {count(e.c)} times</>}{e.l && <span class="faint">, last {age(page.now() - e.l)} ago</span>}<p class="details-message">{e.m}</p></li>)}</ul>
        </>
      )}
      {parts?.events && <p class="faint">Warnings are unknown: {parts.events}</p>}
    </section>
  )
}

/** The distinct objects below a place with the worst health there. */
function causes(page: Page, { tree }: Stack, place: Place): number[] {
  const out = new Set<number>(), at = tree.indexOf(place)
  for (let i = at + 1; i < tree.length && (tree[i].d ?? 0) > (place.d ?? 0); i++) {
    const p = tree[i]
    if (!p.a && page.uiState.nodes[p.n]?.h === place.b) out.add(p.n)
  }
  return [...out]
}

function UsagePart({ page, n, place, stack }: { page: Page; n: Node; place?: Place; stack?: Stack }) {
  const { parts } = page.uiState, { u } = n, sum = place && stack && usesOf(page, stack)[stack.tree.indexOf(place)]
  const isPod = page.kind(n).kind === 'Pod' && !page.kind(n).group
  if (!u && !isPod && !sum) return null
  const lines: [string, number | undefined, number | undefined, number | undefined, (v: number) => string][] = u ? [['CPU', u.c, u.cr, u.cl, cpu], ['Memory', u.m, u.mr, u.ml, bytes], ['Storage', u.s, u.sc, undefined, bytes]] : []
  return (
    <section>
      <h3>Usage{place?.q !== undefined && ' of all of it'}</h3>
      {lines.filter(([, ...v]) => v.slice(0, 3).some((x) => x !== undefined)).map(([title, used, asked, limit, say]) => {
        const max = Math.max(used ?? 0, asked ?? 0, limit ?? 0) || 1
        return (
          <table key={title} class="details-usage">
            <caption>{title}</caption>
            <tbody>
              {([['used', used], [title === 'Storage' ? 'claimed' : 'requested', asked], ...(title === 'Storage' ? [] : [['limit', limit]])] as [string, number | undefined][]).map(([word, v]) => (
                <tr key={word}><th scope="row">{word}</th><td class="num">{v === undefined ? <span class="faint">{word === 'used' ? 'not measured' : 'none'}</span> : say(v)}</td><td>{v !== undefined && <Bar part={v / max} />}</td></tr>
              ))}
            </tbody>
          </table>
        )
      })}
      {u?.w && <p class="faint">Not measured: {u.w}.</p>}
      {isPod && !u && <Notice>{parts?.usage ? 'Not measured: ' + parts.usage : 'It runs no more, or was not measured.'}</Notice>}
      {!u && sum && <p>{plural(sum.pods, 'pod')} below{sum.measured ? `: ${cpu(sum.c)} CPU, ${bytes(sum.m)} memory` : ', none measured'}{sum.measured > 0 && sum.measured < sum.pods && ` in the ${sum.measured} that were measured`}.</p>}
      {!u && sum && !sum.measured && parts?.usage && <p class="faint">{parts.usage}</p>}
    </section>
  )
}

function CostPart({ page, id, place, stack }: { page: Page; id: number; place?: Place; stack?: Stack }) {
  const { currency = '', parts, window, prices } = page.uiState
  if (parts?.cost) return <section><h3>Cost</h3><Notice>Not known: {parts.cost}</Notice></section>
  if (!place || !stack || place.c === undefined) return null
  const at = stack.tree.indexOf(place), children: Place[] = [], own = place.o ?? 0
  for (let i = at + 1; i < stack.tree.length && (stack.tree[i].d ?? 0) > (place.d ?? 0); i++) {
    if ((stack.tree[i].d ?? 0) === (place.d ?? 0) + 1 && stack.tree[i].c !== undefined) children.push(stack.tree[i])
  }
  children.sort((a, b) => b.c! - a.c!)
  const some = children.slice(0, maxShown), hidden = children.slice(maxShown), charges = Object.entries(place.g ?? {})
  return (
    <section>
      <h3>Cost</h3>
      <table class="details-cost">
        <caption>{currency} {window ? `in ${age(window.hours * 3600)}` : 'a month, at the rates of now'}{prices && `, ${prices} prices`}{place.q !== undefined && ", this stack's share"}</caption>
        <tbody>
          {charges.map(([name, v]) => <tr key={name}><th scope="row">{name}</th><td class="num">{money(v)}</td></tr>)}
          {own !== 0 && (charges.length > 1 || children.length > 0) && <tr class="details-sum"><th scope="row">by itself</th><td class="num">{money(own)}</td></tr>}
          {some.map((p) => <tr key={p.n}><th scope="row"><To page={page} id={p.n} /></th><td class="num">{money(p.c!)}</td></tr>)}
          {hidden.length > 0 && <tr><th scope="row">{count(hidden.length)} others below</th><td class="num">{money(hidden.reduce((sum, p) => sum + p.c!, 0))}</td></tr>}
        </tbody>
        <tfoot>
          <tr><th scope="row">{place.q !== undefined ? 'this stack pays' : children.length ? 'with what is below' : 'in all'}</th><td class="num">{money(place.c, currency)}</td></tr>
          {place.q !== undefined && <tr><th scope="row">of all of it, which several stacks share</th><td class="num">{money(place.q, currency)}</td></tr>}
        </tfoot>
      </table>
      {place.q !== undefined && <p class="details-share"><b>{place.p ?? shareOf(place.c, place.q)} of {money(place.q)}</b><With page={page} id={id} />.</p>}
      {place.y && place.y.length > 0 && <p>It is the stack's by {place.y.map((y, i) => <span key={y}>{i > 0 && ' › '}<To page={page} id={y} /></span>)}.</p>}
    </section>
  )
}

/** The stacks other than this one that pay for an object: "with moodle-2 and wordpress". */
function With({ page, id }: { page: Page; id: number }) {
  const others = page.uiState.stacks.filter((s) => s.name !== page.choice.stack && s.tree.some((p) => p.n === id && !p.a && p.c !== undefined))
  return others.length === 0 ? null : (
    <>, with {others.map((s, i) => (
      <span key={s.name}>{i > 0 && (i === others.length - 1 ? ' and ' : ', ')}<Link page={page} to={page.inStack(s.name, page.ref(id))} class="link" title={s.name}><bdi>{visible(parse(s.name).name || s.name)}</bdi></Link></span>
    ))}</>
  )
}

/** The outgoing and incoming edges of an object. */
function Edges({ page, id }: { page: Page; id: number }) {
  const { out, into } = linksOf(page)
  return (
    <section>
      <h3>Edges</h3>
      {!out[id].length && !into[id].length && <p class="faint">None were read.</p>}
      {out[id].length > 0 && <><h4>It ...</h4><ShortList items={out[id]}>{(a) => <EdgeLine page={page} arrow={a} end={a.to} word={relations[a.edge.r]} />}</ShortList></>}
      {into[id].length > 0 && <><h4>It is ...</h4><ShortList items={into[id]}>{(a) => <EdgeLine page={page} arrow={a} end={a.from} word={passive[a.edge.r]} />}</ShortList></>}
    </section>
  )
}

export const passive = ['', 'owned by', 'needed by', 'served by'] as const

function EdgeLine({ page, arrow: { edge }, end, word }: { page: Page; arrow: Arrow; end: number; word: string }) {
  return <><span class={'graph-' + relations[edge.r]}>{word}</span> <To page={page} id={end} /><Why page={page} edge={edge} /></>
}

/** The evidence of an edge and its rule. */
export function Why({ page, edge }: { page: Page; edge: Arrow['edge'] }) {
  const rule = page.uiState.rules[edge.u]
  const notes = [edge.i && 'inferred', edge.o && 'optional', (edge.f ?? 0) & 1 && 'not required for health', (edge.f ?? 0) & 4 && 'as a manager'].filter(Boolean).join(', ')
  return <span class="details-why">{notes && ` (${notes})`} via {edge.v}{edge.w && <>: <code>{edge.w}</code></>}{rule && <span class="faint"> {rule}</span>}</span>
}

interface Object { yaml: string; hidden?: number; events?: { reason: string; message: string; count?: number; last?: string | number; type?: string }[] }

/** The manifest of an object, or the command that shows it. */
function Yaml({ page, target, n }: { page: Page; target: string; n: Node }) {
  const { source, parts } = page.uiState, o = parse(target)
  if (n.t) return <p class="faint">There is none: it is {n.t}.</p>
  if (!FILE && page.server && !parts?.manifest) return <Manifest page={page} target={target} />
  const asked = !source?.startsWith('snapshot')
  return (
    <>
      <p class="faint">{parts?.manifest ? 'It is not here: ' + parts.manifest : 'A file has no YAML in it.'}{asked && ' This shows it:'}</p>
      {asked && <Command text={command('kubectl', 'get', kindKey(o) + '/' + o.name, ...inNamespace(o.namespace), '-o', 'yaml')} />}
    </>
  )
}

/** Reads the manifest on demand. */
function Manifest({ page, target }: { page: Page; target: string }) {
  const [open, set] = useState(false), got = useAsk<Object>(page, open ? 'object' : '', { ref: target }), { answer } = got
  return (
    <details class="details-yaml" open={open} onToggle={(e) => set(e.currentTarget.open)}>
      <summary>YAML of {short(target)}</summary>
      {open && <Waits request={got} label="reading the object" />}
      {answer && (
        <>
          {!!answer.hidden && <p class="faint">{plural(answer.hidden, 'value')} hidden: what may be a secret does not leave the program.</p>}
          <pre tabIndex={0} role="region" aria-label="YAML">{answer.yaml}</pre>
          {!!answer.events?.length && <><h4>Events</h4><ShortList items={answer.events}>{(e) => <><span class={e.type === 'Warning' ? 'tone-warn' : 'faint'}>{e.type === 'Warning' && <span aria-hidden="true">▲ </span>}{e.reason}</span>{(e.count ?? 0) > 1 && ` ${count(e.count!)} times`}{e.last ? <span class="faint">, {moment(e.last)}</span> : ''}<p class="details-message">{e.message}</p></>}</ShortList></>}
        </>
      )}
    </details>
  )
}


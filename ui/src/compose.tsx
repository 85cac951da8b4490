// Composes the manifest of a System: catalog, board, form and text. It does not write to a cluster:
// the user runs the commands.

import { useEffect, useId, useReducer, useRef, useState } from 'preact/hooks'
import { type Asked, Command, useAsk, Waits } from './bits.tsx'
import { Group } from './compose_form.tsx'
import {
  addApp, addOperator, appNames, type As, connect, empty, type End, type Fields, fields, forest, get, kindOf, links, list, nameFor, objects, type Path, paths, place, remove, rename, says,
  type Schema, set, spec, text, type Twig, type Value,
} from './compose_model.ts'
import { accept, builtIn, type Catalog as Known, type CatalogKind, type Entry, formOfKind, kindsLike, madeBy, preview, type Proposal, proposals } from './compose_known.ts'
import { KindIcon } from './icons.tsx'
import { type Box, layout, type Node } from './layout.ts'
import type { Page } from './page.ts'
import { bytes, cpu, money, parse, plural, short as shortName } from './words.ts'

interface Problem { line: number; column?: number; path?: string; message: string }
interface Answer { yaml: string; manifest: Fields | null; problems: Problem[]; unchecked?: string; commands: string[]; dryRun: boolean }
interface Described { schema?: Schema; status?: Schema; description?: string; unavailable?: string }
/** What the API server says of a dry run, for which text. */
interface Trial { columns: string[]; steps: string[][]; lines: string[]; refused: string[]; hints: string[]; accepted?: string }

/** The draft outlives the view, so that it is preserved while another view is shown. */
const draft = { yaml: '', manifest: empty() as Fields | null, problems: [] as Problem[], unchecked: '', commands: [] as string[], dryRun: false, trial: undefined as (Trial & { of: string; at: number }) | undefined, tries: false, failed: '', waits: false, touched: false, chosen: -1e6, request: 0, timer: 0, typed: false, status: '', dismissed: [] as string[] }
/** The text is kept for a reload, in this tab. */
const kept = {
  get text() { try { return sessionStorage.getItem('sysop-draft') ?? '' } catch { return '' } },
  set text(yaml) { try { if (yaml) sessionStorage.setItem('sysop-draft', yaml); else sessionStorage.removeItem('sysop-draft') } catch { /* not kept */ } },
}
/** The drafts before each change of the board, the newest last. */
const undos: { yaml: string; manifest: Fields | null }[] = []
let tell = () => {}
let asked = new AbortController()

function send(page: Page, body: { yaml: string } | { manifest: Fields }, pause = 300) {
  const request = ++draft.request
  clearTimeout(draft.timer)
  asked.abort()
  asked = new AbortController()
  Object.assign(draft, { waits: true, touched: true })
  draft.timer = window.setTimeout(async () => {
    try {
      const a = await page.server!.post<Answer>('system', body, asked.signal)
      if (request !== draft.request) return
      kept.text = a.yaml
      Object.assign(draft, { ...a, unchecked: a.unchecked ?? '', manifest: a.manifest ?? ('manifest' in body ? body.manifest : null), failed: '', waits: false, typed: false })
    } catch (e) {
      if (request === draft.request) Object.assign(draft, { failed: (e as Error).message, waits: false, commands: [] })
    }
    tell()
  }, pause)
  tell()
}

export function Compose({ page }: { page: Page }) {
  const [, again] = useReducer((n: number) => n + 1, 0)
  const ask = useAsk<Known>(page, 'catalog'), known = ask.answer
  const [ends, join] = useState<{ from: string; to: string }>({ from: '', to: '' })
  useEffect(() => {
    tell = () => again(0)
    if (!draft.touched && kept.text) {
      draft.yaml = kept.text
      send(page, { yaml: draft.yaml }, 0)
    }
    return () => { tell = () => {} }
  }, [])
  const m = draft.manifest
  const keep = () => {
    // Changes before the response of the server are one undo step.
    if (!draft.waits || draft.typed) undos.push({ yaml: draft.yaml, manifest: draft.manifest })
    if (undos.length > 100) undos.shift()
  }
  const edit = (next: Fields, status = '') => {
    keep()
    Object.assign(draft, { manifest: next, typed: false, status })
    send(page, { manifest: next })
  }
  const drop = (key: 'apps' | 'operators', i: number) => {
    const name = text(spec(m!, key)[i]?.name)
    draft.chosen = nothing
    edit(remove(m!, key, i), `${name} is removed: Undo restores it`)
    document.getElementById('compose-board')?.focus()
  }
  const undo = () => {
    const { yaml, manifest } = undos.pop()!
    Object.assign(draft, { yaml, manifest, chosen: nothing, status: 'undone', problems: [], commands: [] })
    if (yaml) send(page, { yaml }, 0)
    else { clearTimeout(draft.timer); Object.assign(draft, { request: draft.request + 1, waits: false, touched: false, failed: '' }); tell() }
    if (!undos.length) document.getElementById('compose-board')?.focus()
  }
  const open = (yaml: string) => {
    if (draft.touched && draft.yaml && !confirm('Throw away the manifest that is here?')) return
    keep()
    Object.assign(draft, { yaml, manifest: null, chosen: nothing, status: '' })
    send(page, { yaml }, 0)
  }
  const file = async (f: File | null | undefined) => {
    if (!f) return
    if (f.size > 256 << 10) draft.failed = `${f.name} has more than 256 KiB`
    else open(await f.text())
    tell()
  }
  return (
    <section class="compose" aria-labelledby="compose-title" onDragOver={(e) => e.preventDefault()} onDrop={(e) => { e.preventDefault(); void file(e.dataTransfer?.files[0]) }}>
      <div class="bar-head">
        <h2 id="compose-title">Compose a System</h2>
        <label class="compose-open">Open a manifest <input type="file" accept=".yaml,.yml,.json" onChange={(e) => { void file(e.currentTarget.files?.[0]); e.currentTarget.value = '' }} /></label>
        <button type="button" onClick={() => { if (!draft.touched || confirm('Throw away the manifest that is here?')) { draft.chosen = nothing; edit(empty()); draft.yaml = kept.text = ''; draft.touched = false; draft.dismissed = [] } }}>New</button>
        <button type="button" disabled={!undos.length} onClick={undo}>Undo</button>
        <span role="status">{draft.status}</span>
        <span class="faint">Kept in this tab. Nothing here writes to a cluster.</span>
      </div>
      {m ? (
        <div class="compose-panes">
          <Catalog page={page} m={m} edit={edit} ask={ask} />
          <div class="compose-middle"><Board m={m} choose={(i) => { draft.chosen = i; again(0) }} drop={(i) => i < 0 ? drop('operators', -1 - i) : drop('apps', i)} join={(consumer, provider) => { join({ from: provider, to: consumer }); document.getElementById('compose-as')?.focus() }} /><Proposals m={m} edit={edit} known={known} join={join} /><Connect page={page} m={m} edit={edit} link={ends} join={join} /></div>
          <AppForm page={page} m={m} edit={edit} drop={drop} />
        </div>
      ) : <p class="lacks">The board shows the manifest once its text can be read. The text stays unchanged.</p>}
      {m && <Preview m={m} known={known} />}
      <Text page={page} />
    </section>
  )
}

/** No card is chosen: neither the ID of an app nor of an operator. */
const nothing = -1e6

interface Editing { m: Fields; edit: (m: Fields) => void }

function Catalog({ page, m, edit, ask }: Editing & { page: Page; ask: Asked<Known> }) {
  const [search, find] = useState('')
  const words = search.toLowerCase().split(/\s+/), fits = (...texts: string[]) => words.every((w) => texts.join(' ').toLowerCase().includes(w))
  const entries = (ask.answer?.entries ?? []).filter((e) => fits(e.name, e.title, e.description, ...e.kinds.map((k) => k.kind))), kinds = kindsLike(ask.answer, search)
  const stacks = page.uiState.stacks.filter((s) => !s.cluster && fits(s.name)), plain = builtIn.filter((b) => fits(b.kind))
  const add = (name: string, more: Fields) => {
    draft.chosen = appNames(m).length
    edit(addApp(m, name, more))
  }
  const addKind = (e: Entry, k: CatalogKind) => {
    const name = nameFor(k.kind, appNames(m))
    add(name, { ...(e.versions.length && !k.served && { operator: e.name }), ...fresh(k, name) })
  }
  return (
    <section class="compose-catalog" aria-label="What there is">
      <input type="search" placeholder="Search kinds, operators, stacks" aria-label="Search operators, kinds and stacks" value={search} onInput={(e) => find(e.currentTarget.value)} />
      {kinds.length > 0 && (
        <>
          <h3>Kinds <span class="faint">{plural(kinds.length, 'kind')}</span></h3>
          <ul>{kinds.slice(0, 30).map(({ entry: e, kind: k }) => {
            const maker = madeBy(e, k)
            return <li key={e.name + k.kind + k.group} class="compose-kind"><KindIcon kind={k.kind} /> <span title={k.group}>{k.kind}<br /><span class="faint">{e.title}{k.served && ', is here'}</span></span> {maker ? <span class="faint">made by {maker}</span> : <button type="button" aria-label={`New ${k.kind}`} onClick={() => addKind(e, k)}>New</button>}</li>
          })}</ul>
          {kinds.length > 30 && <p class="faint">showing 30 of {kinds.length}: search for others</p>}
        </>
      )}
      {plain.length > 0 && <><h3>Built in</h3><div class="compose-plain">{plain.map((b) => <button key={b.kind} type="button" aria-label={`New ${b.kind}`} onClick={() => { const name = nameFor(b.kind, appNames(m)); add(name, { resources: [b.make(name)] }) }}><KindIcon kind={b.kind} /> {b.kind}</button>)}</div></>}
      {stacks.length > 0 && <h3>Running stacks</h3>}
      <ul>{stacks.slice(0, 30).map((s) => <li key={s.name} class="compose-kind"><KindIcon kind={parse(s.name).kind} /> <span title={s.name}>{shortName(s.name)}</span> <button type="button" aria-label={'Add ' + s.name} onClick={() => add(s.name.split('/').pop()!, { roots: s.roots.map((id) => rootOf(page, id)) })}>Add</button></li>)}</ul>
      {stacks.length > 30 && <p class="faint">showing 30 of {stacks.length}: search for others</p>}
      <h3>Operators</h3>
      <Waits request={ask} label="The catalog" />
      <ul>{entries.map((e) => <Operator key={e.name} e={e} m={m} edit={edit} add={search ? undefined : (k) => addKind(e, k)} />)}</ul>
      {ask.answer && !entries.length && <p class="faint">None of them matches.</p>}
    </section>
  )
}

/** A resource of a kind: its published example, or only its name. */
const fresh = (k: CatalogKind, name: string): Fields => {
  const apiVersion = (k.group ? k.group + '/' : '') + (k.versions[0] ?? 'v1'), { apiVersion: version = apiVersion, kind: _, metadata, ...rest } = k.example ?? {}
  return { resources: [{ apiVersion: version, kind: k.kind, metadata: { ...fields(metadata), name }, ...rest }] }
}

/** A root as a manifest names it: without the group if the kind is unambiguous. */
function rootOf(page: Page, id: number): string {
  const n = page.node(id), k = page.kind(n), ns = page.namespace(n), twice = page.uiState.kinds.filter((o) => o.kind === k.kind).length > 1
  return [k.kind.toLowerCase() + (twice && k.group ? '.' + k.group : ''), ...(ns ? [ns] : []), n.n].join('/')
}

function Operator({ e, m, edit, add }: Editing & { e: Entry; add?: (k: CatalogKind) => void }) {
  const [open, set] = useState(false), [version, choose] = useState('')
  return (
    <li class="compose-operator">
      <button type="button" class="link" aria-expanded={open} onClick={() => set(!open)}><span aria-hidden="true">{open ? '▾' : '▸'}</span> {e.title}</button>
      {open && (
        <div>
          <p>{e.description}</p>
          {e.versions.length > 0 ? (
            <p><select aria-label={'Version of ' + e.title} value={version} onChange={(v) => choose(v.currentTarget.value)}><option value="">newest</option>{e.versions.map((v) => <option key={v}>{v}</option>)}</select>{' '}
              <button type="button" onClick={() => edit(addOperator(m, e.name, version))}>Add the operator</button></p>
          ) : <p class="faint">The catalog knows its kinds, and has no version to install.</p>}
          {add && <ul>{e.kinds.map((k) => (
            <li key={k.kind + k.group}><span title={k.group}>{k.kind}{k.served && <span class="faint"> · is here</span>}</span> {madeBy(e, k) ? <span class="faint">made by {madeBy(e, k)}</span> : <button type="button" aria-label={`New ${k.kind}`} onClick={() => add(k)}>New</button>}</li>
          ))}</ul>}
        </div>
      )}
    </li>
  )
}

/** The connections that relationships of the kinds propose. */
function Proposals({ m, edit, known, join }: Editing & { known?: Known; join: (l: { from: string; to: string }) => void }) {
  const key = (p: Proposal) => p.provider.app + '>' + p.consumer.app, all = proposals(m, known).filter((p) => !draft.dismissed.includes(key(p)))
  if (!all.length) return null
  const other = (p: Proposal) => { join({ from: p.provider.app, to: p.consumer.app }); document.getElementById('compose-as')?.focus() }
  return (
    <section class="compose-proposals" aria-labelledby="compose-proposals">
      <h3 id="compose-proposals">{plural(all.length, 'proposal')} to decide</h3>
      <ul>{all.slice(0, 8).map((p) => (
        <li key={key(p)}>
          <p><b>{p.consumer.app}</b> needs <b>{p.provider.app}</b>{p.consumer.path && <>: <code>{p.consumer.path} = {p.provider.path} of {p.provider.app}</code></>} <span class="faint">{p.why}</span></p>
          <button type="button" onClick={() => edit(accept(m, p))} aria-label={`${p.consumer.path ? 'Connect' : 'Order alone: connect'} ${p.consumer.app} to ${p.provider.app}`}>{p.consumer.path ? 'Connect' : 'Order alone'}</button>{' '}
          <button type="button" onClick={() => other(p)} aria-label={`Other field for ${p.consumer.app} and ${p.provider.app}`}>Other field</button>{' '}
          <button type="button" onClick={() => { draft.dismissed.push(key(p)); tell() }} aria-label={`Not ${p.consumer.app} to ${p.provider.app}`}>Not this</button>
        </li>
      ))}</ul>
    </section>
  )
}

/** What will be there, what it needs first, and what it costs. */
function Preview({ m, known }: { m: Fields; known?: Known }) {
  const parts = preview(m, known), rates = known?.rates, total = parts.reduce((sum, p) => sum + (p.cost ?? 0), 0), unknown = parts.filter((p) => p.unknown)
  const needs = [...new Map(parts.filter((p) => p.operator).map((p) => [p.operator, p.served]))], cents = (n: number) => money(Math.round(n * 100))
  if (!parts.length) return null
  return (
    <div class="compose-preview">
      <section aria-labelledby="compose-there">
        <h3 id="compose-there">What will be there</h3>
        <dl>{parts.map((p) => <div key={p.app}><dt>{p.app}</dt><dd>{p.makes.join(', ') || 'nothing yet'}</dd></div>)}</dl>
      </section>
      <section aria-labelledby="compose-first">
        <h3 id="compose-first">What it needs first</h3>
        {needs.length ? <ul>{needs.map(([operator, served]) => <li key={operator}>{served ? <><span class="tone-good" aria-hidden="true">✔</span> {operator}: runs here already</> : <><span class="tone-info" aria-hidden="true">◌</span> {operator}: is installed before</>}</li>)}</ul> : <p class="faint">No operator.</p>}
      </section>
      <section aria-labelledby="compose-costs">
        <h3 id="compose-costs">What it costs{rates && <> <span class="num">{rates.currency} {cents(total)} a month</span></>}</h3>
        {rates ? <table><tbody>{parts.filter((p) => p.cost !== undefined || p.unknown).map((p) => <tr key={p.app}><th scope="row">{p.app}</th><td class="faint">{[p.cpu !== undefined && cpu(Math.round(p.cpu * 1000)) + ' CPU', p.memory !== undefined && bytes(p.memory * 2 ** 30) + ' memory', p.storage !== undefined && bytes(p.storage * 2 ** 30) + ' storage'].filter(Boolean).join(', ')}</td><td class="num">{p.cost === undefined ? '?' : cents(p.cost)}</td></tr>)}</tbody></table>
          : <p class="faint">There is no price book.</p>}
        {unknown.map((p) => <p key={p.app} class="tone-warn"><span aria-hidden="true">▲</span> {p.app} is not known in whole: {p.unknown}</p>)}
        <p class="faint">What is requested, by the price book of this page. The operators are not in it.</p>
      </section>
    </div>
  )
}

const wide = 190, high = 58

function Board({ m, choose, drop, join }: { m: Fields; choose: (i: number) => void; drop: (i: number) => void; join: (consumer: string, provider: string) => void }) {
  const apps = spec(m, 'apps'), operators = spec(m, 'operators'), order: number[] = []
  const card = ({ id, children }: Twig): Node => { order.push(id); return { width: wide, height: high, children: children.map(card) } }
  const runs = (o: Fields) => apps.flatMap((a, i) => a.operator === o.name ? [i] : [])
  const placed = layout(forest(m).map(card), { across: 110, between: 22, apart: 26, aspect: 130 }), box = new Map(order.map((id, i) => [id, placed.boxes[i]]))
  const at = (name: string) => box.get(apps.findIndex((a) => a.name === name)), held = useRef(''), band = useRef<SVGPathElement>(null), field = useRef<HTMLDivElement>(null)
  // Updates the dragged line without rendering the board.
  const pull = (e: PointerEvent) => {
    const a = at(held.current), r = field.current!.getBoundingClientRect()
    if (a) band.current!.setAttribute('d', line(a, { x: e.clientX - r.x, y: e.clientY - r.y - high / 2 }))
  }
  const leave = (e: PointerEvent) => {
    band.current!.setAttribute('d', '')
    const to = document.elementFromPoint(e.clientX, e.clientY)?.closest<HTMLElement>('[data-app]')?.dataset.app
    if (held.current && to && to !== held.current) join(held.current, to)
    held.current = ''
  }
  const line = (a: Box, b: Box) => `M${a.x + wide} ${a.y + high / 2}C${a.x + wide + 50} ${a.y + high / 2} ${b.x - 50} ${b.y + high / 2} ${b.x} ${b.y + high / 2}`
  // All links between two cards are one line, with their labels.
  const drawn = new Map<string, { a?: Box; b?: Box; words: Set<string>; type: string }>()
  operators.forEach((o, i) => runs(o).forEach((app) => drawn.set(`o${i}-${app}`, { a: box.get(app), b: box.get(-1 - i), words: new Set(['run by']), type: 'runs' })))
  for (const l of links(m)) {
    const key = l.from + '>' + l.to, d = drawn.get(key) ?? { a: at(l.from), b: at(l.to), words: new Set<string>(), type: l.key }
    d.words.add(l.word)
    if (l.key === 'connections') d.type = l.key
    drawn.set(key, d)
  }
  return (
    <section id="compose-board" class="compose-board scroll" aria-label="Board" tabIndex={0}>
      {order.length === 0 && <p class="lacks">Add a stack, an operator or a kind from the left; or open what <code>kubectl sysop system init</code> has written.</p>}
      <div ref={field} class="compose-cards" style={{ width: placed.width + 'px', height: placed.height + 'px', '--fit': Math.min(1, 660 / placed.width) }}>
        <svg aria-hidden="true" width={placed.width} height={placed.height}>
          <marker id="compose-arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto" markerUnits="userSpaceOnUse"><path class="head" d="M0 0 8 4 0 8Z" /></marker>
          {[...drawn].map(([key, { a, b, words, type }]) => a && b && (
            <g key={key}><path class={type} d={line(a, b)} marker-end="url(#compose-arrow)" />{[...words].map((w, i) => <text key={w} x={(a.x + wide + b.x) / 2} y={(a.y + b.y + high) / 2 - 4 - 14 * (words.size - 1 - i)}>{w}</text>)}</g>
          ))}
          <path ref={band} class="band" />
        </svg>
        {order.map((id) => {
          const b = box.get(id)!, a = id < 0 ? operators[-1 - id] : apps[id], name = text(a.name)
          const subtitle = id < 0 ? 'operator ' + (text(a.version) || 'newest') : [...list(a.roots).map(String), ...list(a.resources).map((r) => text(get(r, ['kind'])) || 'template')][0] ?? 'nothing yet'
          return (
            <div key={id} class={'compose-card' + (id < 0 ? ' is-operator' : '')} data-app={id < 0 ? undefined : name} style={{ left: b.x + 'px', top: b.y + 'px', width: wide + 'px', height: high + 'px' }}>
              <button type="button" class="compose-name" aria-pressed={draft.chosen === id} onClick={() => choose(id)} aria-keyshortcuts="Delete"
                onKeyDown={(e) => { if (e.key === 'Delete') { e.preventDefault(); drop(id) } }}><b>{name}</b><span>{subtitle}</span></button>
              {id >= 0 && <span class="compose-port" aria-hidden="true" title="drag to the app that it needs" onPointerDown={(e) => { held.current = name; e.currentTarget.setPointerCapture(e.pointerId) }}
                onPointerMove={(e) => { if (held.current) pull(e) }} onPointerUp={leave} onPointerCancel={() => { held.current = ''; band.current!.setAttribute('d', '') }}>●</span>}
            </div>
          )
        })}
      </div>
    </section>
  )
}

const kinds: { [as in As]: string } = { dependency: 'the order alone', field: 'a field', label: 'a label', annotation: 'an annotation' }

/** The text fields of an object of an app; none where its kind has no known ones. */
function useFields(page: Page, app: Fields, root: string): string[] {
  const kind = typeOf(page, app, root), own = formOfKind(kind), a = useAsk<Described>(page, kind && !own ? 'schema' : '', { kind }).answer
  return own ? paths(own, 9) : a?.schema || a?.status ? paths({ properties: { ...a.status && { status: a.status }, ...a.schema && { spec: a.schema } } }) : []
}

/** A field is chosen; it is typed only where no field of the kind is known. */
function Choose({ label, value, of, change }: { label: string; value: string; of: string[]; change: (v: string) => void }) {
  if (!of.length) return <label>{label} <input value={value} spellcheck={false} onInput={(e) => change(e.currentTarget.value)} /></label>
  return <label>{label} <select value={value} onChange={(e) => change(e.currentTarget.value)}><option value="">–</option>{[...new Set([...value ? [value] : [], ...of])].map((p) => <option key={p}>{p}</option>)}</select></label>
}

function Connect({ page, m, edit, link, join }: Editing & { page: Page; link: { from: string; to: string }; join: (l: { from: string; to: string }) => void }) {
  const [as, be] = useState<As>('dependency'), [fromPath, read] = useState('metadata.name'), [toPath, write] = useState(''), [roots, root] = useState({ from: '', to: '' })
  const id = useId(), apps = appNames(m), app = (name: string) => spec(m, 'apps').find((a) => a.name === name) ?? {}
  const end = (side: 'from' | 'to', path: string): End => ({ app: link[side], root: as !== 'dependency' && objects(app(link[side])).includes(roots[side]) ? roots[side] : '', path: path.trim() })
  const from = end('from', fromPath), to = end('to', toPath), has = useFields(page, app(from.app), from.root), takes = useFields(page, app(to.app), to.root)
  const wrong = !from.app || !to.app ? 'Choose two apps.' : from.app === to.app ? 'Choose two different apps.' : as !== 'dependency' && (!from.path || !to.path) ? 'Choose the fields.' : ''
  const choice = (label: string, side: 'from' | 'to') => <label>{label} <select value={link[side]} onChange={(e) => join({ ...link, [side]: e.currentTarget.value })}><option value="">–</option>{apps.map((a) => <option key={a}>{a}</option>)}</select></label>
  // The object must be selected only if an app has several.
  const which = (label: string, side: 'from' | 'to') => as !== 'dependency' && objects(app(link[side])).length > 1 && (
    <label>{label} <select value={end(side, '').root} onChange={(e) => root({ ...roots, [side]: e.currentTarget.value })}><option value="">its first object</option>{objects(app(link[side])).map((o) => <option key={o}>{o}</option>)}</select></label>
  )
  return (
    <section class="compose-connect" aria-labelledby="compose-connect">
      <h3 id="compose-connect">Connect</h3>
      <form onSubmit={(e) => { e.preventDefault(); if (!wrong) { edit(connect(m, as, from, to)); write('') } }}>
        {choice('Who needs', 'to')}
        {choice('needs', 'from')}
        <button type="button" onClick={() => join({ from: link.to, to: link.from })}>Swap</button>
        <label>by <select id="compose-as" value={as} onChange={(e) => { be(e.currentTarget.value as As); write('') }}>{Object.entries(kinds).map(([k, words]) => <option key={k} value={k}>{words}</option>)}</select></label>
        {as === 'field' ? <Choose label={'Field of ' + (to.app || 'who needs')} value={toPath} of={takes} change={write} />
          : <label>{as === 'dependency' ? 'Reason' : 'Key'} <input value={toPath} spellcheck={as === 'dependency'} onInput={(e) => write(e.currentTarget.value)} /></label>}
        {which('in', 'to')}
        {as !== 'dependency' && <Choose label={'takes of ' + (from.app || 'what is needed')} value={fromPath} of={has.length ? ['metadata.name', 'metadata.namespace', ...has] : []} change={read} />}
        {which('of', 'from')}
        <button type="submit" disabled={!!wrong} aria-describedby={id + '-says'}>Connect</button>
        <p id={id + '-says'} class="faint">{wrong || says(as, from, to)}</p>
      </form>
      <ul>{links(m).map((l) => <li key={l.key + l.i}>{l.words} <button type="button" aria-label={'Remove: ' + l.words} onClick={() => edit(remove(m, l.key, l.i))}>×</button></li>)}</ul>
    </section>
  )
}

/** The kind of a resource or root of an app; that of a root only if the page has its kind. */
function typeOf(page: Page, app: Fields, root: string): string {
  const i = root ? objects(app).indexOf(root) : 0, at = i - list(app.roots).length, [type] = (objects(app)[i] ?? '').split('/')
  if (at >= 0) return kindOf(list(app.resources).map(fields).filter((r) => r.kind && text(get(r, ['metadata', 'name'])))[at] ?? {})
  const k = page.uiState.kinds.find((k) => [k.kind, k.kind + '.' + k.group].some((name) => name.toLowerCase() === type.toLowerCase()))
  return k ? k.kind + (k.group ? '.' + k.group : '') : ''
}

function AppForm({ page, m, edit, drop }: Editing & { page: Page; drop: (key: 'apps' | 'operators', i: number) => void }) {
  const i = draft.chosen, operator = i < 0, key = operator ? 'operators' : 'apps', at = operator ? -1 - i : i, a = spec(m, key)[at]
  const put = (path: Path, v: Value | undefined) => edit(fields(set(m, path, v)))
  const input = (label: string, path: Path, on = (v: string) => put(path, v || undefined)) => <label class="form-field">{label} <input value={text(get(m, path))} spellcheck={false} onInput={(e) => on(e.currentTarget.value)} /></label>
  if (!a) {
    return (
      <section class="compose-form" aria-label="Form">
        <h3>The System</h3>
        {input('Name', ['metadata', 'name'])}{input('Namespace', ['metadata', 'namespace'])}{input('Description', ['spec', 'description'])}
        <p class="form-help">Choose a card of the board for its fields.</p>
      </section>
    )
  }
  const field: Path = ['spec', key, at]
  return (
    <section id="compose-form" class="compose-form" aria-label="Form" key={key + at} tabIndex={-1}>
      <h3>{operator ? 'Operator' : 'App'} {text(a.name)}</h3>
      {operator ? <>{input('Version', [...field, 'version'])}{input('Namespace', [...field, 'namespace'])}</> : (
        <>
          {input('Name', [...field, 'name'], (v) => edit(rename(m, at, v)))}
          <label class="form-field">Existing objects (TYPE/NAME on a line each) <textarea rows={2} spellcheck={false} value={list(a.roots).join('\n')} onChange={(e) => { const all = e.currentTarget.value.split(/\s+/).filter(Boolean); put([...field, 'roots'], all.length ? all : undefined) }} /></label>
          {list(a.resources).map((r, n) => <Resource key={n} page={page} value={fields(r)} change={(path, v) => put([...field, 'resources', n, ...path], v)} />)}
        </>
      )}
      <button type="button" onClick={() => drop(key, at)}>Remove {text(a.name)}</button> <button type="button" onClick={() => { draft.chosen = nothing; tell() }}>Done</button>
    </section>
  )
}

function Resource({ page, value, change }: { page: Page; value: Fields; change: (path: Path, v: Value | undefined) => void }) {
  const kind = text(value.kind), own = formOfKind(kindOf(value)), ask = useAsk<Described>(page, kind && !own ? 'schema' : '', { kind: kindOf(value) })
  const { schema, description, unavailable } = ask.answer ?? {}
  if (!kind) return <p class="form-help">A template: it is written in the manifest below.</p>
  return (
    <fieldset>
      <legend>{kind}</legend>
      <p class="form-help">{own ? 'Built in: the usual fields. The others are written as JSON below, or in the manifest.' : description}</p>
      <label class="form-field">Name of the object <input value={text(get(value, ['metadata', 'name']))} spellcheck={false} onInput={(e) => change(['metadata', 'name'], e.currentTarget.value)} /></label>
      {!own && <Waits request={ask} label="The schema" />}
      {unavailable && <p class="lacks">{unavailable}; or here, as JSON.</p>}
      {own && <Group schema={own} value={value} path={[]} change={change} />}
      {schema && <Group schema={schema} value={value.spec} path={['spec']} change={change} />}
      <AsText value={value} open={!!unavailable} change={(v) => change([], v)} />
    </fieldset>
  )
}

/** An object as JSON, which takes all fields. */
function AsText({ value, open, change }: { value: Fields; open: boolean; change: (v: Fields) => void }) {
  const shown = JSON.stringify(value, null, 1), [typed, type] = useState(shown), [wrong, say] = useState('')
  useEffect(() => { type(shown); say('') }, [shown])
  const take = (written: string) => {
    type(written)
    try {
      const v = JSON.parse(written)
      say(fields(v) === v ? '' : 'expected an object in braces')
      if (fields(v) === v) change(v)
    } catch (e) { say('it is not JSON yet: ' + (e as Error).message) }
  }
  return (
    <details open={open}>
      <summary>As JSON</summary>
      <textarea aria-label={`${text(value.kind)} as JSON`} aria-invalid={!!wrong} rows={Math.min(18, typed.split('\n').length + 1)} spellcheck={false} value={typed} onChange={(e) => take(e.currentTarget.value)} />
      {wrong && <p class="tone-bad">✖ {wrong}</p>}
    </details>
  )
}

function Text({ page }: { page: Page }) {
  const area = useRef<HTMLTextAreaElement>(null), [status, say] = useState('')
  const go = (p: Problem) => {
    const [from] = place(draft.yaml, p.line, p.column), [, to] = place(draft.yaml, p.line)
    area.current!.focus()
    area.current!.setSelectionRange(from, to)
    area.current!.scrollTop = (p.line - 4) * 18
  }
  const copy = async () => {
    try { await navigator.clipboard.writeText(draft.yaml); say('copied') } catch { area.current!.select(); say('selected: copy it with the keyboard') }
  }
  const download = () => {
    const a = document.createElement('a'), url = URL.createObjectURL(new Blob([draft.yaml], { type: 'application/yaml' }))
    Object.assign(a, { href: url, download: 'system.yaml' }).click()
    draft.touched = false
    setTimeout(() => URL.revokeObjectURL(url), 1000)
  }
  const valid = draft.yaml && !draft.waits && !draft.failed && !draft.unchecked && !draft.problems.length
  const lead = (app: number) => {
    draft.chosen = app
    tell()
    setTimeout(() => document.getElementById('compose-form')?.focus())
  }
  return (
    <section class="compose-text" aria-labelledby="compose-manifest">
      <div class="bar-head">
        <h3 id="compose-manifest">Manifest</h3>
        <span role="status" class={valid ? 'tone-good' : draft.failed || draft.unchecked || draft.problems.length ? 'tone-bad' : 'faint'}>
          {draft.waits ? 'reading ...' : draft.failed ? '✖ ' + draft.failed : !draft.yaml ? 'empty' : draft.unchecked ? '✖ not validated: ' + draft.unchecked : valid ? 'valid ✔ system validate finds nothing' : `✖ not valid: system validate finds ${plural(draft.problems.length, 'problem')}`}
        </span>
        <button type="button" disabled={!draft.yaml} onClick={copy}>Copy</button> <button type="button" disabled={!draft.yaml} onClick={download}>Download</button> <span role="status">{status}</span>
      </div>
      <ul id="compose-problems">{draft.problems.map((p, i) => {
        const app = /^spec\.apps\[(\d+)\]/.exec(p.path ?? '')?.[1], name = app && draft.manifest && appNames(draft.manifest)[+app]
        return <li key={i}><button type="button" class="link" onClick={() => go(p)}>line {p.line}</button> {name && <button type="button" class="link" onClick={() => lead(+app!)}>app {name}</button>} {p.path && <code>{p.path}</code>}: {p.message}</li>
      })}</ul>
      {valid && <Ways page={page} />}
      <textarea ref={area} aria-labelledby="compose-manifest" aria-describedby="compose-problems" aria-invalid={draft.problems.length > 0} rows={16} spellcheck={false} wrap="off" value={draft.yaml}
        onInput={(e) => { draft.yaml = e.currentTarget.value; Object.assign(draft, { typed: true, status: '' }); send(page, { yaml: draft.yaml }, 400) }} />
      <pre class="compose-print">{draft.yaml}</pre>
      {/(^|\s)#/m.test(draft.yaml) && <p class="faint">A change on the board or in the form rewrites the text: comments are lost. A change here keeps them.</p>}
    </section>
  )
}

/** The commands, with the answer of a dry run where there is a cluster. */
function Ways({ page }: { page: Page }) {
  const trial = draft.trial?.of === draft.yaml ? draft.trial : undefined
  const dryRun = async () => {
    const of = draft.yaml
    Object.assign(draft, { tries: true, trial: undefined })
    tell()
    try {
      draft.trial = { ...await page.server!.post<Trial>('install', { yaml: of }), of, at: Date.now() }
    } catch (e) {
      draft.trial = { columns: [], steps: [], lines: [], refused: [(e as Error).message], hints: [], of, at: Date.now() }
    }
    draft.tries = false
    tell()
  }
  const heads = ['Check the file', 'Let the API server try it', 'Do it: all of it, or nothing'], answers = ['✔ nothing found', '', 'in your terminal']
  return (
    <ol class="compose-ways">{draft.commands.map((c, i) => (
      <li key={c}>
        <p><b>{heads[i]}</b> <span class={i ? 'faint' : 'tone-good'}>{answers[i]}</span> {i === 1 && draft.dryRun && <button type="button" disabled={draft.tries} onClick={dryRun}>Try it here: nothing is written</button>}</p>
        <Command text={c} />
        {i === 1 && <div role="status" aria-label="Answer of the dry run">{draft.tries ? 'the API server is asked ...' : trial && <Answered trial={trial} />}</div>}
      </li>
    ))}</ol>
  )
}

function Answered({ trial }: { trial: Trial & { at: number } }) {
  return (
    <>
      {trial.accepted && <p class="tone-good">✔ {trial.accepted} <span class="faint">({new Date(trial.at).toLocaleTimeString()})</span></p>}
      {trial.refused.map((r) => <p key={r} class="tone-bad">✖ {r}</p>)}
      {trial.hints.map((h) => <p key={h}>hint: {h}</p>)}
      {trial.steps.length > 0 && <div class="scroll"><table><thead><tr>{trial.columns.map((c) => <th key={c} scope="col">{c}</th>)}</tr></thead><tbody>{trial.steps.map((s, i) => <tr key={i}>{s.map((cell, n) => <td key={n}>{cell}</td>)}</tr>)}</tbody></table></div>}
      {trial.lines.length > 0 && <ul>{trial.lines.map((l) => <li key={l} class="faint">{l}</li>)}</ul>}
    </>
  )
}

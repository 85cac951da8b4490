// Composes the manifest of a System: catalog, board, form and text. It does not write to a cluster:
// the user runs the commands.

import { useEffect, useId, useReducer, useRef, useState } from 'preact/hooks'
import { Command, useAsk, Waits } from './bits.tsx'
import { Group } from './compose_form.tsx'
import {
  addApp, addOperator, appNames, type As, connect, empty, type End, type Fields, fields, forest, get, kindOf, specFaults, links, list, objects, type Path, paths, place, remove, rename, says,
  type Schema, set, spec, text, type Twig, type Value,
} from './compose_model.ts'
import { type Box, layout, type Node } from './layout.ts'
import type { Page } from './page.ts'
import { plural } from './words.ts'

interface Problem { line: number; column?: number; path?: string; message: string }
interface Answer { yaml: string; manifest: Fields | null; problems: Problem[]; commands: string[] }
interface Entry { name: string; title: string; description: string; versions: string[]; kinds: { kind: string; group: string; versions: string[]; served?: boolean }[] }

interface Catalog { entries: Entry[]; here?: { kind: string; group: string; version: string }[] }
interface Described { schema?: Schema; description?: string; unavailable?: string }

/** The draft outlives the view, so that it is preserved while another view is shown. */
const draft = { yaml: '', manifest: empty() as Fields | null, problems: [] as Problem[], commands: [] as string[], failed: '', waits: false, touched: false, chosen: -1e6, request: 0, timer: 0, typed: false, status: '' }
/** The drafts before each change of the board, the newest last. */
const undos: { yaml: string; manifest: Fields | null }[] = []
/** The schemas of the forms, which also validate the manifest. */
const schemas = new Map<string, Schema>()
let tell = () => {}

function send(page: Page, body: { yaml: string } | { manifest: Fields }, pause = 300) {
  const request = ++draft.request
  clearTimeout(draft.timer)
  Object.assign(draft, { waits: true, touched: true })
  draft.timer = window.setTimeout(async () => {
    try {
      const a = await page.server!.post<Answer>('system', body)
      if (request !== draft.request) return
      Object.assign(draft, { ...a, manifest: a.manifest ?? ('manifest' in body ? body.manifest : null), failed: '', waits: false, typed: false })
    } catch (e) {
      if (request === draft.request) Object.assign(draft, { failed: (e as Error).message, waits: false, commands: [] })
    }
    tell()
  }, pause)
  tell()
}

export function Compose({ page }: { page: Page }) {
  const [, again] = useReducer((n: number) => n + 1, 0)
  const [ends, join] = useState<{ from: string; to: string }>({ from: '', to: '' })
  useEffect(() => {
    tell = () => again(0)
    // Leaving the page loses the draft: the browser asks for confirmation.
    const leave = (e: BeforeUnloadEvent) => { if (draft.touched) e.preventDefault() }
    addEventListener('beforeunload', leave)
    return () => { tell = () => {}; removeEventListener('beforeunload', leave) }
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
        <button type="button" onClick={() => { if (!draft.touched || confirm('Throw away the manifest that is here?')) { draft.chosen = nothing; edit(empty()); draft.yaml = ''; draft.touched = false } }}>New</button>
        <button type="button" disabled={!undos.length} onClick={undo}>Undo</button>
        <span role="status">{draft.status}</span>
        <span class="faint">Nothing here writes to a cluster.</span>
      </div>
      {m ? (
        <div class="compose-panes">
          <Catalog page={page} m={m} edit={edit} />
          <div class="compose-middle"><Board m={m} choose={(i) => { draft.chosen = i; again(0) }} drop={(i) => i < 0 ? drop('operators', -1 - i) : drop('apps', i)} join={(from, to) => { join({ from, to }); document.getElementById('compose-as')?.focus() }} /><Connect page={page} m={m} edit={edit} link={ends} join={join} /></div>
          <AppForm page={page} m={m} edit={edit} drop={drop} />
        </div>
      ) : <p class="lacks">The board shows the manifest once its text can be read. The text stays unchanged.</p>}
      <Text page={page} />
    </section>
  )
}

/** No card is chosen: neither the ID of an app nor of an operator. */
const nothing = -1e6

interface Editing { m: Fields; edit: (m: Fields) => void }

function Catalog({ page, m, edit }: Editing & { page: Page }) {
  const [search, find] = useState(''), ask = useAsk<Catalog>(page, 'catalog')
  const words = search.toLowerCase().split(/\s+/), fits = (...texts: string[]) => words.every((w) => texts.join(' ').toLowerCase().includes(w))
  const entries = (ask.answer?.entries ?? []).filter((e) => fits(e.name, e.title, e.description, ...e.kinds.map((k) => k.kind)))
  const served = (ask.answer?.here ?? []).filter((k) => fits(k.kind, k.group))
  const stacks = page.uiState.stacks.filter((s) => !s.cluster && fits(s.name))
  const add = (name: string, more: Fields) => {
    draft.chosen = appNames(m).length
    edit(addApp(m, name, more))
  }
  return (
    <section class="compose-catalog" aria-label="What there is">
      <input type="search" placeholder="Search operators, kinds, stacks" aria-label="Search operators, kinds and stacks" value={search} onInput={(e) => find(e.currentTarget.value)} />
      {stacks.length > 0 && <h3>Stacks that are there</h3>}
      <ul>{stacks.slice(0, 30).map((s) => <li key={s.name}><span>{s.name}</span> <button type="button" aria-label={'Add ' + s.name} onClick={() => add(s.name.split('/').pop()!, { roots: s.roots.map((id) => rootOf(page, id)) })}>Add</button></li>)}</ul>
      {stacks.length > 30 && <p class="faint">showing 30 of {stacks.length}: search for others</p>}
      <h3>Operators</h3>
      <Waits request={ask} label="The catalog" />
      <ul>{entries.map((e) => <Operator key={e.name} e={e} m={m} edit={edit} add={add} />)}</ul>
      {ask.answer && !entries.length && <p class="faint">None of them matches.</p>}
      {served.length > 0 && <><h3>Other kinds that are here</h3><ul>{served.slice(0, 60).map((k) => (
        <li key={k.kind + k.group}><span title={k.group}>{k.kind}</span> <button type="button" aria-label={`New ${k.kind}`} onClick={() => add(k.kind.toLowerCase(), fresh(k.kind, k.group, k.version))}>New</button></li>
      ))}</ul>{served.length > 60 && <p class="faint">showing 60 of {served.length}: search for others</p>}</>}
    </section>
  )
}

const fresh = (kind: string, group: string, version: string): Fields => ({ resources: [{ apiVersion: (group ? group + '/' : '') + version, kind, metadata: { name: kind.toLowerCase() } }] })

/** A root as a manifest names it: without the group if the kind is unambiguous. */
function rootOf(page: Page, id: number): string {
  const n = page.node(id), k = page.kind(n), ns = page.namespace(n), twice = page.uiState.kinds.filter((o) => o.kind === k.kind).length > 1
  return [k.kind.toLowerCase() + (twice && k.group ? '.' + k.group : ''), ...(ns ? [ns] : []), n.n].join('/')
}

function Operator({ e, m, edit, add }: Editing & { e: Entry; add: (name: string, more: Fields) => void }) {
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
          <ul>{e.kinds.map((k) => (
            <li key={k.kind + k.group}><span title={k.group}>{k.kind}{k.served && <span class="faint"> · is here</span>}</span> <button type="button" aria-label={`New ${k.kind}`} onClick={() =>
              add(k.kind.toLowerCase(), { ...(e.versions.length && !k.served && { operator: e.name }), ...fresh(k.kind, k.group, k.versions[0] ?? 'v1') })
            }>New</button></li>
          ))}</ul>
        </div>
      )}
    </li>
  )
}

const wide = 190, high = 58

function Board({ m, choose, drop, join }: { m: Fields; choose: (i: number) => void; drop: (i: number) => void; join: (from: string, to: string) => void }) {
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
  operators.forEach((o, i) => runs(o).forEach((app) => drawn.set(`o${i}-${app}`, { a: box.get(-1 - i), b: box.get(app), words: new Set(['runs']), type: 'runs' })))
  for (const l of links(m)) {
    const key = l.from + '>' + l.to, d = drawn.get(key) ?? { a: at(l.from), b: at(l.to), words: new Set<string>(), type: l.key }
    d.words.add(l.word)
    if (l.key === 'connections') d.type = l.key
    drawn.set(key, d)
  }
  return (
    <section id="compose-board" class="compose-board scroll" aria-label="Board" tabIndex={0}>
      {order.length === 0 && <p class="lacks">Add a stack, an operator or a kind from the left; or open what <code>kubectl sysop system init</code> has written.</p>}
      <div ref={field} class="compose-cards" style={{ width: placed.width + 'px', height: placed.height + 'px' }}>
        <svg aria-hidden="true" width={placed.width} height={placed.height}>
          {[...drawn].map(([key, { a, b, words, type }]) => a && b && (
            <g key={key}><path class={type} d={line(a, b)} />{[...words].map((w, i) => <text key={w} x={(a.x + wide + b.x) / 2} y={(a.y + b.y + high) / 2 - 4 - 14 * (words.size - 1 - i)}>{w}</text>)}</g>
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
              {id >= 0 && <span class="compose-port" aria-hidden="true" title="drag to another app to connect" onPointerDown={(e) => { held.current = name; e.currentTarget.setPointerCapture(e.pointerId) }}
                onPointerMove={(e) => { if (held.current) pull(e) }} onPointerUp={leave} onPointerCancel={() => { held.current = ''; band.current!.setAttribute('d', '') }}>●</span>}
            </div>
          )
        })}
      </div>
    </section>
  )
}

const kinds: { [as in As]: [string, string] } = {
  dependency: ['dependency: the order alone', 'Reason'], spec: ['reference in spec', 'Field of its spec'], label: ['label', 'Key of the label'],
  annotation: ['annotation', 'Key of the annotation'], value: ['value of any field', 'Path of the field'],
}

function Connect({ page, m, edit, link, join }: Editing & { page: Page; link: { from: string; to: string }; join: (l: { from: string; to: string }) => void }) {
  const [as, be] = useState<As>('dependency'), [fromPath, read] = useState('metadata.name'), [toPath, write] = useState(''), [roots, root] = useState({ from: '', to: '' })
  const id = useId(), apps = appNames(m), app = (name: string) => spec(m, 'apps').find((a) => a.name === name) ?? {}
  const end = (side: 'from' | 'to', path: string): End => ({ app: link[side], root: as !== 'dependency' && objects(app(link[side])).includes(roots[side]) ? roots[side] : '', path: path.trim() })
  const from = end('from', fromPath), to = end('to', toPath), kind = typeOf(page, app(to.app), to.root)
  const fieldsOf = useAsk<Described>(page, as === 'spec' && kind ? 'schema' : '', { kind }).answer?.schema
  const wrong = !from.app || !to.app ? 'Choose two apps.' : from.app === to.app ? 'Choose two different apps.' : as !== 'dependency' && (!from.path || !to.path) ? 'Say which fields.' : ''
  const choice = (label: string, side: 'from' | 'to') => <label>{label} <select value={link[side]} onChange={(e) => join({ ...link, [side]: e.currentTarget.value })}><option value="">–</option>{apps.map((a) => <option key={a}>{a}</option>)}</select></label>
  // The object must be selected only if an app has several.
  const which = (label: string, side: 'from' | 'to') => as !== 'dependency' && objects(app(link[side])).length > 1 && (
    <label>{label} <select value={end(side, '').root} onChange={(e) => root({ ...roots, [side]: e.currentTarget.value })}><option value="">its first object</option>{objects(app(link[side])).map((o) => <option key={o}>{o}</option>)}</select></label>
  )
  return (
    <section class="compose-connect" aria-labelledby="compose-connect">
      <h3 id="compose-connect">Connect</h3>
      <form onSubmit={(e) => { e.preventDefault(); if (!wrong) { edit(connect(m, as, from, to)); write('') } }}>
        {choice('From', 'from')}
        {choice('to', 'to')}
        <label>as <select id="compose-as" value={as} onChange={(e) => be(e.currentTarget.value as As)}>{Object.entries(kinds).map(([k, [words]]) => <option key={k} value={k}>{words}</option>)}</select></label>
        {as !== 'dependency' && <label>Value at <input value={fromPath} spellcheck={false} onInput={(e) => read(e.currentTarget.value)} /></label>}
        {which('of', 'from')}
        <label>{kinds[as][1]} <input value={toPath} spellcheck={as === 'dependency'} list={fieldsOf && id} onInput={(e) => write(e.currentTarget.value)} /></label>
        {which('in', 'to')}
        {fieldsOf && <datalist id={id}>{paths(fieldsOf).map((p) => <option key={p} value={p} />)}</datalist>}
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
          <label class="form-field">Roots, one a line <textarea rows={2} spellcheck={false} value={list(a.roots).join('\n')} onChange={(e) => { const all = e.currentTarget.value.split(/\s+/).filter(Boolean); put([...field, 'roots'], all.length ? all : undefined) }} /></label>
          {list(a.resources).map((r, n) => <Resource key={n} page={page} value={fields(r)} change={(path, v) => put([...field, 'resources', n, ...path], v)} />)}
        </>
      )}
      <button type="button" onClick={() => drop(key, at)}>Remove {text(a.name)}</button> <button type="button" onClick={() => { draft.chosen = nothing; tell() }}>Done</button>
    </section>
  )
}

function Resource({ page, value, change }: { page: Page; value: Fields; change: (path: Path, v: Value | undefined) => void }) {
  const kind = text(value.kind), ask = useAsk<Described>(page, kind && 'schema', { kind: kindOf(value) })
  const schema = ask.answer?.schema
  useEffect(() => { if (schema) { schemas.set(kindOf(value), schema); tell() } }, [schema])
  if (!kind) return <p class="form-help">A template: it is written in the manifest below.</p>
  return (
    <fieldset>
      <legend>{kind}</legend>
      <p class="form-help">{ask.answer?.description}</p>
      <label class="form-field">Name of the object <input value={text(get(value, ['metadata', 'name']))} spellcheck={false} onInput={(e) => change(['metadata', 'name'], e.currentTarget.value)} /></label>
      <Waits request={ask} label="The schema" />
      {ask.answer?.unavailable && <><p class="lacks">{ask.answer.unavailable}; or here, as JSON.</p><Group schema={{ properties: { spec: {} } }} value={value} path={[]} change={change} /></>}
      {schema && <Group schema={schema} value={value.spec} path={['spec']} change={change} />}
    </fieldset>
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
  const valid = draft.yaml && !draft.waits && !draft.failed && !draft.problems.length, wrong = draft.manifest ? specFaults(draft.manifest, schemas) : []
  const lead = (app: number) => {
    draft.chosen = app
    tell()
    setTimeout(() => document.getElementById('compose-form')?.focus())
  }
  return (
    <section class="compose-text" aria-labelledby="compose-manifest">
      <div class="bar-head">
        <h3 id="compose-manifest">Manifest</h3>
        <span role="status" class={valid ? wrong.length ? 'tone-warn' : 'tone-good' : draft.failed || draft.problems.length ? 'tone-bad' : 'faint'}>
          {draft.waits ? 'reading ...' : draft.failed ? '✖ ' + draft.failed : !draft.yaml ? 'empty' : valid ? 'valid ✔' + (wrong.length ? `, with ${plural(wrong.length, 'field')} to check` : '') : `✖ not valid: ${draft.problems.length} to look at`}
        </span>
        <button type="button" disabled={!draft.yaml} onClick={copy}>Copy</button> <button type="button" disabled={!draft.yaml} onClick={download}>Download</button> <span role="status">{status}</span>
      </div>
      <textarea ref={area} aria-labelledby="compose-manifest" aria-describedby="compose-problems" aria-invalid={draft.problems.length > 0} rows={16} spellcheck={false} wrap="off" value={draft.yaml}
        onInput={(e) => { draft.yaml = e.currentTarget.value; Object.assign(draft, { typed: true, status: '' }); send(page, { yaml: draft.yaml }, 400) }} />
      <ul id="compose-problems">{draft.problems.map((p, i) => <li key={i}><button type="button" class="link" onClick={() => go(p)}>line {p.line}</button>{p.path && <> <code>{p.path}</code></>}: {p.message}</li>)}
        {wrong.map((f) => <li key={f.app + f.path}><button type="button" class="link" onClick={() => lead(f.app)}>app {appNames(draft.manifest!)[f.app]}</button> <code>{f.path}</code>: {f.message}</li>)}</ul>
      {/(^|\s)#/m.test(draft.yaml) && <p class="faint">A change on the board or in the form rewrites the text: comments are lost. A change here keeps them.</p>}
      {valid && draft.commands.map((c) => <Command key={c} text={c} />)}
    </section>
  )
}

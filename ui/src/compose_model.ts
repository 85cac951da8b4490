// Forms from schemas, and changes of a manifest. Independent of the page.

export type Value = string | number | boolean | null | Value[] | { [key: string]: Value }
export type Fields = { [key: string]: Value }
export type Path = (string | number)[]
export interface Schema {
  type?: string; format?: string; description?: string; default?: Value; enum?: Value[]; pattern?: string; nullable?: boolean
  minimum?: number; maximum?: number; exclusiveMinimum?: boolean; exclusiveMaximum?: boolean
  minLength?: number; maxLength?: number; minItems?: number; maxItems?: number
  required?: string[]; properties?: { [name: string]: Schema }; items?: Schema; additionalProperties?: Schema
  'x-kubernetes-int-or-string'?: boolean; 'x-kubernetes-preserve-unknown-fields'?: boolean
}
export type Form = 'text' | 'number' | 'bool' | 'enum' | 'group' | 'list' | 'map' | 'free'

const isFields = (v: unknown): v is Fields => typeof v === 'object' && v !== null && !Array.isArray(v)
/** Reads own keys only: a name in a manifest may be toString. */
const at = (v: Value | undefined, key: string | number): Value | undefined =>
  typeof v === 'object' && v !== null && Object.hasOwn(v, key) ? (v as Fields)[key] : undefined

export const get = (v: Value | undefined, path: Path): Value | undefined => path.reduce(at, v)
export const fields = (v: Value | undefined): Fields => isFields(v) ? v : {}
export const list = (v: Value | undefined): Value[] => Array.isArray(v) ? v : []
export const text = (v: Value | undefined): string => typeof v === 'string' ? v : ''

/** Returns a copy with another value at the path; undefined removes the value and parents that become empty. */
export function set(v: Value | undefined, [key, ...rest]: Path, value: Value | undefined): Value | undefined {
  if (key === undefined) return value
  const next = set(at(v, key), rest, value)
  if (typeof key === 'number') {
    const copy = [...list(v)]
    if (next === undefined) copy.splice(key, 1)
    else copy[key] = next
    return copy.length ? copy : undefined
  }
  const all = Object.entries(fields(v)).filter(([k]) => k !== key)
  if (next !== undefined) {
    const i = Object.keys(fields(v)).indexOf(key)
    all.splice(i < 0 ? all.length : i, 0, [key, next])
  }
  return all.length ? Object.fromEntries(all) : undefined
}

export function formOf(s: Schema): Form {
  if (s['x-kubernetes-int-or-string']) return 'text'
  if (s.enum) return 'enum'
  if (s.type === 'boolean') return 'bool'
  if (s.type === 'integer' || s.type === 'number') return 'number'
  if (s.type === 'string') return 'text'
  if (s.properties) return 'group'
  if (s.type === 'array' && s.items && !s['x-kubernetes-preserve-unknown-fields']) return 'list'
  if (s.additionalProperties && !s['x-kubernetes-preserve-unknown-fields']) return 'map'
  return 'free'
}

/** Whether a field may hold a secret, which must not be in a manifest. References to a Secret are allowed. */
export const isSecret = (name: string, s: Schema) =>
  s.type === 'string' && /passw|passphrase|secret|token|credential|private_?key|api_?key|access_?key/i.test(name) && !/(name|ref|key_?name|file|path)$/i.test(name)

/** Converts typed text to a value of the schema; undefined for empty text. */
export function read(s: Schema, typed: string): Value | undefined {
  if (typed === '') return undefined
  const form = formOf(s)
  if (form === 'enum') return s.enum!.find((v) => String(v) === typed) ?? typed
  if (form === 'bool') return typed === 'true'
  if (form === 'free') { try { return JSON.parse(typed) } catch { return typed } }
  if (form === 'number' || s['x-kubernetes-int-or-string'] && /^-?\d+$/.test(typed)) {
    const n = Number(typed)
    return Number.isFinite(n) && typed.trim() ? n : typed
  }
  return typed
}

/** Returns the error of a value; empty if it is valid. */
export function check(s: Schema, v: Value | undefined, required = false): string {
  if (v === undefined) return required && s.default === undefined ? 'it is required' : ''
  if (v === null) return s.nullable ? '' : 'null is not taken'
  if (s.enum && !s.enum.includes(v)) return 'expected one of ' + s.enum.join(', ')
  if (formOf(s) === 'free' && typeof v === 'string' && s.type !== 'string') return 'no JSON: texts stand in quotes'
  if (s.type === 'integer' || s.type === 'number') return checkNumber(s, v)
  if (typeof v === 'string') {
    const n = [...v].length
    if (n < (s.minLength ?? 0)) return `expected ${s.minLength} characters at least`
    if (n > (s.maxLength ?? Infinity)) return `expected ${s.maxLength} characters at most`
    if (s.pattern && !matches(s.pattern, v)) return 'expected text like ' + s.pattern
  }
  if (Array.isArray(v) && v.length < (s.minItems ?? 0)) return `expected ${s.minItems} at least`
  if (Array.isArray(v) && v.length > (s.maxItems ?? Infinity)) return `expected ${s.maxItems} at most`
  return ''
}

function checkNumber(s: Schema, v: Value): string {
  if (typeof v !== 'number') return 'expected a number'
  if (s.type === 'integer' && !Number.isInteger(v)) return 'expected a whole number'
  const { minimum: low, maximum: high } = s
  if (low !== undefined && (s.exclusiveMinimum ? v <= low : v < low)) return `expected ${s.exclusiveMinimum ? 'more than' : 'at least'} ${low}`
  if (high !== undefined && (s.exclusiveMaximum ? v >= high : v > high)) return `expected ${s.exclusiveMaximum ? 'less than' : 'at most'} ${high}`
  return ''
}

/** Patterns use Go syntax: the API server checks those that a browser cannot parse. Long text is
    not matched, since a pattern may backtrack without end. */
function matches(pattern: string, v: string): boolean {
  try { return v.length > 256 || new RegExp(pattern).test(v) } catch { return true }
}

/** Returns a DNS label that is not taken. */
export function nameFor(wanted: string, taken: string[]): string {
  const base = wanted.toLowerCase().replace(/[^a-z0-9-]+/g, '-').replace(/^[^a-z]+/, '').slice(0, 50).replace(/-+$/, '') || 'app'
  for (let n = 1; ; n++) {
    const name = n > 1 ? `${base}-${n}` : base
    if (!taken.includes(name)) return name
  }
}

export const empty = (): Fields => ({ apiVersion: 'sysop.dev/v1alpha1', kind: 'System', metadata: { name: 'my-system' } })
export const spec = (m: Fields, key: string): Fields[] => list(get(m, ['spec', key])).map(fields)
export const appNames = (m: Fields) => spec(m, 'apps').map((a) => text(a.name))
const put = (m: Fields, path: Path, value: Value | undefined) => fields(set(m, path, value))
const append = (m: Fields, key: string, value: Value) => put(m, ['spec', key, list(get(m, ['spec', key])).length], value)

export const addApp = (m: Fields, name: string, more: Fields) => append(m, 'apps', { name: nameFor(name, appNames(m)), ...more })

export function addOperator(m: Fields, name: string, version: string): Fields {
  const i = spec(m, 'operators').findIndex((o) => o.name === name), o: Fields = version ? { name, version } : { name }
  return i < 0 ? append(m, 'operators', o) : put(m, ['spec', 'operators', i, 'version'], version || undefined)
}

/** Removes an app, operator, dependency or connection; with an app also its dependencies and
    connections. Rules stay, and are reported as errors. */
export function remove(m: Fields, key: 'apps' | 'operators' | 'dependencies' | 'connections', i: number): Fields {
  const name = key === 'apps' ? appNames(m)[i] : '', next = put(m, ['spec', key, i], undefined)
  if (!name) return next
  const removeFrom = (m: Fields, key: string, names: (e: Fields) => (Value | undefined)[]) => {
    const rest = spec(m, key).filter((e) => !names(e).includes(name))
    return put(m, ['spec', key], rest.length ? rest : undefined)
  }
  return removeFrom(removeFrom(next, 'dependencies', (e) => [e.from, e.to]), 'connections', (e) => [get(e, ['from', 'app']), get(e, ['to', 'app'])])
}

export function rename(m: Fields, i: number, name: string): Fields {
  const old = appNames(m)[i], swap = (v: Value | undefined) => v === old ? name : v
  let next = put(m, ['spec', 'apps', i, 'name'], name)
  if (!old || appNames(next).filter((n) => n === old).length) return next
  const paths: [string, Path[]][] = [['dependencies', [['from'], ['to']]], ['connections', [['from', 'app'], ['to', 'app']]]]
  for (const [key, ends] of paths) spec(m, key).forEach((e, k) => ends.forEach((p) => { next = put(next, ['spec', key, k, ...p], swap(get(e, p))) }))
  return next
}

export type As = 'dependency' | 'field' | 'label' | 'annotation'
/** One end of a connection: a field of an object of an app. An empty root selects the first object. */
export interface End { app: string; root: string; path: string }
/** The field path that a connection of this type writes to. */
export function target(as: As, path: string): string {
  const key = (field: string) => path && `metadata.${field}[${JSON.stringify(path)}]`
  return as === 'label' ? key('labels') : as === 'annotation' ? key('annotations') : path
}

/** Adds a dependency or a connection; the path of the dependent app becomes the reason of a dependency. */
export function connect(m: Fields, as: As, from: End, to: End): Fields {
  if (as === 'dependency') return append(m, 'dependencies', { from: to.app, to: from.app, ...(to.path && { reason: to.path }) })
  const end = ({ app, root, path }: End): Fields => ({ app, ...(root && { root }), path })
  return append(m, 'connections', { from: end(from), to: end({ ...to, path: target(as, to.path) }) })
}

/** Describes what a connection will do. */
export const says = (as: As, from: End, to: End) => as === 'dependency' ? `${to.app} needs ${from.app}: ${from.app} is installed first, and ${to.app} is held by the rules when it is unhealthy.`
  : `${from.path} of ${from.root || from.app} is waited for, and put into ${target(as, to.path)} of ${to.root || to.app} before ${to.app} is installed.`

/** The objects of an app as a manifest names them: its roots and resources. */
export const objects = (a: Fields): string[] => [
  ...list(a.roots).map(text),
  ...list(a.resources).flatMap((r) => {
    const kind = text(get(r, ['kind'])), metadata = fields(get(r, ['metadata'])), name = text(metadata.name)
    return kind && name ? [[kind.toLowerCase(), ...(text(metadata.namespace) ? [text(metadata.namespace)] : []), name].join('/')] : []
  }),
]

/** The kind of an object as Kind.group. */
export const kindOf = (o: Fields) => text(o.kind) + (text(o.apiVersion).includes('/') ? '.' + text(o.apiVersion).split('/')[0] : '')

/** The text fields of an object, references first. */
export function paths(s: Schema, depth = 6): string[] {
  const all: string[] = [], refers = /(ref|name|reference)(\.name)?$/i
  const walk = (s: Schema, path: string, levels: number) => {
    if (s.type === 'string' || s['x-kubernetes-int-or-string']) all.push(path)
    else if (levels > 0 && s.type === 'array' && s.items) walk(s.items, path + '[0]', levels - 1)
    else if (levels > 0) for (const [name, p] of Object.entries(s.properties ?? {})) if (!isSecret(name, p)) walk(p, path ? `${path}.${name}` : name, levels - 1)
  }
  walk(s, '', depth)
  return all.sort((a, b) => Number(refers.test(b)) - Number(refers.test(a)) || a.split('.').length - b.split('.').length).slice(0, 200)
}

export interface Link { key: 'dependencies' | 'connections'; i: number; from: string; to: string; word: string; words: string }
const wordOf = (path: string) => path.startsWith('metadata.labels') ? 'label' : path.startsWith('metadata.annotations') ? 'annotation' : 'needs'
/** Dependencies and connections as arrows: from the app that needs to the one that is needed. */
export const links = (m: Fields): Link[] => [
  ...spec(m, 'dependencies').map((d, i): Link => ({ key: 'dependencies', i, from: text(d.from), to: text(d.to), word: 'needs', words: `${text(d.from)} needs ${text(d.to)}${d.reason ? ': ' + text(d.reason) : ''}` })),
  ...spec(m, 'connections').map((c, i): Link => {
    const from = fields(c.from), to = fields(c.to)
    return {
      key: 'connections', i, from: text(to.app), to: text(from.app), word: wordOf(text(to.path)),
      words: `${text(to.app)} needs ${text(from.app)}: ${text(to.path)}${text(to.root) && ' of ' + text(to.root)} = ${text(from.path)} of ${text(from.root) || text(from.app)}`,
    }
  }),
]

/** A card of the board: the ID of an app is its index, that of an operator -1 - index. It needs its children. */
export interface Twig { id: number; children: Twig[] }
/** The cards as a forest: the parent of a card is the first that needs it. Cycles are cut. */
export function forest(m: Fields): Twig[] {
  const apps = spec(m, 'apps'), operators = spec(m, 'operators'), names = appNames(m), parents = new Map<number, number>()
  const needs = [...links(m).map((l) => [names.indexOf(l.from), names.indexOf(l.to)]).filter((ends) => !ends.includes(-1)), ...apps.flatMap((a, i) => operators.flatMap((o, n) => o.name === a.operator ? [[i, -1 - n]] : []))]
  for (const [from, to] of needs) {
    if (parents.has(to)) continue
    let up: number | undefined = from
    while (up !== undefined && up !== to) up = parents.get(up)
    if (up !== to) parents.set(to, from)
  }
  const twigs = new Map([...apps.keys(), ...operators.map((_, n) => -1 - n)].map((id) => [id, { id, children: [] } as Twig])), roots: Twig[] = []
  for (const t of twigs.values()) (twigs.get(parents.get(t.id)!)?.children ?? roots).push(t)
  return roots
}

/** Returns start and end offset of a line in a text; lines count from 1. */
export function place(all: string, line: number, column = 1): [number, number] {
  const lines = all.split('\n'), before = lines.slice(0, Math.max(0, line - 1)).reduce((n, l) => n + l.length + 1, 0), current = lines[line - 1] ?? ''
  return [Math.min(all.length, before + Math.min(current.length, Math.max(0, column - 1))), Math.min(all.length, before + current.length)]
}

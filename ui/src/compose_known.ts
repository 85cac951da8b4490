// What is known before anything runs: built-in kinds with an example, connections that relationships
// of two kinds propose, and what will be created, needed and paid. Independent of the browser, for tests.

import { appNames, connect, type End, type Fields, fields, get, kindOf, list, nameFor, objects, type Path, type Schema, set, spec, text, type Value } from './compose_model.ts'

export interface Relation { from: string[]; to: string[]; relation: string; field: string }
export interface CatalogKind { kind: string; group: string; versions: string[]; served?: boolean; composes: string[]; example?: Fields }
export interface Entry { name: string; title: string; description: string; versions: string[]; kinds: CatalogKind[]; relations: Relation[] }
/** A month of a core, of a GiB of memory, and of a GiB of storage. */
export interface Rates { currency: string; cpu: number; memory: number; storage: number }
export interface Catalog { entries: Entry[]; rates?: Rates }

const named = (name: string) => ({ metadata: { name } })
const pods = (name: string) => ({
  selector: { matchLabels: { app: name } },
  template: { metadata: { labels: { app: name } }, spec: { containers: [{ name, image: 'registry.example.com/app:1', resources: { requests: { cpu: '250m', memory: '256Mi' } } }] } },
})
const string: Schema = { type: 'string' }, integer: Schema = { type: 'integer', minimum: 0 }, either: Schema = { 'x-kubernetes-int-or-string': true }
const group = (properties: Schema['properties'], ...required: string[]): Schema => ({ type: 'object', properties, required })
const many = (items: Schema): Schema => ({ type: 'array', items }), map = (additionalProperties: Schema): Schema => ({ type: 'object', additionalProperties }), one = (...of: string[]): Schema => ({ type: 'string', enum: of })
const nameOnly = group({ name: string }, 'name'), keyed = group({ name: string, key: string }, 'name', 'key')
const quantities = group({ cpu: either, memory: either, storage: either })
const podForm = group({ metadata: group({ labels: map(string) }), spec: group({
  containers: many(group({
    name: string, image: string, args: many(string), ports: many(group({ containerPort: integer, name: string }, 'containerPort')),
    env: many(group({ name: string, value: string, valueFrom: group({ secretKeyRef: keyed, configMapKeyRef: keyed }) }, 'name')), envFrom: many(group({ secretRef: nameOnly, configMapRef: nameOnly })),
    resources: group({ requests: quantities, limits: quantities }), volumeMounts: many(group({ name: string, mountPath: string }, 'name', 'mountPath')),
  }, 'name', 'image')),
  volumes: many(group({ name: string, persistentVolumeClaim: group({ claimName: string }, 'claimName'), configMap: nameOnly, secret: group({ secretName: string }, 'secretName') }, 'name')), serviceAccountName: string,
}, 'containers') }, 'spec')
const workload = { replicas: integer, selector: group({ matchLabels: map(string) }, 'matchLabels'), template: podForm }
/** A built-in kind that is offered: an example, and its form. A Secret has no values: they belong in no manifest. */
export interface BuiltIn { kind: string; make: (name: string) => Fields; form: Schema }
export const builtIn: BuiltIn[] = [
  { kind: 'Deployment', make: (name) => ({ apiVersion: 'apps/v1', kind: 'Deployment', ...named(name), spec: { replicas: 2, ...pods(name) } }), form: group({ spec: group(workload, 'selector', 'template') }, 'spec') },
  { kind: 'StatefulSet', make: (name) => ({ apiVersion: 'apps/v1', kind: 'StatefulSet', ...named(name), spec: { replicas: 1, serviceName: name, ...pods(name) } }), form: group({ spec: group({ serviceName: string, ...workload }, 'selector', 'template') }, 'spec') },
  { kind: 'Service', make: (name) => ({ apiVersion: 'v1', kind: 'Service', ...named(name), spec: { selector: { app: name }, ports: [{ port: 80, targetPort: 8080 }] } }), form: group({ spec: group({ type: one('ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName'), selector: map(string), ports: many(group({ name: string, port: integer, targetPort: either, protocol: one('TCP', 'UDP', 'SCTP') }, 'port')) }) }, 'spec') },
  {
    kind: 'Ingress', make: (name) => ({ apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', ...named(name), spec: { rules: [{ host: name + '.example.com', http: { paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name, port: { number: 80 } } } }] } }] } }),
    form: group({ spec: group({
      ingressClassName: string, rules: many(group({ host: string, http: group({ paths: many(group({ path: string, pathType: one('Prefix', 'Exact', 'ImplementationSpecific'), backend: group({ service: group({ name: string, port: group({ number: integer, name: string }) }, 'name') }, 'service') }, 'pathType', 'backend')) }, 'paths') })),
      tls: many(group({ hosts: many(string), secretName: string })),
    }) }, 'spec'),
  },
  { kind: 'ConfigMap', make: (name) => ({ apiVersion: 'v1', kind: 'ConfigMap', ...named(name) }), form: group({ data: map(string) }) },
  { kind: 'Secret', make: (name) => ({ apiVersion: 'v1', kind: 'Secret', ...named(name), type: 'Opaque' }), form: group({ type: string }) },
  { kind: 'PersistentVolumeClaim', make: (name) => ({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', ...named(name), spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } }), form: group({ spec: group({ accessModes: many(one('ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOncePod')), storageClassName: string, resources: group({ requests: quantities }) }, 'accessModes', 'resources') }, 'spec') },
]
/** The form of a built-in kind that is offered. */
export const formOfKind = (kind: string): Schema | undefined => builtIn.find((b) => kindOf(b.make('')) === kind)?.form

const ingress = 'Ingress.networking.k8s.io', workloads = ['Deployment.apps', 'StatefulSet.apps']
/** [+] is a list that grows by an item for each provider. */
const builtInRelations: Relation[] = [
  { from: [ingress], to: ['Service'], relation: 'needs', field: 'spec.rules[].http.paths[].backend.service.name' },
  { from: [ingress], to: ['Secret'], relation: 'needs', field: 'spec.tls[+].secretName' },
  { from: workloads, to: ['Secret'], relation: 'needs', field: 'spec.template.spec.containers[].envFrom[+].secretRef.name' },
  { from: workloads, to: ['ConfigMap'], relation: 'needs', field: 'spec.template.spec.containers[].envFrom[+].configMapRef.name' },
  { from: workloads, to: ['PersistentVolumeClaim'], relation: 'needs', field: 'spec.template.spec.volumes[+].persistentVolumeClaim.claimName' },
]

/** The resources of an app, each with the name by which a connection chooses it. */
const resources = (a: Fields) => list(a.resources).map(fields).filter((r) => text(r.kind) && text(get(r, ['metadata', 'name'])))
const rootOf = (a: Fields, r: Fields) => objects(a).length > 1 ? [text(r.kind).toLowerCase(), text(get(r, ['metadata', 'namespace'])), text(get(r, ['metadata', 'name']))].filter(Boolean).join('/') : ''
/** A list is meant by its first item, one that grows by the item with the value or the next; a reference by its name. */
const pathOf = (field: string, r: Fields = {}, value?: Value): string => {
  const [before, after] = field.split('[+].'), path = before.replace(/\[\]/g, '[0]').replace(/(Ref|Refs\[0\]|Secrets\[0\])$/, '$1.name')
  if (after === undefined) return path
  const items = list(valueAt(r, path)), same = items.findIndex((item) => valueAt(item, after) === value)
  return `${path}[${same < 0 ? items.length : same}].${after}`
}
const nameOf = (path: string) => pathOf(path).split('.').pop()!

/** Fields for Secrets that an object of another kind does not make by the way. */
const otherSecret = /imagePull|password|token|superuser|accessKey|credential|auth/i

/** The value is that of a new item of a list. */
export interface Proposal { consumer: End; provider: End; why: string; value?: Value }

/** The connections that known relationships of the kinds propose, without those that are made already: the consumer needs the provider. */
export function proposals(m: Fields, catalog: Catalog | undefined): Proposal[] {
  const relations = [...builtInRelations, ...(catalog?.entries ?? []).flatMap((e) => e.relations)], apps = spec(m, 'apps'), out: Proposal[] = []
  const made = new Set([
    ...spec(m, 'connections').map((c) => [get(c, ['from', 'app']), get(c, ['to', 'app'])].join('>')), ...spec(m, 'dependencies').map((d) => [d.to, d.from].join('>')),
  ])
  const ends = apps.flatMap((a) => resources(a).map((r) => ({ app: text(a.name), root: rootOf(a, r), kind: kindOf(r), r })))
  for (const to of ends) {
    for (const from of ends) {
      if (from.app === to.app || made.has(from.app + '>' + to.app)) continue
      const offer = (field: string, path: string, why: string) => {
        const value = field.includes('[+]') ? valueAt(from.r, path) : undefined
        if (!out.some((p) => p.consumer.app === to.app && p.provider.app === from.app)) out.push({ consumer: { app: to.app, root: to.root, path: pathOf(field, to.r, value) }, provider: { app: from.app, root: from.root, path }, why, ...(value !== undefined && { value }) })
      }
      // Of two that could need each other the one that names the other by its kind does.
      const reverse = made.has(to.app + '>' + from.app) || relations.some((n) => n.relation === 'needs' && n.from.includes(from.kind) && n.to.includes(to.kind))
      for (const n of relations) {
        if (n.relation !== 'needs' || !n.from.includes(to.kind)) continue
        if (n.to.includes(from.kind)) offer(n.field, 'metadata.name', `${short(to.kind)} needs ${short(from.kind)} by its ${nameOf(n.field)}`)
        else if (!reverse && !otherSecret.test(n.field)) for (const o of relations) {
          const makes = o.relation === 'owns' && o.from.includes(from.kind) && o.to.some((kind) => n.to.includes(kind)), path = pathOf(o.field)
          if (makes && valueAt(from.r, path) !== undefined) offer(n.field, path, `${short(from.kind)} makes the ${n.to[0]} that ${short(to.kind)} needs by its ${nameOf(n.field)}`)
        }
      }
      // Who runs containers uses what listens: no field is known, the order is.
      const listens = from.kind === 'Service' || catalog?.entries.some((e) => e.kinds.some((k) => kindKey(k) === from.kind && k.composes.includes('Service')))
      if (workloads.includes(to.kind) && listens && !workloads.includes(from.kind) && !selects(from.r, to.r)) offer('', '', `${short(from.kind)} listens; choose the field that names it, or the order alone`)
    }
  }
  return out
}

/** The manifest with a proposal accepted: a new item of a list is written whole, other values are left to the connection. */
export function accept(m: Fields, { consumer, provider, value }: Proposal): Fields {
  if (!consumer.path) return connect(m, 'dependency', provider, consumer)
  const i = appNames(m).indexOf(consumer.app), all = resources(fields(get(m, ['spec', 'apps', i]))), r = all.find((r) => rootOf(fields(get(m, ['spec', 'apps', i])), r) === consumer.root) ?? all[0]
  const at = ['spec', 'apps', i, 'resources', list(get(m, ['spec', 'apps', i, 'resources'])).indexOf(r)], path = stepsOf(consumer.path), pod = ['spec', 'template', 'spec']
  let made = set(r, path, value)
  if (path.includes('volumes') && text(get(made, [...path.slice(0, -2), 'name'])) === '') { // a volume that no container mounts is of no use
    const name = nameFor(text(value).replace(/\./g, '-').slice(0, 60), list(get(r, [...pod, 'volumes'])).map((v) => text(get(v, ['name'])))), mounts = [...pod, 'containers', 0, 'volumeMounts']
    made = set(set(made, [...path.slice(0, -2), 'name'], name), [...mounts, list(get(r, mounts)).length], { name, mountPath: '/mnt/' + name })
  }
  return connect(fields(set(m, at, made)), 'field', provider, consumer)
}

const kindKey = (k: { kind: string; group: string }) => k.kind + (k.group ? '.' + k.group : '')
const short = (kind: string) => kind.split('.')[0]
/** The value at a path such as spec.tls[0].secretName. */
export const valueAt = (v: Value | undefined, path: string) => get(v, stepsOf(path))
const stepsOf = (path: string): Path => path.split(/[.[\]]/).filter(Boolean).map((p) => /^\d+$/.test(p) ? +p : p)
/** A Service that selects the pods of a workload is its own. */
const selects = (service: Fields, workload: Fields) => Object.entries(fields(get(service, ['spec', 'selector']))).some(([k, v]) => get(workload, ['spec', 'template', 'metadata', 'labels', k]) === v)

export interface Part { app: string; makes: string[]; operator: string; served: boolean; pods?: number; cpu?: number; memory?: number; storage?: number; cost?: number; unknown: string }

/** What each app of a manifest will be: the objects that are made, who makes them, and what their requests cost a month. */
export function preview(m: Fields, catalog: Catalog | undefined): Part[] {
  const kinds = new Map((catalog?.entries ?? []).flatMap((e) => e.kinds.map((k) => [kindKey(k), { e, k }] as const)))
  return spec(m, 'apps').map((a): Part => {
    const part: Part = { app: text(a.name), makes: [], operator: '', served: true, unknown: '' }
    for (const r of resources(a)) {
      const known = kinds.get(kindOf(r)), sized = sizeOf(r)
      part.makes.push(text(r.kind) + ' ' + text(get(r, ['metadata', 'name'])), ...(known?.k.composes ?? []).map(short), ...(workloads.includes(kindOf(r)) ? [sized.pods === 1 ? '1 Pod' : `${sized.pods} Pods`] : []))
      if (known) Object.assign(part, { operator: known.e.title, served: !!known.k.served })
      const runs = known ? known.k.composes.some((c) => /^(Pod|Deployment\.apps|StatefulSet\.apps|DaemonSet\.apps)$/.test(c)) : workloads.includes(kindOf(r))
      if (runs && (sized.cpu === undefined || sized.memory === undefined)) part.unknown = `${text(r.kind)} sets no requests of CPU and memory`
      for (const key of ['pods', 'cpu', 'memory', 'storage'] as const) if (sized[key] !== undefined && (runs || key === 'storage')) part[key] = (part[key] ?? 0) + sized[key]! * (key === 'pods' ? 1 : sized.pods)
    }
    for (const o of list(a.roots)) part.makes.push(text(o) + ', which exists')
    const rates = catalog?.rates
    if (rates && (part.cpu !== undefined || part.memory !== undefined || part.storage !== undefined)) part.cost = (part.cpu ?? 0) * rates.cpu + (part.memory ?? 0) * rates.memory + (part.storage ?? 0) * rates.storage
    return part
  })
}

/** The instances of a resource, and what each requests: cores, GiB, GiB. */
function sizeOf(r: Fields): { pods: number; cpu?: number; memory?: number; storage?: number } {
  const at = (path: string) => valueAt(r, path), count = [at('spec.replicas'), at('spec.instances'), at('spec.size')].find((n) => typeof n === 'number') as number | undefined
  const each = list(at('spec.template.spec.containers')).map((c) => fields(get(c, ['resources', 'requests']))), own = fields(at('spec.resources.requests'))
  const sum = (key: string) => {
    const all = [...each, ...(Object.keys(own).length ? [own] : [])].map((q) => quantity(q[key])).filter((n) => n !== undefined) as number[]
    return all.length ? all.reduce((a, b) => a + b, 0) : undefined
  }
  const gib = (n: number | undefined) => n === undefined ? undefined : n / 2 ** 30
  return { pods: count ?? 1, cpu: sum('cpu'), memory: gib(sum('memory')), storage: gib(quantity(at('spec.storage.size')) ?? sum('storage')) }
}

const units: { [suffix: string]: number } = { m: 1e-3, '': 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40 }
/** A quantity of Kubernetes: 250m, 1Gi; undefined for what is none. */
export function quantity(v: Value | undefined): number | undefined {
  if (typeof v === 'number') return v
  const [, n, unit] = /^(\d+(?:\.\d+)?)(m|k|M|G|T|Ki|Mi|Gi|Ti|)$/.exec(text(v)) ?? []
  return n === undefined ? undefined : +n * units[unit]
}

/** The kinds that match a search by name, operator or description. */
export function kindsLike(catalog: Catalog | undefined, search: string): { entry: Entry; kind: CatalogKind }[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  if (!words.length) return []
  const all = (catalog?.entries ?? []).flatMap((entry) => entry.kinds.map((kind) => ({ entry, kind })))
  const fits = ({ entry, kind }: { entry: Entry; kind: CatalogKind }) => words.every((w) => [kind.kind, entry.name, entry.title, entry.description].join(' ').toLowerCase().includes(w))
  const rank = ({ kind }: { kind: CatalogKind }) => kind.kind.toLowerCase() === words[0] ? 0 : kind.kind.toLowerCase().startsWith(words[0]) ? 1 : kind.kind.toLowerCase().includes(words[0]) ? 2 : 3
  return all.filter(fits).sort((a, b) => rank(a) - rank(b) || Number(!a.kind.served) - Number(!b.kind.served))
}

/** The kinds that are made by others of the same operator, which nobody adds. */
export const madeBy = (entry: Entry, kind: CatalogKind) => entry.kinds.find((k) => k !== kind && !kind.example && k.composes.includes(kindKey(kind)))?.kind ?? ''


import assert from 'node:assert/strict'
import { test } from 'node:test'
import { load } from './load.mjs'

const k = await load('compose_known.ts')
const kind = (name, group, more = {}) => ({ kind: name, group, versions: ['v1'], composes: [], ...more })
const catalog = {
  rates: { currency: 'USD', cpu: 20, memory: 3, storage: .05 },
  entries: [
    { name: 'certs', title: 'Certs', description: 'issues certificates', versions: ['1'], kinds: [kind('Issuer', 'c.io'), kind('Certificate', 'c.io', { composes: ['Request.c.io', 'Secret'] }), kind('Request', 'c.io')], relations: [
      { from: ['Certificate.c.io'], to: ['Issuer.c.io'], relation: 'needs', field: 'spec.issuerRef' }, { from: ['Issuer.c.io'], to: ['Secret'], relation: 'needs', field: 'spec.ca.secretName' }, { from: ['Certificate.c.io'], to: ['Secret'], relation: 'owns', field: 'spec.secretName' },
    ] },
    { name: 'pg', title: 'Postgres', description: 'databases', versions: ['1'], kinds: [kind('Cluster', 'pg.io', { composes: ['Pod', 'Service'], served: true })], relations: [] },
  ],
}
const resource = (apiVersion, kind, name, spec) => ({ apiVersion, kind, metadata: { name }, ...(spec && { spec }) })
const app = (name, ...resources) => ({ name, resources })
const system = (...apps) => ({ spec: { apps } })
const built = (kind, name) => k.builtIn.find((b) => b.kind === kind).make(name)

test('relationships of two kinds propose who needs whom, by which field', () => {
  const m = system(app('issuer', resource('c.io/v1', 'Issuer', 'ours')), app('cert', resource('c.io/v1', 'Certificate', 'web', { secretName: 'web-tls' })), app('in', built('Ingress', 'in')), app('web', built('Deployment', 'web')), app('db', resource('pg.io/v1', 'Cluster', 'db')))
  const says = (m) => k.proposals(m, catalog).map((p) => `${p.consumer.app} ${p.consumer.path} <- ${p.provider.app} ${p.provider.path}`)
  assert.deepEqual(says(m), [
    'cert spec.issuerRef.name <- issuer metadata.name', 'in spec.tls[0].secretName <- cert spec.secretName',
    'web spec.template.spec.containers[0].envFrom[0].secretRef.name <- cert spec.secretName', 'web  <- db ',
  ])
  m.spec.connections = [{ from: { app: 'issuer', path: 'metadata.name' }, to: { app: 'cert', path: 'spec.issuerRef.name' } }]
  m.spec.dependencies = [{ from: 'web', to: 'db' }]
  assert.equal(says(m).length, 2, 'what is connected is not proposed')
})

test('a Service that selects a workload is its own, and an Ingress needs it', () => {
  const m = system(app('web', built('Deployment', 'web'), built('Service', 'web')), app('in', built('Ingress', 'in')))
  assert.deepEqual(k.proposals(m, undefined).map((p) => [p.consumer.app, p.consumer.path, p.provider.root]), [['in', 'spec.rules[0].http.paths[0].backend.service.name', 'service/web']])
})

test('an accepted proposal adds a whole item to its list, and a volume is mounted', () => {
  let m = system(app('web', built('Deployment', 'web')), app('key', built('Secret', 'key')), app('conf', built('ConfigMap', 'conf')), app('store', built('PersistentVolumeClaim', 'store.1')), app('in', built('Ingress', 'in')))
  for (let p; (p = k.proposals(m, undefined)[0]);) m = k.accept(m, p)
  const pod = m.spec.apps[0].resources[0].spec.template.spec, [{ envFrom, volumeMounts }] = pod.containers
  assert.deepEqual(envFrom, [{ secretRef: { name: 'key' } }, { configMapRef: { name: 'conf' } }])
  assert.deepEqual(pod.volumes, [{ persistentVolumeClaim: { claimName: 'store.1' }, name: 'store-1' }])
  assert.deepEqual(volumeMounts, [{ name: 'store-1', mountPath: '/mnt/store-1' }])
  assert.deepEqual(m.spec.apps[4].resources[0].spec.tls, [{ secretName: 'key' }])
  assert.deepEqual(m.spec.connections.map((c) => c.to.path), [
    'spec.template.spec.containers[0].envFrom[0].secretRef.name', 'spec.template.spec.containers[0].envFrom[1].configMapRef.name', 'spec.template.spec.volumes[0].persistentVolumeClaim.claimName', 'spec.tls[0].secretName',
  ])
  // The same value again takes its item.
  assert.equal(k.proposals({ spec: { apps: m.spec.apps } }, undefined)[1].consumer.path, 'spec.template.spec.containers[0].envFrom[1].configMapRef.name')
  assert.equal(k.proposals({ spec: { apps: m.spec.apps } }, undefined).length, 4)
})

test('what will be there, and what it costs', () => {
  const db = resource('pg.io/v1', 'Cluster', 'db', { instances: 3, storage: { size: '10Gi' }, resources: { requests: { cpu: '500m', memory: '1Gi' } } })
  const [web, pg, bare, tls] = k.preview(system(app('web', built('Deployment', 'web')), app('db', db), app('bare', resource('pg.io/v1', 'Cluster', 'bare', { instances: 2 })), app('tls', resource('c.io/v1', 'Certificate', 'tls'))), catalog)
  assert.deepEqual([web.makes, web.cost, web.unknown], [['Deployment web', '2 Pods'], 2 * (.25 * 20 + .25 * 3), ''])
  assert.deepEqual([pg.makes, pg.served, pg.cost], [['Cluster db', 'Pod', 'Service'], true, 3 * (.5 * 20 + 3 + 10 * .05)])
  assert.match(bare.unknown, /no requests/)
  assert.deepEqual([tls.makes, tls.served, tls.cost, tls.unknown], [['Certificate tls', 'Request', 'Secret'], false, undefined, ''])
})

test('a search finds kinds, the nearest name first; what others make is said', () => {
  assert.deepEqual(k.kindsLike(catalog, 'certificate').map(({ kind }) => kind.kind), ['Certificate', 'Issuer', 'Request'])
  assert.deepEqual(k.kindsLike(catalog, ''), [])
  assert.equal(k.madeBy(catalog.entries[0], catalog.entries[0].kinds[2]), 'Certificate')
  assert.equal(k.madeBy(catalog.entries[0], catalog.entries[0].kinds[0]), '')
})

test('the form of a built-in kind has the fields of its example', async () => {
  const { check, formOf } = await load('compose_model.ts')
  const known = (s, v, at) => {
    assert.equal(check(s, v), '', at)
    if (formOf(s) === 'list') v.forEach((one, i) => known(s.items, one, `${at}[${i}]`))
    if (formOf(s) === 'group') for (const [key, value] of Object.entries(v)) {
      assert.ok(s.properties[key], `${at}.${key}`)
      known(s.properties[key], value, `${at}.${key}`)
    }
  }
  for (const { kind, make, form } of k.builtIn) {
    const { apiVersion: _, kind: __, metadata: ___, ...rest } = make('web')
    known(form, rest, kind)
  }
  assert.ok(k.formOfKind('Deployment.apps') && !k.formOfKind('Deployment'))
})

test('quantities', () => {
  for (const [text, n] of [['250m', .25], ['1', 1], [2, 2], ['1Gi', 2 ** 30], ['1.5k', 1500], ['x', undefined], ['', undefined], [undefined, undefined]]) assert.equal(k.quantity(text), n, text)
})

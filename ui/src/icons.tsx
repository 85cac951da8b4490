// The icons of kinds: strokes on a grid of 16. A kind without one has its first two letters.

const shapes: [kinds: RegExp, d: string][] = [
  [/^(Deployment|ReplicaSet|DaemonSet|Rollout)$/, 'M8 2 14 5 8 8 2 5ZM2 8l6 3 6-3M2 11l6 3 6-3'],
  [/^(CronJob|Job)$/, 'M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2ZM8 5v3.3l2.2 1.5'],
  [/^(PersistentVolumeClaim|PersistentVolume|StorageClass)$/, 'M2.5 3.5h11v9h-11ZM2.5 9.5h11M11 11h.6'],
  [/^Pod$/, 'M8 2l5.2 3v6L8 14l-5.2-3V5ZM8 8l5.2-3M8 8 2.8 5M8 8v6'],
  [/^(Service|EndpointSlice|Endpoints)$/, 'M8 3.6a1.6 1.6 0 1 0 0-.1M3.5 12.6a1.6 1.6 0 1 0 0-.1M12.5 12.6a1.6 1.6 0 1 0 0-.1M8 5.2v2.6M3.5 10.8V7.8h9v3'],
  [/^(Ingress|Gateway|HTTPRoute|GRPCRoute|TLSRoute|IngressRoute|VirtualService)/, 'M7 3h6v10H7M2 8h8M7.5 5.5 10 8l-2.5 2.5'],
  [/^Secret$/, 'M5.5 10.5a3 3 0 1 1 2.6-1.5L13.5 9v2.5h-2V10M5.2 7.4h.6'],
  [/^ConfigMap$/, 'M4 2h5.5L12.5 5v9H4ZM9.5 2v3h3M6 8h4.5M6 10.8h4.5'],
  [/^(ServiceAccount|User|Role|RoleBinding|ClusterRole|ClusterRoleBinding)$/, 'M8 7.5a2.7 2.7 0 1 0 0-.1M3 14c.4-3 2.3-4.4 5-4.4s4.6 1.4 5 4.4'],
  [/^(Namespace|Node)$/, 'M2.5 3h11v4h-11ZM2.5 9h11v4h-11ZM5 5h.6M5 11h.6'],
  [/(Issuer|Certificate|Policy)$/, 'M8 2l5 2v4c0 3-2 5-5 6-3-1-5-3-5-6V4ZM5.8 8l1.6 1.600L10.4 6.5'],
  [/(sql|postgres|mongo|maria|percona|database|cassandra|etcd|^StatefulSet$)/i, 'M3 4c0-2.6 10-2.6 10 0s-10 2.6-10 0M3 4v8c0 2.6 10 2.6 10 0V4M3 8c0 2.6 10 2.6 10 0'],
  [/(kafka|rabbit|nats|pulsar|queue|stream)/i, 'M2 4.500h12M2 8h12M2 11.500h12M5 3v3M10 6.500v3M7 10v3'],
  [/(redis|memcache|valkey|cache|dragonfly)/i, 'M9 2 4 9h4l-1 5 5-7H8Z'],
]

export function KindIcon({ kind }: { kind: string }) {
  const d = shapes.find(([kinds]) => kinds.test(kind))?.[1]
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      {d ? <path d={d} /> : <><rect x="1.5" y="1.5" width="13" height="13" rx="2.5" /><text x="8" y="11">{kind.slice(0, 2)}</text></>}
    </svg>
  )
}

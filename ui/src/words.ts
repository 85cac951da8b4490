// Formatting: health, relations, money, quantities, ages, commands.

/** Health by its number in a UIState, the best first. */
export const health = [
  { word: '', glyph: '', tone: 'none' },
  { word: 'Healthy', glyph: '✔', tone: 'good' },
  { word: 'Suspended', glyph: '‖', tone: 'faint' },
  { word: 'Unknown', glyph: '?', tone: 'faint' },
  { word: 'Progressing', glyph: '◌', tone: 'info' },
  { word: 'Missing', glyph: '○', tone: 'bad' },
  { word: 'Degraded', glyph: '✖', tone: 'bad' },
] as const

/** In place of the health of a missing object that is only optionally needed. */
export const optional = 'optional, missing'

/** Health from this number on is unhealthy. */
export const trouble = 4

export const relations = ['', 'owns', 'needs', 'serves'] as const

/** Hundredths of a currency: "1,234.50", or "USD 1,234.50". */
export function money(cents: number, currency = ''): string {
  const all = String(Math.abs(cents)).padStart(3, '0')
  return (currency && currency + ' ') + (cents < 0 ? '−' : '') + count(all.slice(0, -2)) + '.' + all.slice(-2)
}

/** What a cost means that is not shared with all other stacks, by UIState.sharedAmong. */
export const sharing: { [among: string]: string | undefined } = { alone: ' alone, for all that it needs', requested: ', shared among the requested stacks', namespace: ', shared within the namespace' }

/** The share of a whole: "1/3", or "42 %". */
export function shareOf(part: number, whole: number): string {
  for (let of = 2; of <= 12; of++) for (let n = 1; n < of; n++) if (Math.abs(part - whole * n / of) <= 1) return n + '/' + of
  return Math.round(part / whole * 100) + ' %'
}

/** A count with separators: "5,000". Intl is a hundred times slower, too slow for trees. */
export const count = (n: number | string) => String(n).replace(/\B(?=(\d{3})+$)/g, ',')

/** "1 pod", "12 pods". */
export const plural = (n: number, one: string, pluralForm = one + 's') => `${count(n)} ${n === 1 ? one : pluralForm}`

/** CPU from thousandths of a core, as the command writes it: in cores if large. */
export const cpu = (milli: number) => milli < 10_000 ? milli + 'm' : String(Math.round(milli / 10) / 100)

/** Bytes in the largest binary unit with a value of at least 1. */
export function bytes(n: number): string {
  let unit = 0
  for (; Math.abs(n) >= 1024 && unit < 6; unit++) n /= 1024
  const places = unit > 0 && n < 10 ? 10 : 1
  return Math.round(n * places) / places + ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'][unit]
}

/** A duration in the format of kubectl: "45s", "108m", "6h28m", "11d". */
export function age(seconds: number): string {
  const s = Math.max(0, Math.floor(seconds)), m = Math.floor(s / 60), h = Math.floor(m / 60), d = Math.floor(h / 24), y = Math.floor(d / 365)
  const two = (a: number, b: number, big: string, small: string) => a + big + (b ? b + small : '')
  if (s < 120) return s + 's'
  if (m < 10) return two(m, s % 60, 'm', 's')
  if (m < 180) return m + 'm'
  if (h < 8) return two(h, m % 60, 'h', 'm')
  if (h < 48) return h + 'h'
  if (d < 8) return two(d, h % 24, 'd', 'h')
  if (y < 2) return d + 'd'
  return y < 8 ? two(y, d % 365, 'y', 'd') : y + 'y'
}

/** A point in time in the time zone of the browser: "2026-09-14 09:30". */
export function moment(at: string | number): string {
  const d = new Date(typeof at === 'number' ? at * 1000 : at)
  if (isNaN(+d)) return String(at)
  return new Date(+d - d.getTimezoneOffset() * 60_000).toISOString().slice(0, 16).replace('T', ' ')
}

/** The parts of Kind.group/namespace/name. */
export function parse(ref: string): { kind: string; group: string; namespace: string; name: string } {
  const [type = '', ...rest] = ref.split('/'), dot = type.indexOf('.')
  const name = rest.pop() ?? ''
  return { kind: dot < 0 ? type : type.slice(0, dot), group: dot < 0 ? '' : type.slice(dot + 1), namespace: rest.join('/'), name }
}

/** Text of a cluster with control characters, and those that reorder or hide text, as escapes: as the
    terminal shows it. */
export const visible = (text: string) => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{DI}]/gu, (c) => {
  const code = c.codePointAt(0)!
  return { 9: '\\t', 10: '\\n', 13: '\\r' }[code] ?? (code < 128 ? '\\x' + code.toString(16).padStart(2, '0') : code < 65536 ? '\\u' + code.toString(16).padStart(4, '0') : '\\U' + code.toString(16).padStart(8, '0'))
})

/** Kind/name, without group and namespace. */
export function short(ref: string): string {
  const { kind, name } = parse(ref)
  return visible(name ? kind + '/' + name : ref)
}

/** Quotes an argument for a shell. */
export const quote = (arg: string) => /^[\w@%+=:,./-]+$/.test(arg) ? arg : "'" + arg.replace(/'/g, "'\\''") + "'"

/** The words of a search, all of which must match. */
export const wordsOf = (search: string) => search.toLowerCase().split(/\s+/).filter(Boolean)

export const capital = (text: string) => text[0].toUpperCase() + text.slice(1)

/** A kind as Kind.group. */
export const kindKey = (k: { kind: string; group?: string }) => k.kind + (k.group ? '.' + k.group : '')

/** The namespace flag of kubectl. */
export const inNamespace = (namespace = '', all = false) => namespace ? ['-n', namespace] : all ? ['-A'] : []

/** The flags that make a command read the source of this page. */
export function readFrom({ source = '', flags = {} }: { source?: string; flags?: { [name: string]: string } }): string[] {
  if (flags.from) return ['--from', flags.from]
  const [kind, ...name] = source.split(' ')
  if (kind === 'snapshot') return ['--from', name.join(' ')]
  const context = kind === 'context' ? ['--context', name.join(' ')] : []
  // A file is read elsewhere, by another user.
  return FILE ? context : [...context, ...['kubeconfig', 'cluster', 'user', 'server', 'as', 'as-uid', 'as-group'].flatMap((f) => (flags[f] ?? '').split('\n').filter(Boolean).flatMap((v) => ['--' + f, v]))]
}

/** A command line, quoted for a shell. */
export const command = (...words: string[]) => words.map(quote).join(' ')

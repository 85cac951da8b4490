// Two stacks side by side: what they cost, what of that they share, and how they are.

import type { ComponentChildren } from 'preact'
import { Health, Link } from './bits.tsx'
import type { Page } from './page.ts'
import type { Stack } from './ui_state.ts'
import { stackCosts } from './table.ts'
import { bytes, cpu, kindKey, money, plural, shareOf, short } from './words.ts'

/** This view stores the compared stacks in the labels of the choice. */
export function Compare({ page }: { page: Page }) {
  const stacks = page.uiState.stacks.filter((s) => s.cost !== undefined).sort((a, b) => b.cost! - a.cost!), { labels } = page.choice
  if (stacks.length < 2) return null
  const a = stacks.find((s) => s.name === labels[0]) ?? stacks[0], b = stacks.find((s) => s.name === labels[1] && s !== a) ?? stacks.find((s) => s !== a)!
  const pick = (label: string, at: Stack, other: Stack, to: (name: string) => string[]) => (
    <label><span class="unseen">{label} stack</span><select value={at.name} onChange={(e) => page.set({ labels: to(e.currentTarget.value) }, true)}>{stacks.map((s) => <option key={s.name} value={s.name} disabled={s === other}>{short(s.name)}</option>)}</select></label>
  )
  const both = common(a, b)
  return (
    <section class="compare" aria-labelledby="compare-title">
      <h3 id="compare-title">Side by side</h3>
      <div class="scroll" role="region" aria-label="Two stacks side by side" tabIndex={0}>
        <table>
          <thead><tr><td /><th scope="col">{pick('First', a, b, (name) => [name, b.name])}</th><th scope="col">{pick('Second', b, a, (name) => [a.name, name])}</th><th scope="col" class="num">Difference</th></tr></thead>
          <tbody>{rowsOf(page, a, b).map(([name, x, y, difference]) => <tr key={name}><th scope="row">{name}</th><td class="num">{x}</td><td class="num">{y}</td><td class="num">{difference}</td></tr>)}</tbody>
        </table>
      </div>
      {both.length > 0 ? <ul class="compare-both">{both.map(({ id, whole, x, y }) => <li key={id}>Both need <Link page={page} to={page.inStack(a.name, page.ref(id))} class="link"><bdi>{short(page.ref(id))}</bdi></Link> of {money(whole, page.uiState.currency)}: {short(a.name)} pays {shareOf(x, whole)}, {short(b.name)} {shareOf(y, whole)}.</li>)}</ul>
        : <p class="faint">They share nothing that costs.</p>}
    </section>
  )
}

/** The topmost shared objects that both pay for. */
export function common(a: Stack, b: Stack): { id: number; whole: number; x: number; y: number }[] {
  const priced = (s: Stack) => new Map(s.tree.filter((p) => !p.a && p.q !== undefined && p.c !== undefined).map((p) => [p.n, p]))
  const mine = priced(a), theirs = priced(b), out: { id: number; whole: number; x: number; y: number }[] = []
  let within = Infinity
  a.tree.forEach((p, i) => {
    const depth = p.d ?? 0, other = theirs.get(p.n)
    if (depth > within) return
    within = Infinity
    if (mine.get(p.n) !== p || !other || isWay(a, i)) return
    out.push({ id: p.n, whole: p.q!, x: p.c!, y: other.c! })
    within = depth
  })
  return out
}

/** Whether a place costs only what stands behind it, as a Service does: that is what is shared. */
function isWay({ tree }: Stack, at: number): boolean {
  const p = tree[at]
  for (let i = at + 1; i < tree.length && (tree[i].d ?? 0) > (p.d ?? 0); i++) if (tree[i].q === p.q && tree[i].w !== 'owned') return true
  return false
}

type Row = [name: string, a: ComponentChildren, b: ComponentChildren, difference: ComponentChildren]

function rowsOf(page: Page, a: Stack, b: Stack): Row[] {
  const { currency = '' } = page.uiState, none = <span class="faint">–</span>, costs = stackCosts([a, b]).rows, of = (s: Stack) => costs.find((r) => r.name === s.name)!
  const amount = (name: string, x: number | undefined, y: number | undefined, say: (v: number) => string): Row =>
    [name, x === undefined ? none : say(x), y === undefined ? none : say(y), x === undefined || y === undefined ? none : (x >= y ? '+' : '−') + say(Math.abs(x - y))]
  const shared = (s: Stack) => s.tree.reduce((n, p) => n + (p.p ? p.o ?? 0 : 0), 0), parts = [...new Set([of(a), of(b)].flatMap((r) => Object.keys(r.parts ?? {})))]
  const kinds = (s: Stack) => new Set(s.tree.map((p) => page.uiState.nodes[p.n]).filter((n) => n).map((n) => kindKey(page.kind(n!)))).size
  return [
    ['Health', <Health value={a.health} />, <Health value={b.health} />, ''],
    amount(`Cost, ${currency}`, a.cost, b.cost, money), amount('of that its own', a.cost! - shared(a), b.cost! - shared(b), money), amount('of that shared', shared(a), shared(b), money),
    ...parts.map((part) => amount('for ' + part, of(a).parts?.[part] ?? 0, of(b).parts?.[part] ?? 0, money)),
    ['Pods', a.pods?.[0] ?? none, b.pods?.[0] ?? none, ''],
    amount('CPU, its share', a.usage?.c, b.usage?.c, cpu), amount('Memory, its share', a.usage?.m, b.usage?.m, bytes),
    ['Objects', plural(a.objects, 'object'), plural(b.objects, 'object'), ''], ['Kinds', kinds(a), kinds(b), ''],
  ]
}

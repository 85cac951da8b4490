// How two objects hang together, and what goes with one: panels of the details.

import { useMemo, useState } from 'preact/hooks'
import { focusOn } from './bits.tsx'
import { Few, To, Why, passive } from './details.tsx'
import { impact, type Dependent } from './impact.ts'
import { path } from './path.ts'
import type { Page } from './page.ts'
import { count, plural, relations, short, wordsOf } from './words.ts'

/** So many objects are offered. */
const most = 30

/** The path from an object to another one, which is chosen here. */
export function PathPanel({ page, id }: { page: Page; id: number }) {
  const { to } = page.choice, end = to ? page.find(to) : -1, [text, type] = useState('')
  const steps = useMemo(() => end < 0 ? null : path(page, id, end), [page.picture.nodes, id, end])
  // What was pressed is gone then, so that the focus goes to the title.
  const choose = (to: string) => {
    type('')
    page.set({ to })
    focusOn('#path-title')
  }
  const words = wordsOf(text), offered: number[] = []
  if (words.length) {
    for (let i = 0; i < page.picture.nodes.length && offered.length < most; i++) {
      if (page.picture.nodes[i] && i !== id && words.every((w) => page.ref(i).toLowerCase().includes(w))) offered.push(i)
    }
  }
  return (
    <section class="details-panel">
      <h3 id="path-title" tabIndex={-1}>Path from {short(page.ref(id))}{end >= 0 && ' to ' + short(to)}</h3>
      {end < 0 && (
        <>
          <label>To <input type="search" value={text} placeholder="kind or name" autocomplete="off" onInput={(e) => type(e.currentTarget.value)} /></label>
          <p role="status" class="faint">{words.length > 0 && (offered.length === most ? `the first ${most} objects` : plural(offered.length, 'object'))}</p>
          <ul class="details-list">{offered.map((i) => <li key={i}><button type="button" class="link" title={page.ref(i)} onClick={() => choose(page.ref(i))}>{short(page.ref(i))}</button> <span class="faint">{page.namespace(page.node(i))}</span></li>)}</ul>
        </>
      )}
      {end >= 0 && (
        <>
          {end === id && <p>That is the object itself.</p>}
          {!steps && <p>Nothing leads from one to the other. What all stand on, such as nodes and namespaces, relates nothing.</p>}
          {steps && steps.length > 0 && (
            <ol class="details-path">
              <li><To page={page} id={id} /></li>
              {steps.map(({ arrow: { from, to, edge }, against }, i) => (
                <li key={i}><span class={'graph-' + relations[edge.r]}>{against ? 'is ' + passive[edge.r] : relations[edge.r]}</span> <To page={page} id={against ? from : to} /><Why page={page} edge={edge} /></li>
              ))}
            </ol>
          )}
          <button type="button" onClick={() => choose('')}>Another object</button>
        </>
      )}
    </section>
  )
}

/** What happens to others when an object goes. */
export function ImpactPanel({ page, id }: { page: Page; id: number }) {
  const im = useMemo(() => impact(page, id), [page.picture.nodes, id])
  const suffers = (all: Dependent[]) => <Few of={all}>{(d) => <><To page={page} id={d.id} />{d.optional && <b> does without</b>}{' '}<span class="faint">{d.arrow.from === d.id ? relations[d.arrow.edge.r] : 'is ' + passive[d.arrow.edge.r]}</span> <To page={page} id={d.cause} /></>}</Few>
  const parts = [
    [['is deleted with it', 'are deleted with it'], im.deleted.length, 'what it owns goes when its last owner goes', <Few of={im.deleted}>{(x) => <To page={page} id={x} />}</Few>],
    [['is orphaned', 'are orphaned'], im.orphaned.length, 'an owner goes, and another one is left, so that it stays', <Few of={im.orphaned}>{(x) => <To page={page} id={x} />}</Few>],
    [['suffers directly', 'suffer directly'], im.direct.length, 'it needs what goes', suffers(im.direct)],
    [['suffers then', 'suffer then'], im.through.length, 'it owns, fronts or needs what suffers', suffers(im.through)],
  ] as const
  return (
    <section class="details-panel">
      <h3>If {short(page.ref(id))} goes</h3>
      {parts.every(([, n]) => !n) && <p>Nothing else goes, and nobody misses it, as far as was read.</p>}
      {parts.map(([what, n, why, list]) => n > 0 && <div key={what[0]}><h4>{plural(n, 'object')} {what[n === 1 ? 0 : 1]} <span class="faint">({why})</span></h4>{list}</div>)}
      {page.picture.objects > page.picture.nodes.length && <p class="faint">This is told of the {count(page.picture.nodes.length)} objects on this page, of {count(page.picture.objects)}.</p>}
    </section>
  )
}

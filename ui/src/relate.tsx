// The path between two objects, as a panel of the details.

import { useMemo, useState } from 'preact/hooks'
import { focusOn } from './bits.tsx'
import { To, Why, passive } from './details.tsx'
import { path } from './path.ts'
import type { Page } from './page.ts'
import { plural, relations, short, wordsOf } from './words.ts'

/** The maximum of offered objects. */
const maxShown = 30

/** The path from an object to another one, with a search for that object. */
export function PathPanel({ page, id }: { page: Page; id: number }) {
  const { to } = page.choice, end = to ? page.find(to) : -1, [text, type] = useState('')
  const steps = useMemo(() => end < 0 ? null : path(page, id, end), [page.uiState.nodes, id, end])
  // The pressed button is removed: the title gets the focus.
  const choose = (to: string) => {
    type('')
    page.set({ to })
    focusOn('#path-title')
  }
  const words = wordsOf(text), offered: number[] = []
  if (words.length) {
    for (let i = 0; i < page.uiState.nodes.length && offered.length < maxShown; i++) {
      if (page.uiState.nodes[i] && i !== id && words.every((w) => page.ref(i).toLowerCase().includes(w))) offered.push(i)
    }
  }
  return (
    <section class="details-panel">
      <h3 id="path-title" tabIndex={-1}>Path from {short(page.ref(id))}{end >= 0 && ' to ' + short(to)}</h3>
      {end < 0 && (
        <>
          <label>To <input type="search" value={text} placeholder="kind or name" autocomplete="off" onInput={(e) => type(e.currentTarget.value)} /></label>
          <p role="status" class="faint">{words.length > 0 && (offered.length === maxShown ? `the first ${maxShown} objects` : plural(offered.length, 'object'))}</p>
          <ul class="details-list">{offered.map((i) => <li key={i}><button type="button" class="link" title={page.ref(i)} onClick={() => choose(page.ref(i))}>{short(page.ref(i))}</button> <span class="faint">{page.namespace(page.node(i))}</span></li>)}</ul>
        </>
      )}
      {end >= 0 && (
        <>
          {end === id && <p>That is the object itself.</p>}
          {!steps && <p>No relation connects them. Boundary objects that all use, such as nodes and namespaces, do not count.</p>}
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

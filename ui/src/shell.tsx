// The frame: header with totals and connection, navigation, and the current view.

import type { ComponentType } from 'preact'
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks'
import { Command, Health, Link, useMedia } from './bits.tsx'
import { Filters } from './filters.tsx'
import { Find } from './find.tsx'
import type { Page } from './page.ts'
import { viewNames } from './page.ts'
import type { Stack, ViewName } from './ui_state.ts'
import { shape, type Shape } from './shape.ts'
import { Causes, Stacks } from './stacks.tsx'
import { hasApps, unclaimed } from './table.ts'
import { Tree } from './tree.tsx'
import { age, capital, count, moment, money, plural, sharing, short } from './words.ts'

export const titles: { [view in ViewName]: string } = { stacks: 'Stacks', stack: 'Stack', costs: 'Costs', findings: 'Findings', regulation: 'Regulation', compose: 'Compose' }

export interface DialogProps { page: Page; which: 'help' | 'gaps' | 'file' | 'changes'; views: ViewName[]; close: () => void }

/** The views that are passed in. A saved page has no compose. */
export type Views = { [view in Exclude<ViewName, 'stacks' | 'stack' | 'compose'>]: ComponentType<{ page: Page }> } & { compose?: ComponentType<{ page: Page }>; graph: ComponentType<{ page: Page; shape: Shape }>; details: ComponentType<{ page: Page }>; dialogs: ComponentType<DialogProps> }

export function Shell({ page, views: { costs: Costs, findings: Findings, regulation: Regulation, compose: Compose, graph, details, dialogs: Dialogs } }: { page: Page; views: Views }) {
  const [, again] = useReducer((n: number) => n + 1, 0)
  const [dialog, show] = useState<'' | 'help' | 'gaps' | 'file' | 'changes'>('')
  // A layout effect, so that no change after the first UIState is missed.
  useLayoutEffect(() => page.watch(() => again(0)), [page])
  const views = viewNames.filter((v) => v !== 'compose' || Compose)
  useKeys(page, views, () => show('help'))
  usePrint(page)
  const { view, stack, root, node, to } = page.choice, main = useRef<HTMLElement>(null)
  useEffect(() => { document.title = `${view === 'stack' && stack ? short(stack) : titles[view]} · ${page.uiState.title} · System Operator` }, [view, stack, page.uiState.title])
  // The focused element may be removed with the view or with a part of the choice.
  const drawn = useRef(false)
  useEffect(() => {
    if (drawn.current && document.activeElement === document.body) main.current!.focus()
    drawn.current = true
  }, [view, stack, root, node, to])
  return (
    <>
      <a class="skip" href="#content" onClick={(e) => { e.preventDefault(); main.current!.focus() }}>Skip to the content</a>
      <Header page={page} />
      <div class="views">
        <nav aria-label="Views">
          <ul>
            {views.map((v) => (
              <li key={v}><button type="button" aria-current={v === view ? 'page' : undefined} onClick={() => page.go(v)}>{titles[v]}</button></li>
            ))}
          </ul>
        </nav>
        <About page={page} show={show} />
      </div>
      <main id="content" ref={main} tabIndex={-1} class={'view-' + view}>
        {view === 'stacks' && <Stacks page={page} />}
        {view === 'stack' && <StackView page={page} graph={graph} details={details} />}
        {view === 'costs' && <Costs page={page} />}
        {view === 'findings' && <Findings page={page} />}
        {view === 'regulation' && <Regulation page={page} />}
        {view === 'compose' && (Compose ? <Compose page={page} /> : <section class="panel" aria-label="Compose"><p>A saved page cannot read the cluster. Compose a System on the page that this command serves:</p><Command text="kubectl sysop ui --open" /></section>)}
      </main>
      {dialog && <Dialogs page={page} which={dialog} views={views} close={() => show('')} />}
    </>
  )
}

/** Shows all of a view while it is printed, with what is folded in it. */
function usePrint(page: Page) {
  useEffect(() => {
    const opened: HTMLDetailsElement[] = []
    const before = () => {
      page.print(true)
      // After the rendering, which may replace them.
      queueMicrotask(() => { for (const d of document.querySelectorAll<HTMLDetailsElement>('main details:not([open])')) { d.open = true; opened.push(d) } })
    }
    const after = () => {
      page.print(false)
      for (const d of opened.splice(0)) d.open = false
    }
    addEventListener('beforeprint', before)
    addEventListener('afterprint', after)
    return () => { removeEventListener('beforeprint', before); removeEventListener('afterprint', after) }
  }, [page])
}

/** The page before the first UIState. */
export function Waiting({ message, failed }: { message: string; failed: boolean }) {
  return <main class="waiting"><h1>System Operator</h1><p role={failed ? 'alert' : 'status'} class={failed ? 'tone-bad' : 'faint'}>{message}</p></main>
}

function Header({ page }: { page: Page }) {
  const { uiState } = page
  const source = [uiState.source, uiState.namespace && 'namespace ' + uiState.namespace, LARGE && uiState.objects > uiState.nodes.length && `showing ${count(uiState.nodes.length)} of ${plural(uiState.objects, 'object')}, unhealthy ones included`].filter(Boolean).join(' · ')
  return (
    <header class="head">
      <h1>{!FILE && <img class="head-mark" src={document.querySelector<HTMLLinkElement>('[rel=icon]')!.href} alt="" width="22" height="22" />}{uiState.title}</h1>
      <p class="head-source" title={source}>{source}</p>
      <Totals page={page} />
      <Find page={page} />
    </header>
  )
}

/** What is to be known of the page and done with it. */
function About({ page, show }: { page: Page; show: (dialog: 'help' | 'gaps' | 'file' | 'changes') => void }) {
  const { uiState } = page, missing = (uiState.gaps?.length ?? 0), notes = (uiState.notes?.length ?? 0) + Object.keys(uiState.parts ?? {}).length
  return (
    <section class="views-end" aria-label="This page">
      <Connected page={page} />
      {missing + notes > 0 && (
        <button type="button" class={missing ? 'tone-warn' : ''} aria-haspopup="dialog" onClick={() => show('gaps')}>
          {missing ? <><span aria-hidden="true">▲</span> {count(missing)} not read</> : plural(notes, 'note')}
        </button>
      )}
      {/* There from the start, so that nothing below moves when health changes. */}
      {!FILE && uiState.mode === 'live' && <button type="button" aria-haspopup="dialog" disabled={!page.changes.length} onClick={() => show('changes')}>{page.changes.length ? plural(page.changes.length, 'change') : 'no changes'} of health</button>}
      {!FILE && <button type="button" aria-haspopup="dialog" onClick={() => show('file')}>Save</button>}
      <button type="button" aria-haspopup="dialog" aria-label="Keys and help" onClick={() => show('help')}>?</button>
    </section>
  )
}

/** The number of stacks by health, the worst first, and the total cost. */
function Totals({ page }: { page: Page }) {
  const { stacks, currency, window } = page.uiState
  const own = stacks.some((s) => !s.cluster) ? stacks.filter((s) => !s.cluster) : stacks
  const priced = stacks.filter((s) => s.cost !== undefined), volumes = unclaimed(page.uiState)
  return (
    <ul class="totals" aria-label="Totals">
      {[6, 5, 4, 3, 2, 1].map((h) => {
        const n = own.reduce((sum, s) => sum + ((s.health ?? 0) === h ? 1 : 0), 0)
        return n > 0 && <li key={h}><button type="button" class="chip" onClick={() => { page.go('stacks'); page.set({ health: [h], search: '' }) }}>{count(n)} <Health value={h} /></button></li>
      })}
      {own.length === 0 && <li class="faint">no stacks</li>}
      {priced.length > 0 && <li class="head-cost"><b>{money(priced.reduce((sum, s) => sum + s.cost!, 0), currency)}</b> {window ? 'in ' + age(window.hours * 3600) : 'a month'}{volumes && <span class="head-more"> and {money(volumes.cost)} for unclaimed volumes</span>}</li>}
    </ul>
  )
}

/** The state of the connection. The age is outside of the status, so that screen readers announce changes of state only. */
function Connected({ page }: { page: Page }) {
  if (FILE) return <p class="connected"><span role="status" class="tone-faint"><span aria-hidden="true">■</span> file of {moment(page.uiState.at)}</span></p>
  const [, tick] = useReducer((n: number) => n + 1, 0)
  const { state, why, at } = page.connection, { mode, at: read } = page.uiState
  useEffect(() => {
    if (state === 'still') return
    const timer = setInterval(() => { if (!document.hidden) tick(0) }, 1000)
    return () => clearInterval(timer)
  }, [state])
  const ago = at ? age((Date.now() - at) / 1000).replace(/^(\d+)s$/, '$1 s') + ' ago' : ''
  const [glyph, tone, text] = {
    live: ['●', 'good', 'live'], stale: ['▲', 'warn', 'stale: ' + why], ended: ['✖', 'bad', why],
    still: ['■', 'faint', `${mode === 'file' ? 'file' : 'snapshot'} of ${moment(read)}`],
  }[state]
  return (
    <p class="connected">
      <span role="status" class={'tone-' + tone}><span aria-hidden="true">{glyph}</span> {text}</span>
      {state !== 'still' && ago && <span class="faint"> · {ago}</span>}
    </p>
  )
}

/** Single keys can be disabled, for users of speech input. */
export const keys = {
  get on() { if (FILE) return true; try { return localStorage.getItem('sysop-keys') !== 'off' } catch { return true } },
  set on(on) { if (!FILE) try { localStorage.setItem('sysop-keys', on ? 'on' : 'off') } catch { /* not stored */ } },
}

function useKeys(page: Page, views: ViewName[], help: () => void) {
  useEffect(() => {
    const press = (e: KeyboardEvent) => {
      const at = e.target as HTMLElement
      if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || !keys.on) return
      if (at.closest?.('input, select, textarea, dialog, [contenteditable]')) return
      const view = views[+e.key - 1]
      if (view) page.go(view)
      else if (e.key === '?') help()
      else if (e.key === 't' && page.choice.view === 'stacks') page.set({ as: page.choice.as ? '' : 'table' }, true)
      else if (e.key === 'n' && page.choice.view === 'stacks') nextBroken()
      else if (e.key === 'g' && page.choice.view === 'stacks' && (page.choice.group || hasApps(page))) page.set({ group: page.choice.group ? '' : 'app' }, true)
      else if (e.key === 'c' && page.choice.view === 'stacks') page.set({ tone: page.choice.tone ? '' : 'cost' }, true)
      else if (!FILE && e.key === 'i' && page.choice.view === 'stack' && page.selected() >= 0) page.toggleImpact()
      else if (e.key === '/') document.getElementById('find')?.focus()
      else return
      e.preventDefault()
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [page, views.length])
}

/** Moves the focus to the next card in trouble. */
function nextBroken(): void {
  const all = [...document.querySelectorAll<HTMLElement>('main a.card-bad')], at = all.indexOf(document.activeElement as HTMLElement)
  all[(at + 1) % all.length]?.focus()
}

/** The breadcrumbs, and the chosen objects that no longer exist. */
function Trail({ page, stack }: { page: Page; stack: Stack | undefined }) {
  const { choice } = page, gone = page.gone(), { root } = choice
  return (
    <div class="trail-all">
      <nav class="trail" aria-label="Where">
        <ol>
          <li><Link page={page} to={page.last('stacks')} class="link">Stacks</Link></li>
          {choice.stack && <li>{root ? <button type="button" class="link" onClick={() => page.set({ root: '' }, true)}>{short(choice.stack)}</button> : <span aria-current="location">{short(choice.stack)}</span>}</li>}
          {root && <li><span aria-current="location">{short(root)}</span>{choice.stack && <> <button type="button" onClick={() => page.set({ root: '' }, true)}>Back to the whole stack</button></>}</li>}
        </ol>
        {stack && !root && <p class="trail-says"><Health value={stack.health} /> <span class="faint">{stack.namespace} · {plural(stack.objects, 'object')}{stack.cost !== undefined && ' · ' + money(stack.cost, page.uiState.currency) + (sharing[page.uiState.sharedAmong!] ?? '')}</span></p>}
        {stack && !root && <Causes page={page} stack={stack} />}
      </nav>
      <div role="status">
        {gone.map(({ what, ref }) => (
          <p key={what} class="gone">
            <span class="tone-warn"><span aria-hidden="true">▲</span> {ref} {FILE ? 'is not in this file' : 'is gone'}</span>
            <button type="button" onClick={() => what === 'stack' ? page.go('stacks') : page.set({ [what]: '' })}>{what === 'stack' ? 'To the stacks' : 'Let go'}</button>
          </p>
        ))}
      </div>
    </div>
  )
}

/** Requests the stack of a root that is in no tree of the UIState; returns the error. */
function useRooted(page: Page): string {
  const { root } = page.choice, { topology, server } = page, id = root ? page.find(root) : -1
  const inStack = id < 0 || !!page.uiState.stacks.find((s) => s.name === page.choice.stack)?.tree.some((p) => p.n === id)
  const [error, fail] = useState('')
  useEffect(() => {
    fail(inStack || !FILE && server ? '' : 'it is in no stack of this file')
    if (inStack) page.rooted = null
    if (FILE || inStack || !server) return
    const run = new AbortController()
    server.get<Stack>('stack', { root }, run.signal).then(
      (stack) => { page.rooted = { root, stack }; page.tell() },
      (e: Error) => run.signal.aborted || fail(e.message),
    )
    return () => run.abort()
  }, [root, inStack, topology])
  return error
}

function StackView({ page, graph: Graph, details: Details }: { page: Page } & Pick<Views, 'graph' | 'details'>) {
  const stack = page.stack(), narrow = useMedia('(max-width: 760px)') && !page.printing, error = useRooted(page)
  const [tab, setTab] = useState<'tree' | 'graph' | 'details'>(page.choice.show === 'graph' ? 'graph' : 'tree')
  const panel = useRef<HTMLElement>(null), from = useRef<HTMLElement | null>(null)
  const hasDetails = (page.choice.node || page.choice.impact) !== '' && page.details
  const shut = () => {
    page.details = false
    setTab(page.choice.show === 'graph' ? 'graph' : 'tree')
    page.tell()
    requestAnimationFrame(() => (from.current?.isConnected ? from.current : document.querySelector<HTMLElement>('main [role=treegrid] [tabindex="0"]'))?.focus())
  }
  useEffect(() => {
    page.toDetails = () => {
      from.current = document.activeElement as HTMLElement
      page.details = true
      setTab('details')
      page.tell()
      requestAnimationFrame(() => requestAnimationFrame(() => panel.current?.focus()))
    }
    return () => { page.toDetails = () => {} }
  }, [page])
  if (!stack) return <><div class="stack-head"><Trail page={page} stack={stack} /></div>{!page.choice.stack && <p class="lacks">There is no stack here. <button type="button" class="link" onClick={() => page.go('stacks')}>To the stacks</button></p>}</>
  const s = shape(page, stack), shows = (name: 'tree' | 'graph' | 'details') => narrow ? tab === name : name === 'details' ? hasDetails : page.choice.show === 'both' || page.choice.show === name
  return (
    <>
      <div class="stack-head">
        <Trail page={page} stack={stack} />
        <div class="switch" role="group" aria-label="Show">
          {(narrow ? ['tree', 'graph', 'details'] as const : ['tree', 'both', 'graph'] as const).map((t) => (
            <button key={t} type="button" aria-pressed={(narrow ? tab : page.choice.show) === t} onClick={() => narrow ? setTab(t as typeof tab) : page.set({ show: t as 'both' })}>{capital(t)}</button>
          ))}
        </div>
      </div>
      {error && <p class="lacks" role="status">{short(page.choice.root)} cannot be shown as a root: {error}</p>}
      {!(narrow && tab === 'details') && <Filters page={page} />}
      <div class="stack-panes">
        {shows('tree') && <div class="pane pane-tree"><Tree page={page} shape={s} /></div>}
        {shows('graph') && <div class="pane pane-graph"><Graph page={page} shape={s} /></div>}
        {shows('details') && (
          <aside class="pane pane-details" id="details" aria-label="Details" ref={panel} tabIndex={-1} onKeyDown={(e) => { if (e.key === 'Escape' && !e.defaultPrevented) { e.preventDefault(); shut() } }}>
            {hasDetails && <button type="button" class="details-shut" onClick={shut} aria-label="Close the details">✕</button>}
            <Details page={page} />
          </aside>
        )}
      </div>
    </>
  )
}

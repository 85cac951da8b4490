// The dialogs: gaps, keys, saving the page.

import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Command, Health, Ref } from './bits.tsx'
import type { Page } from './page.ts'
import { Save } from './save.tsx'
import type { UIState, ViewName } from './ui_state.ts'
import { type DialogProps, keys, titles } from './shell.tsx'
import { age, command, inNamespace, moment, plural } from './words.ts'

export function Dialogs({ page, which, views, close }: DialogProps) {
  if (!FILE && which === 'changes') return <Changes page={page} close={close} />
  return which === 'help' ? <Help close={close} views={views} /> : FILE || which === 'gaps' ? <Gaps uiState={page.uiState} close={close} /> : (
    <Dialog title="Save" close={close}><Save page={page} /></Dialog>
  )
}

/** What changed the health of stacks since the page is open. */
function Changes({ page, close }: { page: Page; close: () => void }) {
  return (
    <Dialog title="Health since the page is open" close={close}>
      <table>
        <thead><tr><th scope="col">When</th><th scope="col">Stack</th><th scope="col">From</th><th scope="col">To</th><th scope="col">Cause</th></tr></thead>
        <tbody>{page.changes.map((c, i) => (
          <tr key={i}><td>{moment(c.at)} <span class="faint">{age(page.now() - c.at)} ago</span></td><th scope="row"><Ref page={page} target={c.stack} /></th><td><Health value={c.from} /></td><td><Health value={c.to} /></td><td>{c.cause && <Ref page={page} target={c.cause} stack={c.stack} />}</td></tr>
        ))}</tbody>
      </table>
    </Dialog>
  )
}

function Gaps({ uiState, close }: { uiState: UIState; close: () => void }) {
  const { gaps = [], notes = [], parts = {} } = uiState
  const forbidden = (gaps ?? []).filter((g) => g.reason === 'Forbidden')
  return (
    <Dialog title="What is not here, and why" close={close}>
      {gaps?.length > 0 && (
        <div class="scroll" tabIndex={0} role="region" aria-label="Not read">
          <table>
            <caption>{plural(gaps.length, 'resource')} not read</caption>
            <thead><tr><th scope="col">What</th><th scope="col">Where</th><th scope="col">Why</th></tr></thead>
            <tbody>{gaps.map((g, i) => <tr key={i}><th scope="row">{g.resource}</th><td>{g.namespace ?? 'all namespaces'}</td><td><b>{g.reason}</b> {g.message}</td></tr>)}</tbody>
          </table>
        </div>
      )}
      {forbidden.length > 0 && (
        <>
          <p>Missing permissions: <b>get, list, watch</b> of {[...new Set(forbidden.map((g) => g.resource))].join(', ')}. This command asks the cluster about one of them:</p>
          <Command text={command('kubectl', 'auth', 'can-i', 'list', forbidden[0].resource, ...inNamespace(forbidden[0].namespace, true))} />
        </>
      )}
      {Object.keys(parts ?? {}).length > 0 && <dl>{Object.entries(parts!).map(([part, reason]) => <div key={part}><dt>{part}</dt><dd>{reason}</dd></div>)}</dl>}
      {notes?.length > 0 && (
        <ul>{notes.map((n, i) => <li key={i}>{[n.source, n.about].filter(Boolean).join(' · ')} <b>{n.reason}</b> {n.message}</li>)}</ul>
      )}
    </Dialog>
  )
}

function Help({ close, views }: { close: () => void; views: ViewName[] }) {
  const [on, set] = useState(keys.on)
  const list: [string, string][] = [
    [`1 ... ${views.length}`, views.map((v) => titles[v]).join(', ')], ['/', 'search'], ['t', 'the stacks as a map or a table'], ['n', 'the next broken stack of the map'], ['g', 'group the map by namespace or by System app'], ['c', 'tone the map by cost'], ['i', 'the impact of the selected object'], ['?', 'this list'],
    ['arrows, Home, End, Page Up, Page Down', 'in the tree: move; in the graph: parent, child, siblings'], ['Right, Left', 'in the tree: open, close'],
    ['a letter', 'in the tree: the next object that begins with it'], ['Enter', 'to the details of the selected object'], ['Esc', 'back from the details, and out of a window'],
    ['f, +, −', 'in the graph: fit, zoom'], ['Shift and arrows', 'in the graph: move the window'],
  ]
  return (
    <Dialog title="Keys" close={close}>
      <dl class="keys">{list.map(([key, meaning]) => <div key={key}><dt><kbd>{key}</kbd></dt><dd>{meaning}</dd></div>)}</dl>
      {!FILE && <p><label><input type="checkbox" checked={on} onChange={(e) => { keys.on = e.currentTarget.checked; set(e.currentTarget.checked) }} /> single keys (1 ... {views.length}, /, ?) anywhere on the page</label></p>}
      <p>Health: {[1, 4, 6, 5, 2, 3].map((h) => <span key={h}><Health value={h} />{'  '}</span>)}. The address has all that is chosen; Back goes back.</p>
    </Dialog>
  )
}

/** A modal dialog. The browser handles focus and Esc. */
function Dialog({ title, close, children }: { title: string; close: () => void; children: ComponentChildren }) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => { dialog.current!.showModal() }, [])
  return (
    <dialog ref={dialog} class="dialog" aria-labelledby="dialog-title" onClose={close} onClick={(e) => { if (e.target === dialog.current) dialog.current?.close() }}>
      <div class="dialog-in">
        <div class="dialog-head">
          <h2 id="dialog-title">{title}</h2>
          <button type="button" onClick={() => dialog.current!.close()}>Close</button>
        </div>
        {children}
      </div>
    </dialog>
  )
}

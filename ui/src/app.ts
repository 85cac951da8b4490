// Entry point of the live page, which reads from the server of kubectl sysop ui.

import { h, render } from 'preact'
import { lazy } from './lazy.tsx'
import { Page } from './page.ts'
import { Shell, type Views, Waiting } from './shell.tsx'
import { connect } from './server.ts'

const details = () => import('./details.tsx').then((m) => m.Details)
const graph = () => import('./graph.tsx').then((m) => m.Graph)
const reports = () => import('./reports.ts')
const views: Views = {
  costs: lazy(() => reports().then((m) => m.CostsView)),
  findings: lazy(() => reports().then((m) => m.Findings)),
  regulation: lazy(() => reports().then((m) => m.Regulation)),
  graph: lazy(graph),
  details: lazy(details),
  dialogs: lazy(() => reports().then((m) => m.Dialogs)),
  compose: lazy(() => import('./compose.tsx').then((m) => m.Compose)),
}

const mount = document.getElementById('page')!
const say = (message: string, failed = false) => render(h(Waiting, { message, failed }), mount)

connect((uiState, server) => {
  const page = new Page(uiState, server)
  render(h(Shell, { page, views }), mount)
  // Preloaded, so that a stack and details also open after the server has ended.
  setTimeout(() => Promise.all([graph(), details()]).catch(() => {}), 1000)
  return page
}, say).catch((e: Error) => say(e.message, true))

// The live page: it asks the program that serves it.

import { h, render } from 'preact'
import { lazy } from './lazy.tsx'
import { Page } from './page.ts'
import { Shell, type Views, Waiting } from './shell.tsx'
import { connect } from './server.ts'

const reports = () => import('./reports.ts')
const views: Views = {
  costs: lazy(() => reports().then((m) => m.CostsView)),
  findings: lazy(() => reports().then((m) => m.Findings)),
  regulation: lazy(() => reports().then((m) => m.Regulation)),
  dialogs: lazy(() => reports().then((m) => m.Dialogs)),
  compose: lazy(() => import('./compose.tsx').then((m) => m.Compose)),
}

const mount = document.getElementById('page')!
const say = (what: string, failed = false) => render(h(Waiting, { what, failed }), mount)

connect((picture, server) => {
  const page = new Page(picture, server)
  render(h(Shell, { page, views }), mount)
  return page
}, say).catch((e: Error) => say(e.message, true))

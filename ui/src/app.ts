// The live page: it asks the program that serves it.

import { h, render } from 'preact'
import { Compose } from './compose.tsx'
import { Page } from './page.ts'
import { Shell, Waiting } from './shell.tsx'
import { connect } from './server.ts'

const mount = document.getElementById('page')!
const say = (what: string, failed = false) => render(h(Waiting, { what, failed }), mount)

connect((picture, server) => {
  const page = new Page(picture, server)
  render(h(Shell, { page, compose: Compose }), mount)
  return page
}, say).catch((e: Error) => say(e.message, true))

// Entry point of the saved page, which contains its UIState and has no server.

import { h, render } from 'preact'
import { Details as details } from './details.tsx'
import { Graph as graph } from './graph.tsx'
import { Page } from './page.ts'
import type { UIState } from './ui_state.ts'
import { CostsView as costs, Dialogs as dialogs, Findings as findings, Regulation as regulation } from './reports.ts'
import { Shell } from './shell.tsx'

const uiState = JSON.parse(document.getElementById('picture')!.textContent!) as UIState
render(h(Shell, { page: new Page(uiState, null), views: { costs, graph, details, dialogs, findings, regulation } }), document.getElementById('page')!)

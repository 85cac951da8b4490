import { dashes } from './graph_draw.ts'
import type { Edge } from './ui_state.ts'
import { health } from './words.ts'

const lines: [string, string, Edge['v']][] = [
  ['owns', 'owns', 'owner'], ['needs', 'needs', 'spec'], ['serves', 'serves', 'label'],
]

/** The legend of lines and glyphs: relations have colours, the via of an edge has dashes; lines of the selected object are labelled. */
export function Legend() {
  return (
    <details class="graph-legend">
      <summary>Legend</summary>
      <ul>
        {health.slice(1).map((h) => <li key={h.word} class={'tone-' + h.tone}>{h.glyph} {h.word}</li>)}
      </ul>
      <ul>
        {lines.map(([word, color]) => <li key={word}><Dash color={color} via="owner" />{word}</li>)}
        {(Object.keys(dashes) as Edge['v'][]).map((via) => <li key={via}><Dash color="text" via={via} />via {via}</li>)}
      </ul>
      <p>Choose an object to see the word on each of its lines. Drag or Shift with arrows moves, the wheel zooms.</p>
    </details>
  )
}

function Dash({ color, via }: { color: string; via: Edge['v'] }) {
  return (
    <svg class={`graph-dash graph-${color}`} width="36" height="8" aria-hidden="true">
      <line x1="0" y1="4" x2="36" y2="4" stroke="currentColor" stroke-width="2" stroke-dasharray={dashes[via].join(' ') || undefined} />
    </svg>
  )
}

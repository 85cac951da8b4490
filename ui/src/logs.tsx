// The log of a pod: the last lines, read on demand, or the command that shows them.

import { useState } from 'preact/hooks'
import { Command, useAsk, Waits } from './bits.tsx'
import type { Page } from './page.ts'
import { command, count, parse, plural, readFrom } from './words.ts'

interface Log { containers: { name: string; restarted: boolean }[]; container: string; lines: string[]; omitted: number; unavailable?: string }

const tails = ['50', '200', '1000', '5000']

export function LogsPart({ page, target }: { page: Page; target: string }) {
  const { source = '' } = page.uiState, still = source.startsWith('snapshot')
  return (
    <section>
      <h3>Logs</h3>
      {FILE || !page.server || still
        ? <><p class="faint">{still ? 'A snapshot holds no logs.' : 'A saved page cannot read the cluster.'} This shows them:</p><Command text={commandOf(target, still ? {} : page.uiState)} /></>
        : <Lines key={target} page={page} target={target} />}
    </section>
  )
}

function commandOf(target: string, source: Parameters<typeof readFrom>[0], container = '', tail = '200', previous = false): string {
  const { name, namespace } = parse(target)
  return command('kubectl', 'logs', name, '-n', namespace, ...(container ? ['-c', container] : ['--all-containers']), '--tail=' + tail, ...(previous ? ['--previous'] : []), ...readFrom(source))
}

function Lines({ page, target }: { page: Page; target: string }) {
  const [open, set] = useState(false), [container, choose] = useState(''), [tail, limit] = useState('200'), [previous, earlier] = useState(false)
  const got = useAsk<Log>(page, open ? 'logs' : '', { ref: target, container, tail, previous: String(previous) }), { answer } = got
  const restarted = previous || answer?.containers.some((c) => c.restarted && c.name === answer.container)
  return (
    <details class="details-yaml" open={open} onToggle={(e) => set(e.currentTarget.open)}>
      <summary>The last lines of its log</summary>
      <div class="details-deeds">
        {(answer?.containers.length ?? 0) > 1 && <label>Container <select value={answer!.container || container} onChange={(e) => choose(e.currentTarget.value)}>{answer!.containers.map((c) => <option key={c.name}>{c.name}</option>)}</select></label>}
        <label>Lines <select value={tail} onChange={(e) => limit(e.currentTarget.value)}>{tails.map((n) => <option key={n} value={n}>{count(n)}</option>)}</select></label>
        {restarted && <label><input type="checkbox" checked={previous} onChange={(e) => earlier(e.currentTarget.checked)} /> before its last restart</label>}
        <button type="button" onClick={got.again}>Read again</button>
      </div>
      {open && <Waits request={got} label="reading the log" />}
      {answer?.unavailable && <p role="status"><span class="tone-warn"><span aria-hidden="true">▲</span> {answer.unavailable}</span></p>}
      {answer && !answer.unavailable && !answer.lines.length && <p role="status" class="faint">The log is empty.</p>}
      {!!answer?.omitted && <p class="faint">The oldest {plural(answer.omitted, 'line')} left out: all of it is more than 512 KiB.</p>}
      {!!answer?.lines.length && <pre class="details-log" tabIndex={0} role="region" aria-label={'Log of ' + answer.container}>{answer.lines.map((l, i) => <bdi key={i}>{l}{'\n'}</bdi>)}</pre>}
      <Command text={commandOf(target, page.uiState, answer?.container || container, tail, previous)} />
    </details>
  )
}

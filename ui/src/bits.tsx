// Small things that several views are made of.

import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Page } from './page.ts'
import type { UIState } from './ui_state.ts'
import { health, plural, short } from './words.ts'

/** Health by glyph and word. */
export function Health({ value }: { value: number | undefined }) {
  const { word, glyph, tone } = health[value ?? 0] ?? health[0]
  return word ? <span class={'mark tone-' + tone}><span aria-hidden="true">{glyph}</span> {word}</span> : <span class="faint">–</span>
}

/** A button that shows an object where it belongs. What the page does not have is but named. */
export function Ref({ page, target, stack }: { page: Page; target: string; stack?: string }) {
  const text = short(target)
  if (page.find(target) < 0) return <span class="ref">{text}</span>
  return <button type="button" class="link ref" title={target} onClick={() => stack ? page.open(stack, target) : page.reveal(target)}>{text}</button>
}

/** A bar beside an amount: decoration, since the amount stands beside it. */
export function Bar({ part }: { part: number }) {
  return <span class="bar" aria-hidden="true"><span style={{ width: Math.max(0, Math.min(100, part * 100)).toFixed(1) + '%' }} /></span>
}

/** What a part of the page says instead of what is not there. */
export function Notice({ children }: { children: ComponentChildren }) {
  return <div class="lacks">{children}</div>
}

/** A view of what nobody can be asked about: why, and the command that tells it. */
export function Absent({ title, reason, text }: { title: string; reason?: string; text: string }) {
  return (
    <section aria-labelledby="absent-title">
      <div class="bar-head"><h2 id="absent-title">{title}</h2></div>
      <Notice>{(reason ?? 'a saved page cannot read the cluster').replace(/\.?$/, '.')} <Command text={text} /></Notice>
    </section>
  )
}

/** Moves the focus to what comes with what is drawn next. */
export function focusOn(selector: string): void {
  requestAnimationFrame(() => document.querySelector<HTMLElement>(selector)?.focus())
}

/** That what is looked for may be among what could not be read. */
export function Unread({ gaps }: { gaps: UIState['gaps'] }) {
  const [first] = gaps ?? []
  return first ? <p><span class="tone-warn"><span aria-hidden="true">▲</span> {plural(gaps!.length, 'resource')} could not be read:</span> {first.resource}: {first.reason}: {first.message}{gaps!.length > 1 && ' ...'}</p> : null
}

/** A command, with a button that copies it. */
export function Command({ text }: { text: string }) {
  const [status, say] = useState('')
  const code = useRef<HTMLElement>(null)
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      say('copied')
    } catch {
      getSelection()?.selectAllChildren(code.current!)
      say('selected: copy it with the keyboard')
    }
  }
  return (
    <div class="command">
      <code ref={code}>{text}</code> <button type="button" onClick={copy}>Copy</button> <span role="status">{status}</span>
    </div>
  )
}

/** An answer of the server: undefined while it is waited for. */
export interface Asked<T> { answer?: T; error?: string; again: () => void; waiting: boolean }

/** Asks the server, anew whenever what is asked changes, or fresh does; nothing where path is empty.
    The last answer stays until there is another one to the same question. */
export function useAsk<T>(page: Page, path: string, query: { [key: string]: string } = {}, fresh: unknown = 0): Asked<T> {
  if (FILE) return { waiting: false, again: () => {} }
  const question = path && page.server ? path + '?' + new URLSearchParams(query) : ''
  const [attempt, next] = useState(0)
  const [got, set] = useState<{ question: string; answer?: T; error?: string; waiting: boolean }>({ question: '', waiting: false })
  useEffect(() => {
    if (!question) return
    const run = new AbortController()
    set((old) => ({ question, answer: old.question === question ? old.answer : undefined, waiting: true }))
    page.server!.get<T>(path, query, run.signal).then(
      (answer) => set({ question, answer, waiting: false }),
      (e: Error) => run.signal.aborted || set({ question, error: e.message, waiting: false }),
    )
    return () => run.abort()
  }, [question, attempt, fresh])
  const mine = got.question === question
  return { answer: mine ? got.answer : undefined, error: mine ? got.error : undefined, waiting: !mine || got.waiting, again: () => next((n) => n + 1) }
}

/** That something is waited for, or why it did not come, with a way to ask again. */
export function Waits({ request, label }: { request: Asked<unknown>; label: string }) {
  if (FILE) return null
  return (
    <p class="waits" role="status">
      {request.error ? <><span class="tone-bad"><span aria-hidden="true">✖</span> {label}: {request.error}</span> <button type="button" onClick={request.again}>Try again</button></>
        : request.waiting && request.answer === undefined && <span class="faint">{label} ...</span>}
    </p>
  )
}

/** Whether a media query holds. */
export function useMedia(query: string): boolean {
  const [holds, set] = useState(() => matchMedia(query).matches)
  useEffect(() => {
    const media = matchMedia(query), look = () => set(media.matches)
    look()
    media.addEventListener('change', look)
    return () => media.removeEventListener('change', look)
  }, [query])
  return holds
}

/** The head of a column that rows can be sorted by. */
export function Sort({ page, name, column, down, num, initial }: { page: Page; name: string; column: string; down?: boolean; num?: boolean; initial?: boolean }) {
  const { sort } = page.choice, mine = sort ? sort.replace(/^-/, '') === column : !!initial, turned = mine && sort[0] === '-', falls = turned !== !!down
  return (
    <th scope="col" class={num ? 'num' : ''} aria-sort={mine ? falls ? 'descending' : 'ascending' : undefined}>
      <button type="button" class="sort" onClick={() => page.set({ sort: mine && !turned ? '-' + column : column })}>{name}<span aria-hidden="true">{mine ? falls ? ' ▾' : ' ▴' : ''}</span></button>
    </th>
  )
}

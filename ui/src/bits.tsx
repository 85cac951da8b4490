// Small components that several views use.

import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { encode, type Choice, type Page } from './page.ts'
import type { UIState } from './ui_state.ts'
import { health, plural, short } from './words.ts'

/** Health as glyph and word. */
export function Health({ value }: { value: number | undefined }) {
  const { word, glyph, tone } = health[value ?? 0] ?? health[0]
  return word ? <span class={'mark tone-' + tone}><span aria-hidden="true">{glyph}</span> {word}</span> : <span class="faint">–</span>
}

/** A name that is shortened in the middle where there is no room: its end tells it from others. */
export function Name({ text }: { text: string }) {
  if (text.length <= 24) return <b>{text}</b>
  return <b class="name"><span class="unseen">{text}</span><span aria-hidden="true">{text.slice(0, -8)}</span><span aria-hidden="true">{text.slice(-8)}</span></b>
}

interface LinkProps { page: Page; to: Choice; id?: string; class?: string; title?: string; style?: { [name: string]: string }; region?: string; then?: () => void; children: ComponentChildren; onMouseEnter?: () => void; onMouseLeave?: () => void; onFocus?: () => void; onBlur?: () => void }

/** A link to a choice: it can be copied, and opened in another tab. */
export function Link({ page, to, class: more = '', region, then, children, ...rest }: LinkProps) {
  const go = (e: MouseEvent) => {
    if (e.button || e.ctrlKey || e.metaKey || e.shiftKey || e.altKey) return
    e.preventDefault()
    page.jump(to)
    then?.()
  }
  return <a {...rest} data-region={region} class={more} href={'#' + encode(to)} onClick={go}>{children}</a>
}

/** A link to an object in its stack; plain text if the page does not have the object. */
export function Ref({ page, target, stack }: { page: Page; target: string; stack?: string }) {
  const text = <bdi>{short(target)}</bdi>
  if (page.find(target) < 0) return <span class="ref">{text}</span>
  return <Link page={page} to={stack ? page.inStack(stack, target) : page.whereIs(target)} class="link ref" title={target}>{text}</Link>
}

/** A decorative bar next to an amount. */
export function Bar({ part }: { part: number }) {
  return <span class="bar" aria-hidden="true"><span style={{ width: Math.max(0, Math.min(100, part * 100)).toFixed(1) + '%' }} /></span>
}

/** A message in place of missing content. */
export function Notice({ children }: { children: ComponentChildren }) {
  return <div class="lacks">{children}</div>
}

/** A view that is unavailable: the reason, and the command that shows the same. */
export function Absent({ title, reason, text }: { title: string; reason?: string; text: string }) {
  return (
    <section aria-labelledby="absent-title">
      <div class="bar-head"><h2 id="absent-title">{title}</h2></div>
      <Notice>{(reason ?? 'a saved page cannot read the cluster').replace(/\.?$/, '.')} <Command text={text} /></Notice>
    </section>
  )
}

/** Moves the focus to an element of the next frame. */
export function focusOn(selector: string): void {
  requestAnimationFrame(() => document.querySelector<HTMLElement>(selector)?.focus())
}

/** A warning that resources are unread. */
export function Unread({ gaps }: { gaps: UIState['gaps'] }) {
  const [first] = gaps ?? []
  return first ? <p><span class="tone-warn"><span aria-hidden="true">▲</span> {plural(gaps!.length, 'resource')} could not be read:</span> {first.resource}: {first.reason}: {first.message}{gaps!.length > 1 && ' ...'}</p> : null
}

/** A command with a copy button. */
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

/** A request to the server; answer is undefined until it arrives. */
export interface Asked<T> { answer?: T; error?: string; again: () => void; waiting: boolean }

/** Sends a request, again when path, query or fresh change; none if path is empty. The last answer
    remains while the same request is repeated. */
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

/** The status of a request: waiting, or its error with a retry button. */
export function Waits({ request, label }: { request: Asked<unknown>; label: string }) {
  if (FILE) return null
  return (
    <p class="waits" role="status">
      {request.error ? <><span class="tone-bad"><span aria-hidden="true">✖</span> {label}: {request.error}</span> <button type="button" onClick={request.again}>Try again</button></>
        : request.waiting && request.answer === undefined && <span class="faint">{label} ...</span>}
    </p>
  )
}

/** Whether a media query matches. */
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

/** A sortable column header. */
export function Sort({ page, name, column, down, num, initial }: { page: Page; name: string; column: string; down?: boolean; num?: boolean; initial?: boolean }) {
  const { sort } = page.choice, mine = sort ? sort.replace(/^-/, '') === column : !!initial, turned = mine && sort[0] === '-', falls = turned !== !!down
  return (
    <th scope="col" class={num ? 'num' : ''} aria-sort={mine ? falls ? 'descending' : 'ascending' : undefined}>
      <button type="button" class="sort" onClick={() => page.set({ sort: mine && !turned ? '-' + column : column })}>{name}<span aria-hidden="true">{mine ? falls ? ' ▾' : ' ▴' : ''}</span></button>
    </th>
  )
}

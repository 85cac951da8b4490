// The client of the server: requests, and the stream of changes.

import type { Page, Server } from './page.ts'
import type { Change, UIState } from './ui_state.ts'

/** Timeout of the stream in ms; the server sends a beat every 10 s. */
const silence = 30_000
/** The backoff of reconnects, in ms. */
const pauses = [500, 1000, 2000, 4000, 8000, 15_000]
/** Failed attempts after which the server counts as ended. Attempts continue. */
const maxAttempts = 3

const endedMessage = 'kubectl sysop ui has ended: start it again, and open the address that it prints'
const lostMessage = 'the connection was lost'

/**
 * The credential of this page, sent with every request. It is stored per tab and origin, which
 * includes the port: a cookie would be sent to every port of 127.0.0.1.
 */
let bearer = ''
const key = 'sysop-bearer'
/** Timeout for an answer of other tabs, in ms. */
const neighbors = 300

/** A response with an error status. */
class Refusal extends Error {
  constructor(message: string, public status: number) { super(message) }
}

async function ask(path: string, init: RequestInit): Promise<Response> {
  let answer: Response
  const headers = { ...init.headers, ...(bearer && { Authorization: 'Bearer ' + bearer }) }
  try {
    answer = await fetch('/api/' + path.replace(/^\/?(api\/)?/, ''), { ...init, headers, cache: 'no-store', credentials: 'omit', redirect: 'error' })
  } catch (e) {
    throw init.signal?.aborted ? e : new Error('kubectl sysop ui does not answer: it may have ended')
  }
  if (answer.ok) return answer
  const { error } = await answer.json().catch(() => ({})) as { error?: string }
  throw new Refusal(error || `kubectl sysop ui answers ${answer.status} ${answer.statusText}`, answer.status)
}

const post = (path: string, body: unknown, signal?: AbortSignal) =>
  ask(path, { method: 'POST', headers: { 'Content-Type': 'application/json', 'X-Sysop': '1' }, body: JSON.stringify(body), signal })

export const server: Server = {
  async get(path, query, signal) {
    const q = new URLSearchParams(query).toString()
    return (await ask(path + (q && '?' + q), { signal })).json()
  },
  async post(path, body, signal) { return (await post(path, body, signal)).json() },
}

/** One event of a stream. */
export interface Event { name: string; data: string }

/** Parses server-sent events from chunks of text. */
export function reader(receive: (e: Event) => void): (chunk: string) => void {
  let rest: string[] = []
  return (chunk) => {
    if (!chunk) return
    // Searches the new chunk only: a UIState is large, and arrives in many chunks.
    const tail = rest.at(-1)?.slice(-1) === '\n' && chunk[0] === '\n' ? 0 : chunk.indexOf('\n\n')
    if (tail < 0) { rest.push(chunk); return }
    const blocks = (rest.join('') + chunk).split('\n\n')
    rest = [blocks.pop()!]
    for (const block of blocks) {
      let name = '', data = ''
      for (const line of block.split('\n')) {
        if (line.startsWith('event: ')) name = line.slice(7)
        if (line.startsWith('data: ')) data += line.slice(6)
      }
      if (name) receive({ name, data })
    }
  }
}

/** Returns the token of the address, and removes it from the address and the history. */
function takeToken(): string {
  const token = new URLSearchParams(location.hash.slice(1)).get('token') ?? ''
  if (token) history.replaceState(null, '', location.pathname)
  return token
}

/** The storage of this tab; null if the browser forbids it. A reload then needs a new address. */
function storage(): Storage | null {
  try { return sessionStorage } catch { return null }
}

/** Requests the bearer from another open tab of this origin. */
function fromNeighbor(): Promise<string> {
  if (typeof BroadcastChannel === 'undefined') return Promise.resolve('')
  const channel = new BroadcastChannel(key)
  return new Promise<string>((resolve) => {
    const timer = setTimeout(() => resolve(''), neighbors)
    channel.onmessage = ({ data }) => {
      if (typeof data?.bearer !== 'string') return
      clearTimeout(timer)
      resolve(data.bearer)
    }
    channel.postMessage('who is in?')
  }).finally(() => channel.close())
}

/** Sends the bearer to tabs that ask for it; the returned function stops that. */
function helpNeighbors(): () => void {
  if (typeof BroadcastChannel === 'undefined') return () => {}
  const channel = new BroadcastChannel(key)
  channel.onmessage = ({ data }) => { if (data === 'who is in?') channel.postMessage({ bearer }) }
  return () => channel.close()
}

/**
 * Gets the bearer: from the token of the address, else from the storage of this tab, else from
 * another tab. It returns why a token was refused, and a function that stops helping other tabs.
 */
export async function enter(): Promise<{ refused: Error | null; leave: () => void }> {
  const token = takeToken()
  let refused: Error | null = null
  bearer = storage()?.getItem(key) ?? ''
  if (token) {
    try {
      const answer = await post('session', { token })
      // 204 without a body: the bearer of this tab is still valid.
      if (answer.status === 200) bearer = (await answer.json()).bearer
    } catch (e) {
      refused = e as Error
    }
  }
  if (!bearer) bearer = await fromNeighbor()
  if (!bearer) return { refused, leave: () => {} }
  try { storage()?.setItem(key, bearer) } catch { /* kept in memory only */ }
  return { refused, leave: helpNeighbors() }
}

/**
 * Passes the first UIState to open, and later changes to the page that open returns; reports
 * progress to say until then. It fails if no UIState can be read.
 */
export async function connect(open: (uiState: UIState, server: Server) => Page, say: (message: string) => void): Promise<void> {
  const { refused, leave } = await enter()
  return new Promise<void>((_, fail) => follow(open, say, (e) => fail(refused ?? e))).finally(leave)
}

function follow(open: (uiState: UIState, server: Server) => Page, say: (message: string) => void, fail: (e: Error) => void): void {
  let page: Page | null = null, run: AbortController | null = null, failures = 0, timer = 0, ended = false

  const state = (state: 'live' | 'stale' | 'ended', reason = '') => {
    if (page) page.connected({ state: state === 'live' && page.uiState.mode !== 'live' ? 'still' : state, why: reason })
    else if (reason) say(reason)
  }
  const end = (reason: string) => {
    ended = true
    state('ended', reason)
    if (!page) fail(new Error(reason))
  }
  const listen = () => {
    clearTimeout(timer)
    timer = window.setTimeout(() => again('no word from kubectl sysop ui for 30 s'), silence)
  }
  const receive = ({ name, data }: Event) => {
    listen()
    if (page) page.connection.at = Date.now()
    if (name === 'end') return end(endedMessage)
    const body = JSON.parse(data)
    if (name === 'picture') {
      failures = 0
      if (page) page.replace(body as UIState)
      else page = open(body as UIState, server)
      page.connection.at = Date.now()
      state('live')
    } else if (name === 'change') page?.apply(body as Change)
    else if (name === 'stale') state(body.why ? 'stale' : 'live', body.why)
  }
  const again = (reason: string) => {
    stop()
    if (ended || document.hidden) return
    failures++
    if (failures > maxAttempts) state('ended', endedMessage)
    else state('stale', reason + ': trying again')
    timer = window.setTimeout(start, pauses[Math.min(failures, pauses.length) - 1])
  }
  const stop = () => {
    clearTimeout(timer)
    run?.abort()
    run = null
  }
  const start = async () => {
    const mine = run = new AbortController()
    listen()
    try {
      const answer = await ask('stream', { signal: mine.signal })
      const text = answer.body!.pipeThrough(new TextDecoderStream()).getReader(), read = reader(receive)
      for (let chunk = await text.read(); !chunk.done && run === mine; chunk = await text.read()) {
        try { read(chunk.value) } catch (e) { reportError(e) }
      }
      if (run === mine) again(lostMessage)
    } catch (e) {
      if (run !== mine) return
      if (!(e instanceof Refusal)) return again(lostMessage)
      if (e.status !== 401) return again(e.message)
      stop()
      end(e.message)
    }
  }
  document.addEventListener('visibilitychange', () => {
    stop()
    if (!document.hidden && !ended) void start()
  })
  say('reading ...')
  void start()
}

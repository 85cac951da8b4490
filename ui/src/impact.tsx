// The impact of a deletion, as a panel of the details.

import type { ComponentChildren } from 'preact'
import { Command, focusOn, Link, Unread, Waits } from './bits.tsx'
import { Fact, ShortList, To } from './details.tsx'
import {
  cascades, effectMore, effectWord, glyphs, keptWhy, layout, notes, removalWhy, stackWord, toneOf, waiting, worst, type Deletion, type Dependent, type Impact, type Tone, type Touched,
} from './impact_document.ts'
import { useImpact } from './impact_marks.ts'
import type { Page } from './page.ts'
import { capital, command, kindKey, parse, plural, readFrom, short } from './words.ts'

export function ImpactPanel({ page, target }: { page: Page; target: string }) {
  const id = page.find(target)
  if (id < 0) return null // the trail says that it is gone
  const n = page.node(id), isNode = kindKey(page.kind(n)) === 'Node'
  const reason = isNode ? 'A terminal shows what a drain of it affects:' : n.t ? 'It was not read. This command reads it and shows it:' : FILE || !page.server ? 'A saved page cannot read the cluster. This command shows it:' : ''
  const saved = LARGE && FILE && useImpact(page).answer
  return (
    <section class="details-panel" aria-labelledby="impact-title">
      <button type="button" class="details-close" aria-label="Close the impact" onClick={() => { page.set({ impact: '', cascade: '' }, true); focusOn('#details-title') }}>✕</button>
      <h3 id="impact-title">If {short(target)} is {isNode ? 'drained' : 'deleted'}</h3>
      {LARGE && saved ? <Result page={page} im={saved} /> : FILE || reason ? <><p class="faint">{reason}</p><Command text={commandOf(page, target, !page.uiState.namespace)} /></> : <Asked page={page} target={target} />}
    </section>
  )
}

/** The command that shows the same in a terminal, for all namespaces or one. */
export const commandOf = ({ uiState }: Page, ref: string, all: boolean) =>
  command('kubectl', 'sysop', 'impact', ref, ...(all && parse(ref).namespace ? ['-A'] : []), ...readFrom(uiState))

/** Requests the impact, again when objects or edges change. */
function Asked({ page, target }: { page: Page; target: string }) {
  const { namespace } = page.uiState, got = useImpact(page)
  return (
    <>
      <label>Cascade <select value={page.choice.cascade || cascades[0]} onChange={(e) => page.set({ cascade: e.currentTarget.value })}>{cascades.map((c) => <option key={c}>{c}</option>)}</select></label>
      <Waits request={got} label="Following what a deletion does" />
      {got.answer && <Result page={page} im={got.answer} />}
      {namespace && <><p class="faint">Namespace {namespace} was looked at, and what reaches into it. This looks at all:</p><Command text={commandOf(page, target, true)} /></>}
    </>
  )
}

function Result({ page, im }: { page: Page; im: Impact }) {
  const { stacks, loose, data, rest } = layout(im), object = parse(im.object), home = kindKey(object) === 'Namespace' ? object.name : object.namespace
  const at = (ref: string) => <At page={page} target={ref} home={home} />
  const remarks = notes(im, short)
  const suffers = (all: Dependent[]) => <ShortList items={all}>{(d) => <Suffers d={d} object={im.object} at={at} />}</ShortList>
  return (
    <>
      <p><b><Mark tone={worst(im)}>{im.summary}</Mark></b></p>
      {remarks.length > 0 && <dl class="details-facts">{remarks.map(([title, text]) => <Fact key={title} name={capital(title)}>{text}</Fact>)}</dl>}
      {stacks.length > 0 && (
        <>
          <h4>Stacks</h4>
          <ShortList items={stacks}>{({ touched, objects }) => <><Stack page={page} touched={touched} at={at} />{objects.length > 0 && suffers(objects)}</>}</ShortList>
        </>
      )}
      {loose.length > 0 && <><h4>In no stack</h4>{suffers(loose)}</>}
      {im.deletions.length > 0 && (
        <>
          <h4>Deleted along: <Mark tone="bad">{plural(im.deletions.length, 'object')}{waiting(im)}</Mark></h4>
          <ShortList items={[...data, ...rest]}>{(d) => <>{at(d.id)} {data.includes(d) ? <Mark tone="bad">{removalWhy(d)}</Mark> : <span class="faint">{removalWhy(d)}</span>}</>}</ShortList>
        </>
      )}
      {im.mayBeDeleted.length > 0 && (
        <>
          <h4>May be deleted with it: <Mark tone="warn">{plural(im.mayBeDeleted.length, 'object')}</Mark> <span class="faint">whether is for a controller to say</span></h4>
          <ShortList items={im.mayBeDeleted}>{(d: Deletion) => <>{at(d.id)} <span class="faint">by</span> {at(d.cause)}<div class="details-why"><code>{d.why}</code></div></>}</ShortList>
        </>
      )}
      {im.retained.length > 0 && <><h4>Stays: {plural(im.retained.length, 'object')}</h4><ShortList items={im.retained}>{(k) => <>{at(k.id)} <span class="faint">{keptWhy(k.reason)}</span></>}</ShortList></>}
      {im.unreadKinds.length > 0 && <details><summary>? Not looked at: {plural(im.unreadKinds.length, 'kind')}</summary><p class="faint">Not all of these were read, which may need it: {im.unreadKinds.join(', ')}</p></details>}
      <Unread gaps={im.gaps} />
    </>
  )
}

function Mark({ tone, children }: { tone: Tone; children: ComponentChildren }) {
  return tone === 'none' ? <span>{children}</span> : <span class={'tone-' + tone}><span aria-hidden="true">{glyphs[tone]}</span> {children}</span>
}

/** A button that selects an object, or its name if the page does not have it; with the namespace if it differs. */
function At({ page, target, home }: { page: Page; target: string; home: string }) {
  const id = page.find(target), { namespace } = parse(target)
  return <>{id < 0 ? <span class="ref" title={target}>{short(target)}</span> : <To page={page} id={id} />}{namespace && namespace !== home && <span class="faint"> ({namespace})</span>}</>
}

type Ats = (ref: string) => ComponentChildren

/** The effect on a stack; its button opens the stack at the affected object. */
function Stack({ page, touched, at }: { page: Page; touched: Touched; at: Ats }) {
  const { stack, cause = '', deleted } = touched, known = page.uiState.stacks.some((s) => s.name === stack)
  return (
    <>
      {known && stack !== page.choice.stack ? <Link page={page} to={{ ...page.inStack(stack, cause), impact: page.choice.impact, cascade: page.choice.cascade }} class="link" title={stack}><bdi>{short(stack)}</bdi></Link> : <span title={stack}>{short(stack)}</span>}{' '}
      <Mark tone={toneOf(touched)}>{stackWord(touched)}</Mark>{cause && <>: {at(cause)}</>}{deleted > 0 && `; ${plural(deleted, 'object')} of it also deleted`}
    </>
  )
}

/** The effect on an object, with the edge that causes it. */
function Suffers({ d, object, at }: { d: Dependent; object: string; at: Ats }) {
  return <>{at(d.id)} <Mark tone={toneOf(d)}>{effectWord(d)}</Mark>{effectMore(d)}<div class="details-why">{d.cause !== object && <>because of {at(d.cause)}, </>}<code>{d.edge.why}</code></div></>
}

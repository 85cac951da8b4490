// The commands that make the same as the page shows.

import { encode, type Page } from './page.ts'
import type { UIState } from './ui_state.ts'
import { command, inNamespace, parse, readFrom } from './words.ts'

/** The arguments that name what this page shows: its roots, a namespace, or all. */
function scope(page: Page, name: string): string[] {
  const { title, namespace } = page.uiState, all = title === 'all namespaces' || title.startsWith('namespace ')
  return all ? [name, ...inNamespace(namespace, true)] : [name === 'stacks' ? 'graph' : name, ...title.split(' ')]
}

/** The flags that make a command read and count what the page does, as far as it has them. */
function flagsOf(uiState: UIState, name: string): string[] {
  const { flags = {} } = uiState
  const takes = [...name === 'graph' ? [] : ['prices'], ...name === 'stacks' ? ['health-rules'] : name === 'metrics' ? ['prometheus'] : []]
  return [...readFrom(uiState), ...takes.flatMap((f) => flags[f] ? ['--' + f, flags[f]] : [])]
}

/** Whether only stacks are shown that have some words or some health, which no picture has. */
export const narrowed = ({ choice: { search, health } }: Page) => search !== '' || health.length > 0

/** The flags of the stacks that draw the map as it is shown. */
const mapFlags = (page: Page) => [
  ...page.choice.open.includes('cluster') ? ['--all'] : [], ...page.choice.group ? ['--by', page.choice.group] : [], ...page.choice.tone ? ['--tone', page.choice.tone] : [],
]

/** The command that writes a format of what is shown, and the part of an address that shows it in the file. */
export function commandOf(page: Page, format: string): string {
  const { view, stack, root, by, as, impact, namespaces, labels, sort } = page.choice, at = encode(page.choice)
  // No command draws an impact.
  if (view === 'stack' && impact) return ''
  // With -A a stack shares costs with all others, as on a page of all; the file of one that is named alone says so.
  const words = format === 'SVG' && view === 'stack' ? ['graph', root || stack, ...!root && page.uiState.sharedAmong === 'cluster' ? ['-A'] : []] : scope(page, view === 'costs' ? 'metrics' : 'stacks')
  // No command has the picture or the rows of some of the stacks with what they share among all, nor of
  // stacks of given roots.
  const some = narrowed(page) || namespaces.length > 0 || labels.length > 0, mapped = view === 'stacks' && words[0] === 'stacks' && format !== 'CSV'
  if (view === 'stacks' && format !== 'HTML' && (some || words[0] === 'graph')) return ''
  if (mapped) words.push(...mapFlags(page))
  if (format === 'CSV' && by) words.push('--by', by.replace('label ', 'label:'))
  const kind = format.toLowerCase(), file = `${view === 'stack' ? parse(root || stack).name : view}.${kind}`
  const line = `${command('kubectl', 'sysop', ...words, ...flagsOf(page.uiState, words[0]), '-o', kind)} > ${file}`
  const opens = mapped ? !some && !as && !sort : view === 'costs' && !by && !as
  return format === 'HTML' && at !== 'stacks' && !opens ? `${line}  # then open ${file}#${at}` : line
}

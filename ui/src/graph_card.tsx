// A card that can be read.

import type { Card } from './graph_scene.ts'
import { healthOf, nameOf } from './graph_draw.ts'
import type { Page } from './page.ts'
import type { Stack } from './ui_state.ts'
import type { Item } from './shape.ts'
import { health, money, trouble } from './words.ts'

interface Props { page: Page; stack: Stack; card: Card; number: number; roots: Item[]; selected: boolean; tabbable: boolean }

/** A card that is near enough to be read. */
export function GraphCard({ page, stack, card, number, roots, selected, tabbable }: Props) {
  const { item } = card, node = page.node(item.node), place = stack.tree[item.place]
  const { kind, name } = nameOf(page, item), own = healthOf(page, item), is = health[own]
  const below = item.fold ? 0 : place.b ?? 0, siblings = item.parent?.children ?? roots, open = item.children.length > 0
  const what = (item.fold ? 'group' : kind) + (place.s ? ' · shared' : '')
  const why = item.fold ? (item.bad === undefined ? '' : kind) : own < trouble ? '' : [node.r, node.m].filter(Boolean).join(': ')
  const state = is.word && `${is.glyph} ${is.word}`, worse = below > Math.max(own, 1) ? `below: ${health[below].glyph} ${health[below].word}` : ''
  const cost = item.cost === undefined ? '' : money(item.cost)
  // The same words in the same order as the card has, but none of them cut.
  const says = [what, name, cost, state, worse, why].filter(Boolean).join(' ')
  return (
    <button type="button" role="treeitem" data-card={number} tabIndex={tabbable ? 0 : -1} title={says} aria-label={says}
      class={`graph-card tone-${is.tone}${selected ? ' graph-selected' : ''}${item.fold ? ' graph-fold' : ''}${item.context ? ' graph-context' : ''}`}
      aria-selected={selected} aria-level={item.depth + 1} aria-setsize={siblings.length} aria-posinset={siblings.indexOf(item) + 1}
      aria-expanded={item.fold ? open : open || undefined} style={{ left: card.x + 'px', top: card.y + 'px' }}>
      <span class="graph-kind">{item.fold && (open ? '▾ ' : '▸ ')}{what}</span>{' '}
      <span class="graph-name"><span>{name.slice(0, -7)}</span>{name.slice(-7)}</span>{' '}
      <span class="graph-cost">{cost}</span>{' '}
      <span class="graph-health">
        {state && <b>{state}</b>}
        {worse && <i class={'tone-' + health[below].tone}> {worse}</i>}
        {why && ` ${why}`}
      </span>
    </button>
  )
}

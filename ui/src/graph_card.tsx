// A card of the graph as an element.

import type { Card } from './graph_scene.ts'
import { nameOf } from './graph_draw.ts'
import { glyphs } from './impact_document.ts'
import type { Mark } from './impact_marks.ts'
import { middle } from './map_layout.ts'
import type { Page } from './page.ts'
import type { Stack } from './ui_state.ts'
import { healthOf, isQuiet, type Item } from './shape.ts'
import { health, money, optional, trouble } from './words.ts'

interface Props { page: Page; stack: Stack; card: Card; number: number; roots: Item[]; selected: boolean; tabbable: boolean; hub?: string; impact?: Mark }

/** A readable card. */
export function GraphCard({ page, stack, card, number, roots, selected, tabbable, hub, impact }: Props) {
  const { item } = card, node = page.node(item.node), place = stack.tree[item.place]
  const { kind, name } = nameOf(page, item), own = healthOf(page, item), shownHealth = health[own]
  const worstBelow = item.fold ? 0 : place.b ?? 0, siblings = item.parent?.children ?? roots, open = item.children.length > 0
  const subtitle = (item.fold ? 'group' : kind) + (place.s ? ' · shared' : '') + (hub ? ' · ' + hub : '')
  const reason = item.fold ? (item.bad === undefined ? '' : kind) : own < trouble ? '' : [node.r, node.m].filter(Boolean).join(': ')
  const state = !item.fold && isQuiet(page, item.node) ? optional : shownHealth.word && `${shownHealth.glyph} ${shownHealth.word}`, worse = worstBelow > Math.max(own, 1) ? `below: ${health[worstBelow].glyph} ${health[worstBelow].word}` : ''
  const cost = item.cost === undefined ? '' : money(item.cost)
  // The texts of the card, unshortened.
  const says = [subtitle, name, cost, state, worse, reason, LARGE && impact && `, by the impact: ${glyphs[impact.tone]} ${impact.text}`].filter(Boolean).join(' ')
  return (
    <button type="button" role="treeitem" data-card={number} tabIndex={tabbable ? 0 : -1} title={says}
      class={`graph-card tone-${shownHealth.tone}${selected ? ' graph-selected' : ''}${item.fold ? ' graph-fold' : ''}${item.context ? ' graph-context' : ''}`}
      aria-selected={selected} aria-level={item.depth + 1} aria-setsize={siblings.length} aria-posinset={siblings.indexOf(item) + 1}
      aria-expanded={item.fold ? open : open || undefined} style={{ left: card.x + 'px', top: card.y + 'px' }}>
      <span class="unseen">{says}</span>
      <span class="graph-kind" aria-hidden="true">{item.fold && (open ? '▾ ' : '▸ ')}{subtitle}</span>
      <span class={'graph-name' + (name.length > 20 ? ' graph-long' : '')} aria-hidden="true">{middle(name, 54)}</span>
      <span class="graph-cost" aria-hidden="true">{cost}</span>
      <span class="graph-health" aria-hidden="true">
        {state && <b>{state}</b>}
        {worse && <i class={'tone-' + health[worstBelow].tone}> {worse}</i>}
        {reason && <> <bdi>{reason}</bdi></>}
      </span>
    </button>
  )
}

import type { Card } from '../../machine/cards.ts'
import type { Look, Said } from './tools.ts'

/** The program is not there, which is no fault. */
export const notInstalled: Look = { cards: [], outcome: 'not installed' }

/** The look of a probe that asked a program: its cards, or why there are none. */
export function lookAt(cards: Card[], said: Said): Look {
  if (cards.length > 0) return found(cards)
  if (said.failure !== null) return { cards: [], outcome: said.failure }
  const line = said.text.trim().split('\n', 1)[0]?.slice(0, 120)
  return { cards: [], outcome: line ? `no size of a card in what it said: ${line}` : 'it said nothing' }
}

/** The look of a probe that found cards, or none. */
export function found(cards: Card[]): Look {
  const words = cards.map(
    ({ name, bytes, memory }) =>
      `${name}, ${(bytes / 2 ** 30).toFixed(1)} GiB${memory === 'shared' ? ' shared' : ''}`,
  )
  const more = words.length > mostNamed ? [`and ${words.length - mostNamed} more`] : []
  return { cards, outcome: [...words.slice(0, mostNamed), ...more].join('; ') || 'no card' }
}

/** No machine has more cards worth naming; what comes after them still counts. */
const mostNamed = 16
/** Lines that start like JSON and are none: each costs a look at all that follows. */
const mostStarts = 10

/** JSON out of a program's output, which may warn about something first; undefined when there is none. */
export function jsonIn(text: string): unknown {
  let starts = 0
  for (const { index } of text.matchAll(/^[ \t]*[[{]/gm)) {
    if (++starts > mostStarts) break
    try {
      return JSON.parse(text.slice(index))
    } catch {
      // A line of a warning can start with a bracket too.
    }
  }
  return undefined
}

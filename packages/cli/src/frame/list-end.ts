/**
 * Returns the line for stderr after a list: the number of items shown, the total, the order, and the command for the
 * next page. Pure.
 */
import type { Bounded } from '@q/store'
import { boundedText, countText } from '../words/counts.ts'
import { moment } from '../words/ages.ts'

export interface ListEnd {
  readonly shown: number
  /** The noun for one item. */
  readonly noun: string
  /** Undefined: not counted. */
  readonly of?: Bounded
  readonly order: string
  readonly lookedBackTo?: Date | null
  /** Undefined: the list is complete. */
  readonly next?: string | undefined
}

export function listEnd({ shown, noun, of, order, lookedBackTo, next }: ListEnd): string {
  const total = of === undefined || (of.count === shown && !of.atLeast) ? '' : ` of ${boundedText(of)}`
  const back = lookedBackTo === null || lookedBackTo === undefined ? '' : `; looked back to ${moment(lookedBackTo)}`
  const more = next === undefined ? '' : ` Next: ${next}`
  return `${countText(shown)}${total} ${shown === 1 && total === '' ? noun : pluralOf(noun)} shown, ${order}${back}.${more}`
}

function pluralOf(noun: string): string {
  return noun.endsWith('y') ? `${noun.slice(0, -1)}ies` : `${noun}s`
}

/** A condition on the payload of a run, as a person writes it: `url~cdn`, `id=5`, `order.items=3`, `~cdn`. */
import { sql, type RawBuilder } from 'kysely'

export interface PayloadCondition {
  /** Names of members, outermost first; empty: the whole payload. */
  readonly path: readonly string[]
  readonly operator: '=' | '~'
  readonly value: string
}

/** Undefined: the text is not a condition. */
export function readPayloadCondition(text: string): PayloadCondition | undefined {
  const found = /^([^=~]*)([=~])(.*)$/s.exec(text)
  if (found === null) return undefined
  const [, member = '', operator, value = ''] = found
  return { path: member.trim() === '' ? [] : member.trim().split('.'), operator: operator as '=' | '~', value }
}

/** In this fragment `r` is a row of q.task_run. */
export function payloadMatches({ path, operator, value }: PayloadCondition): RawBuilder<boolean> {
  const member = sql`(r.payload #>> ${path}::text[])`
  return operator === '='
    ? sql<boolean>`${member} = ${value}`
    : sql<boolean>`strpos(lower(${member}), lower(${value})) > 0`
}

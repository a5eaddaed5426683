/** A condition on the payload of a run, as a person writes it: `url~cdn`, `id=5`, `order.items=3`, `~cdn`. */
import { sql, type RawBuilder } from 'kysely'
import { isHiddenPath, partsOf } from './hidden-members.ts'

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

/** In this fragment `r` is a row of q.task_run. `hidden`: parts of names of members that must not be found (hidden-members.ts). */
export function payloadMatches(condition: PayloadCondition, hidden: readonly string[] = []): RawBuilder<boolean> {
  const found = sql<boolean>`coalesce(${compares(condition, sql`(r.payload #>> ${condition.path}::text[])`)}, false)`
  return hidden.length === 0 ? found : foundInVisible(condition, found, hidden)
}

/**
 * If the named part has hidden members, `~` searches its names and its visible values one by one, and `=` does not match.
 * CASE evaluates this only for rows that match at all.
 */
function foundInVisible(
  condition: PayloadCondition,
  found: RawBuilder<boolean>,
  hidden: readonly string[],
): RawBuilder<boolean> {
  const { path, operator } = condition
  const part = sql`(r.payload #> ${path}::text[])`
  const isFoundIn = sql`bool_or(${compares(condition, sql`name`)}
    OR (NOT is_hidden AND jsonb_typeof(value) NOT IN ('object', 'array') AND ${compares(condition, sql`value #>> '{}'`)}))`
  return sql<boolean>`
    CASE WHEN NOT ${found} OR ${isHiddenPath(path, hidden)} THEN false
      ELSE (WITH RECURSIVE ${partsOf(part, hidden)}
        SELECT coalesce(NOT bool_or(is_hidden) OR ${operator === '=' ? sql`false` : isFoundIn}, false) FROM part) END`
}

/** Whether the text compares as the condition asks. */
function compares({ operator, value }: PayloadCondition, text: RawBuilder<unknown>): RawBuilder<boolean> {
  return operator === '=' ? sql<boolean>`${text} = ${value}` : sql<boolean>`strpos(lower(${text}), lower(${value})) > 0`
}

/**
 * Keeps a condition on the payload from finding what a reader does not see: texts, arrays and objects in a member whose
 * name suggests a secret. Otherwise a reader could guess a hidden value letter by letter from the runs that match.
 * Numbers, booleans and null are not hidden.
 */
import { sql, type RawBuilder } from 'kysely'

/** Whether a member on the way to the named part, or the part itself, is hidden. */
export function isHiddenPath(path: readonly string[], hidden: readonly string[]): RawBuilder<boolean> {
  const members = path.map((name, place) => {
    const value = sql`(r.payload #> ${path.slice(0, place + 1)}::text[])`
    return sql<boolean>`${isHidden(sql`${name}::text`, value, hidden)}`
  })
  return sql<boolean>`coalesce(${sql.join([...members, sql`false`], sql` OR `)}, false)`
}

/** `part(name, value, is_hidden)`: the value and everything inside it, except what is inside of hidden members. */
export function partsOf(value: RawBuilder<unknown>, hidden: readonly string[]): RawBuilder<unknown> {
  return sql`part(name, value, is_hidden) AS (
    SELECT '', ${value}, false
    UNION ALL
    SELECT inner_part.* FROM part CROSS JOIN LATERAL (
      SELECT m.key, m.value, ${isHidden(sql`m.key`, sql`m.value`, hidden)}
      FROM jsonb_each(CASE WHEN jsonb_typeof(part.value) = 'object' THEN part.value END) m
      UNION ALL
      SELECT '', item, false FROM jsonb_array_elements(CASE WHEN jsonb_typeof(part.value) = 'array' THEN part.value END) item
    ) inner_part WHERE NOT part.is_hidden)`
}

/** Names are compared without case and punctuation: `apikey` is part of `x-API_Keys`. */
function isHidden(
  name: RawBuilder<unknown>,
  value: RawBuilder<unknown>,
  hidden: readonly string[],
): RawBuilder<boolean> {
  return sql<boolean>`(jsonb_typeof(${value}) IN ('string', 'object', 'array')
    AND regexp_replace(lower(${name}), '[^a-z0-9]', '', 'g') ~ ${hidden.join('|')})`
}

/** Time is the database's clock at the moment of the statement: `now()` would be the start of a user's transaction. */
import { sql, type RawBuilder } from 'kysely'

/** The last time that a JavaScript Date can have. */
export const dateMsMax = 8.64e15

export const now: RawBuilder<Date> = sql<Date>`clock_timestamp()`

/**
 * The start of the statement, the same for all of its rows. PostgreSQL can use an index for `column > time - age` only
 * with such a clock; it evaluates a volatile one for every row.
 */
export const statementTime: RawBuilder<Date> = sql<Date>`statement_timestamp()`

export function fromNow(delayMs: number): RawBuilder<Date> {
  return sql<Date>`clock_timestamp() + ${delayMs}::float8 * interval '1 ms'`
}

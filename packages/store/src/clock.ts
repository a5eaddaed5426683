/** Time is the database's, read at the moment of the statement: `now()` would be the start of a user's transaction. */
import { sql, type RawBuilder } from 'kysely'

export const now: RawBuilder<Date> = sql<Date>`clock_timestamp()`

export function fromNow(delayMs: number): RawBuilder<Date> {
  return sql<Date>`clock_timestamp() + ${delayMs}::float8 * interval '1 ms'`
}

/**
 * The verbs inside a transaction of Drizzle, with whatever driver below it. A statement that is text already is handed
 * over as an `SQLWrapper` whose SQL is it.
 */
import type { DB } from '@q/schema'
import type { Transaction } from 'kysely'
import { answerOf, borrowed, plainValues } from './borrowed.ts'

/** What is used of a `PgTransaction`. */
export interface DrizzleTransaction {
  execute(query: never): PromiseLike<unknown>
  /** A database outside of transactions has none. */
  rollback(): never
}

/** Drizzle asks a wrapper for its SQL, and that for its text and values. */
interface WrittenSql {
  getSQL(): { toQuery(): { readonly sql: string; readonly params: unknown[]; readonly typings: undefined } }
}

export function usingDrizzle(tx: DrizzleTransaction): Transaction<DB> {
  const execute = tx.execute.bind(tx) as (query: WrittenSql) => PromiseLike<unknown>
  return borrowed(tx, async (sql, values) => {
    const written = { sql, params: plainValues(values), typings: undefined }
    return answerOf(await execute({ getSQL: () => ({ toQuery: () => written }) }))
  })
}

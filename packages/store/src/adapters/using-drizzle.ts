/**
 * The verbs inside a transaction of Drizzle, with any driver. A compiled statement is passed as an `SQLWrapper` that
 * returns its SQL.
 */
import type { DB } from '@q/schema'
import type { Transaction } from 'kysely'
import { driverResultOf, wrapCallerTransaction, plainValues } from './caller-transaction.ts'

/** The used part of a `PgTransaction`. */
export interface DrizzleTransaction {
  execute(query: never): PromiseLike<unknown>
  /** Missing outside of a transaction. */
  rollback(): never
}

/** Drizzle asks a wrapper for its SQL, and that for its text and values. */
interface WrittenSql {
  getSQL(): { toQuery(): { readonly sql: string; readonly params: unknown[]; readonly typings: undefined } }
}

export function usingDrizzle(tx: DrizzleTransaction): Transaction<DB> {
  const execute = tx.execute.bind(tx) as (query: WrittenSql) => PromiseLike<unknown>
  return wrapCallerTransaction(tx, async (sql, values) => {
    const written = { sql, params: plainValues(values), typings: undefined }
    return driverResultOf(await execute({ getSQL: () => ({ toQuery: () => written }) }))
  })
}

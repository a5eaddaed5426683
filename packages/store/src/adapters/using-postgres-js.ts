/** The verbs inside a transaction of postgres.js: the `sql` that `sql.begin` passes to its function. */
import type { DB } from '@q/schema'
import type { Transaction } from 'kysely'
import { wrapCallerTransaction, plainValues } from './caller-transaction.ts'

/** The used part of a `TransactionSql`. */
export interface PostgresJsTransaction {
  unsafe(query: string, parameters?: never[]): PromiseLike<readonly unknown[]>
  /** Missing on `sql` outside of a transaction. */
  savepoint: unknown
}

export function usingPostgresJs(sql: PostgresJsTransaction): Transaction<DB> {
  return wrapCallerTransaction(sql, async (text, values) => ({
    rows: await sql.unsafe(text, plainValues(values) as never[]),
  }))
}

/** The verbs inside a transaction of postgres.js: what `sql.begin` gives to its function. */
import type { DB } from '@q/schema'
import type { Transaction } from 'kysely'
import { borrowed, plainValues } from './borrowed.ts'

/** What is used of a `TransactionSql`. */
export interface PostgresJsTransaction {
  unsafe(query: string, parameters?: never[]): PromiseLike<readonly unknown[]>
  /** `sql` itself has none. */
  savepoint: unknown
}

export function usingPostgresJs(sql: PostgresJsTransaction): Transaction<DB> {
  return borrowed(sql, async (text, values) => ({ rows: await sql.unsafe(text, plainValues(values) as never[]) }))
}

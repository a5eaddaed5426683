/**
 * The verbs inside a transaction that the caller began on a `pg` client: enqueueTaskRuns(usingPg(client), runs).
 *
 * Newer versions of `pg` report whether the client is in a transaction. The caller may have configured `pg` to read bigint
 * as a number; ids are text here nevertheless.
 */
import type { DB } from '@q/schema'
import type { Transaction } from 'kysely'
import type { CustomTypesConfig } from 'pg'
import { pgTypeParsers } from '../connection/pg-type-parsers.ts'
import { wrapCallerTransaction } from './caller-transaction.ts'
import { notInTransaction } from './no-transaction.ts'

/** The used part of a `Client` or a `PoolClient`. */
export interface PgClient {
  query(query: {
    readonly text: string
    readonly values: unknown[]
    readonly types: CustomTypesConfig
  }): Promise<{ readonly rows: unknown[]; readonly rowCount: number | null; readonly command: string }>
  /** In newer versions of `pg`: I outside of a transaction, T inside, E inside one that failed. */
  getTransactionStatus?(): string | null
  /** Set on a `Pool`, where each query may use another client. */
  readonly totalCount?: undefined
}

export function usingPg(client: PgClient): Transaction<DB> {
  return wrapCallerTransaction(client, async (text, values) => {
    if (client.getTransactionStatus?.() === 'I') {
      throw notInTransaction(
        'This client of pg is not in a transaction',
        "Await client.query('BEGIN') first, and COMMIT after it.",
      )
    }
    return client.query({ text, values: [...values], types: pgTypeParsers })
  })
}

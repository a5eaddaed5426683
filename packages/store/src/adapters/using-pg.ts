/**
 * The verbs inside a transaction that somebody else began on a client of `pg`: enqueueTaskRuns(usingPg(client), runs).
 *
 * Whether there is one, the client can tell in newer versions of `pg`. The caller may have taught `pg` to read bigint as
 * number; ids are text here all the same.
 */
import type { DB } from '@q/schema'
import type { Transaction } from 'kysely'
import type { CustomTypesConfig } from 'pg'
import { ownTypes } from '../own-types.ts'
import { borrowed } from './borrowed.ts'
import { notInTransaction } from './no-transaction.ts'

/** What is used of a `Client` or a `PoolClient`. */
export interface PgClient {
  query(query: {
    readonly text: string
    readonly values: unknown[]
    readonly types: CustomTypesConfig
  }): Promise<{ readonly rows: unknown[]; readonly rowCount: number | null; readonly command: string }>
  /** In newer versions of `pg`: I outside of a transaction, T inside, E inside one that failed. */
  getTransactionStatus?(): string | null
  /** A `Pool` has it, and each query on a pool may be another client's. */
  readonly totalCount?: undefined
}

export function usingPg(client: PgClient): Transaction<DB> {
  return borrowed(client, async (text, values) => {
    if (client.getTransactionStatus?.() === 'I') {
      throw notInTransaction(
        'This client of pg is in no transaction',
        "Await client.query('BEGIN') first, and COMMIT after it.",
      )
    }
    return client.query({ text, values: [...values], types: ownTypes })
  })
}

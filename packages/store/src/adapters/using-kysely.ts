/**
 * The verbs inside a transaction of the caller's own Kysely, whatever its database type, plugins and version: only text
 * and values cross. Plugins are left out, because they would rename the columns of the results.
 */
import type { DB } from '@q/schema'
import { createQueryId, RawNode, type Transaction } from 'kysely'
import { wrapCallerTransaction, plainValues } from './caller-transaction.ts'
import { notInTransaction } from './no-transaction.ts'

/** The used part of a `Transaction` or a `ControlledTransaction`. */
export interface KyselyTransaction {
  /** `boolean` on a plain Kysely. */
  readonly isTransaction: true
  /** Set on a controlled transaction. */
  readonly isCommitted?: boolean
  readonly isRolledBack?: boolean
  withoutPlugins(): {
    executeQuery(query: {
      readonly sql: string
      readonly parameters: readonly unknown[]
      readonly query: RawNode
      readonly queryId: { readonly queryId: string }
    }): Promise<{ readonly rows: unknown[] }>
  }
}

export function usingKysely(trx: KyselyTransaction): Transaction<DB> {
  return wrapCallerTransaction(trx, async (sql, values) => {
    if (trx.isCommitted === true || trx.isRolledBack === true) {
      throw notInTransaction('This transaction of Kysely has ended', 'Enqueue before it is committed.')
    }
    const query = { sql, parameters: plainValues(values), query: RawNode.createWithSql(sql), queryId: createQueryId() }
    return trx.withoutPlugins().executeQuery(query)
  })
}

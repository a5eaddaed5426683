/**
 * The verbs inside a transaction of the caller's own Kysely, whatever its database type, plugins and version:
 * only text and values cross. Plugins are left out, because they would rename the columns of our answers.
 */
import type { DB } from '@q/schema'
import { createQueryId, RawNode, type Transaction } from 'kysely'
import { borrowed, plainValues } from './borrowed.ts'
import { notInTransaction } from './no-transaction.ts'

/** What is used of a `Transaction` or a `ControlledTransaction`. */
export interface KyselyTransaction {
  /** A plain Kysely says `boolean`. */
  readonly isTransaction: true
  /** Of a controlled one. */
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
  return borrowed(trx, async (sql, values) => {
    if (trx.isCommitted === true || trx.isRolledBack === true) {
      throw notInTransaction('This transaction of Kysely has ended', 'Enqueue before it is committed.')
    }
    const query = { sql, parameters: plainValues(values), query: RawNode.createWithSql(sql), queryId: createQueryId() }
    return trx.withoutPlugins().executeQuery(query)
  })
}

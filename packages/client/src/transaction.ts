/**
 * Enqueue as part of a transaction that the caller began, with the caller's own library: the run is there with its
 * commit, and a rollback leaves nothing. Nothing is committed, rolled back or closed here, and no wake is sent: the
 * database's own trigger sends it with the commit.
 *
 * What is not a transaction does not compile: a pool, a URL, a Kysely instance.
 */
import { ExplainedError } from '@q/schema'
import { usingPg, type Db, type PgClient } from '@q/store'

export type TransactionHandle = KyselyTransaction | PgTransaction

/** What `db.transaction().execute(async (trx) => …)` or `startTransaction()` of Kysely gives. */
export interface KyselyTransaction {
  readonly isTransaction: true
  withoutPlugins(): unknown
}

/** A client of `pg` on which you have sent BEGIN; not a pool, whose statements may go anywhere. */
export interface PgTransaction extends PgClient {
  readonly totalCount?: never
}

export function storeIn(tx: TransactionHandle): Db {
  if (isKysely(tx)) return tx.withoutPlugins() as Db
  if (typeof tx !== 'object' || tx === null || !('query' in tx) || 'totalCount' in tx) throw notATransaction()
  return usingPg(tx)
}

function isKysely(tx: TransactionHandle): tx is KyselyTransaction {
  return typeof tx === 'object' && tx !== null && Reflect.get(tx, 'isTransaction') === true
}

function notATransaction(): ExplainedError {
  return new ExplainedError({
    code: 'NOT_A_TRANSACTION',
    what: 'What was passed as tx is not a transaction; nothing was enqueued.',
    why: 'It must be a Kysely transaction, or a client of pg on which you have sent BEGIN. A pool is neither.',
    fix: 'Pass the transaction that your library gives you, or leave tx out.',
  })
}

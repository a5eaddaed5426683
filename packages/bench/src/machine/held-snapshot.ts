/** A session that holds a snapshot, so that PostgreSQL cannot remove tuples that die from now on. */
import { connect } from '@q/store'
import { CompiledQuery } from 'kysely'

export interface HeldSnapshot {
  close(): Promise<void>
}

export async function holdSnapshot(url: string): Promise<HeldSnapshot> {
  const connection = connect(url, { purpose: 'migrate' })
  const taken = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const transaction = connection.db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (trx) => {
      await trx.executeQuery(CompiledQuery.raw('SELECT count(*) FROM q.task_run'))
      taken.resolve()
      await released.promise
    })
  // A database that is dropped ends the transaction: close() reports it, and nothing else has to.
  transaction.catch(() => {})
  await Promise.race([taken.promise, transaction])
  return {
    async close() {
      released.resolve()
      await transaction
      await connection.close()
    },
  }
}

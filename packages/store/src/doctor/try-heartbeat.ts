/**
 * Tests whether heartbeats can be written through this connection, and how long they take: writes one as a replica
 * would, reads it back and removes it, in one transaction. Nothing remains, even if the process dies in between.
 */
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import { inTransaction } from '../connection/in-transaction.ts'

export interface TriedHeartbeat {
  readonly wasRead: boolean
  /** The time that the server took for all three statements. */
  readonly tookMs: number
}

export function tryHeartbeat(db: Db, id: string): Promise<TriedHeartbeat> {
  return inTransaction(db, async (trx) => {
    const { rows: begun } = await sql<{ at: Date }>`SELECT clock_timestamp() AS at`.execute(trx)
    await sql`INSERT INTO q.replica_heartbeat (replica_id, last_heartbeat) VALUES (${id}, clock_timestamp())`.execute(
      trx,
    )
    const { rows } = await sql`SELECT FROM q.replica_heartbeat WHERE replica_id = ${id}`.execute(trx)
    const { rows: ended } = await sql<{ tookMs: number }>`
      WITH removed AS (DELETE FROM q.replica_heartbeat WHERE replica_id = ${id})
      SELECT (extract(epoch FROM clock_timestamp() - ${begun[0]?.at}::timestamptz) * 1000)::float8 AS "tookMs"`.execute(
      trx,
    )
    return { wasRead: rows.length === 1, tookMs: ended[0]?.tookMs ?? 0 }
  })
}

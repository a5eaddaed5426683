/** Records heartbeats that could not be sent, once the database answers again, and removes old records. */
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'

export interface HeartbeatFailure {
  /** How long ago it failed, by the replica's own monotonic clock. */
  readonly agoMs: number
  /** The number of failures in a row, with this one. */
  readonly consecutive: number
  readonly error: string
}

export async function recordHeartbeatFailures(
  db: Db,
  replicaId: string,
  failures: readonly HeartbeatFailure[],
): Promise<void> {
  if (failures.length === 0) return
  await sql`
INSERT INTO q.heartbeat_failure (replica_id, failed_at, consecutive, error)
SELECT ${replicaId}, clock_timestamp() - ago_ms * interval '1 ms', consecutive, error
FROM unnest(${failures.map((failure) => failure.agoMs)}::float8[], ${failures.map((failure) => failure.consecutive)}::int[],
  ${failures.map((failure) => failure.error.replaceAll('\0', '�').slice(0, 1_000))}::text[]) AS f(ago_ms, consecutive, error)`.execute(
    db,
  )
}

/** Heartbeats that could not be sent, written down when the database answers again; and forgotten when they are old. */
import { sql } from 'kysely'
import type { Db } from '../db.ts'

export interface HeartbeatFailure {
  /** How long ago it failed, by the replica's own monotonic clock. */
  readonly agoMs: number
  /** Which one in a row. */
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

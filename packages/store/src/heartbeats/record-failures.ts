/**
 * Records heartbeats that could not be sent, once the database answers again. The third failure in a row is reported to the
 * destinations that ask for alerts.
 */
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'

export interface HeartbeatFailure {
  /** How long ago it failed, by the replica's own monotonic clock. */
  readonly agoMs: number
  /** The number of consecutive failures, including this one. */
  readonly consecutive: number
  readonly error: string
}

const alertAfterFailures = 3

export async function recordHeartbeatFailures(
  db: Db,
  replicaId: string,
  failures: readonly HeartbeatFailure[],
): Promise<void> {
  if (failures.length === 0) return
  await sql`
WITH failed AS (
INSERT INTO q.heartbeat_failure (replica_id, failed_at, consecutive, error)
SELECT ${replicaId}, clock_timestamp() - ago_ms * interval '1 ms', consecutive, error
FROM unnest(${failures.map((failure) => failure.agoMs)}::float8[], ${failures.map((failure) => failure.consecutive)}::int[],
  ${failures.map((failure) => failure.error.replaceAll('\0', '�').slice(0, 1_000))}::text[]) AS f(ago_ms, consecutive, error)
RETURNING id, failed_at, consecutive, error
)
INSERT INTO q.delivery (destination, news, subject, payload)
SELECT d.name, 'alert', format('replica/%s/alert/%s', worker.name, failed.id), jsonb_build_object('worker_id', worker.name,
  'timestamp', floor(extract(epoch FROM failed.failed_at) * 1000), 'error', failed.error, 'consecutive_failures', failed.consecutive)
FROM failed CROSS JOIN q.destination d CROSS JOIN q.worker_name(${replicaId}) AS worker(name)
WHERE failed.consecutive = ${alertAfterFailures} AND 'alert' = ANY(d.news)`.execute(db)
}

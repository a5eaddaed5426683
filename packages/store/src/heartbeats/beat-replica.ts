/**
 * The replica's own heartbeat: upsert with the database's clock, one row per replica, updated in place.
 *
 * One statement, whose answer carries what the replica must know: what the database's clock shows, whether anybody knows
 * the replica (its row may have been removed, or it was considered dead so long ago that it counts as stopped), whether it
 * was ordered to drain, and whether the database has declared its program too old. A replica that lost its presence
 * session withdraws its presence record with the same statement, so it never has a fresh heartbeat and looks gone at the
 * same time. The statement also records, for all replicas, that the server accepts heartbeats (liveness/streak.ts). It
 * does not read what the replica holds (`heldTaskRuns`): the heartbeat stays cheap, and must not fail because a long list does.
 */
import { programLevel } from '@q/schema'
import { sql, type CompiledQuery } from 'kysely'
import type { Db } from '../db.ts'
import { noteBeat } from '../liveness/streak.ts'
import type { DrainOrder, OnDeadline } from '../replicas/drain-order.ts'

export interface ReplicaVitals {
  readonly health: 'healthy' | 'degraded' | 'unhealthy'
  readonly cpuPercent: number
  readonly memoryMb: number
  readonly activeRuns: number
  readonly freeSlots: number
  readonly completed: number
  readonly failed: number
  readonly uptimeS: number
  /** What each thread is doing, as plain data; of a very long list the first part is kept. */
  readonly threads?: readonly object[]
}

export interface BeatOptions {
  /** Its presence session is lost: that layer does not apply to it until it has the lock again. */
  readonly withdrawPresence?: boolean
}

export interface HeartbeatAnswer {
  /** False: it must introduce itself again. */
  readonly known: boolean
  readonly draining: DrainOrder | null
  /** Whether the database demands a newer release of this program (`q.compatibility`). */
  readonly tooOld: boolean
  /** What the database's clock showed, in ms since 1970. */
  readonly clockMs: number
}

interface Answer {
  readonly clockMs: number
  readonly known: boolean
  readonly drained: boolean
  readonly by: string | null
  readonly deadlineInMs: number | null
  readonly onDeadline: OnDeadline | null
  readonly oldestProgram: number | null
}

const threadsMax = 256
const threadBytesMax = 1_000

export async function upsertReplicaHeartbeat(
  db: Db,
  replicaId: string,
  vitals: ReplicaVitals,
  options: BeatOptions = {},
): Promise<HeartbeatAnswer> {
  const { rows } = await db.executeQuery<Answer>(upsertHeartbeatStatement(db, replicaId, vitals, options))
  const answer = rows[0]
  if (answer === undefined) throw new Error('The database took a heartbeat and told nothing.')
  const { clockMs, known, drained, by, deadlineInMs, onDeadline, oldestProgram } = answer
  return {
    known,
    clockMs,
    draining: known && drained ? { by: by ?? 'unknown', deadlineInMs, onDeadline: onDeadline ?? 'by-task' } : null,
    tooOld: (oldestProgram ?? 0) > (await programLevel()),
  }
}

// A whole statement by hand: the beat, the withdrawal and the answer are one round trip and one commit.
export function upsertHeartbeatStatement(
  db: Db,
  replicaId: string,
  vitals: ReplicaVitals,
  { withdrawPresence = false }: BeatOptions = {},
): CompiledQuery<Answer> {
  return sql<Answer>`
WITH beat AS (
  INSERT INTO q.replica_heartbeat (replica_id, last_heartbeat, health, cpu_percent, memory_mb, active_runs, free_slots,
    completed, failed, uptime_s, threads)
  VALUES (${replicaId}, clock_timestamp(), ${vitals.health}, ${vitals.cpuPercent}, ${vitals.memoryMb}, ${vitals.activeRuns},
    ${vitals.freeSlots}, ${vitals.completed}, ${vitals.failed}, ${vitals.uptimeS}, ${threadsText(vitals.threads)}::jsonb)
  ON CONFLICT (replica_id) DO UPDATE SET last_heartbeat = excluded.last_heartbeat, health = excluded.health,
    cpu_percent = excluded.cpu_percent, memory_mb = excluded.memory_mb, active_runs = excluded.active_runs,
    free_slots = excluded.free_slots, completed = excluded.completed, failed = excluded.failed,
    uptime_s = excluded.uptime_s, threads = excluded.threads
  RETURNING last_heartbeat
), noted AS (${noteBeat}
), withdrawn AS (
  DELETE FROM q.presence WHERE ${withdrawPresence}::boolean AND replica_id = ${replicaId}
)
SELECT (extract(epoch FROM beat.last_heartbeat) * 1000)::float8 AS "clockMs",
  n.id IS NOT NULL AND n.stopped_at IS NULL AS known, n.draining_at IS NOT NULL AS drained, n.draining_by AS by,
  (extract(epoch FROM n.drain_deadline - clock_timestamp()) * 1000)::float8 AS "deadlineInMs",
  n.drain_on_deadline AS "onDeadline", (SELECT oldest_program FROM q.compatibility) AS "oldestProgram"
FROM beat LEFT JOIN q.replica n ON n.id = ${replicaId}`.compile(db)
}

function threadsText(threads: readonly object[] = []): string {
  const told = threads.slice(0, threadsMax).map((thread) => JSON.stringify(thread))
  return `[${told.filter((text) => text.length <= threadBytesMax).join(',')}]`
}

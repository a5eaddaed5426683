/**
 * The heartbeat of a replica: an upsert with the clock of the database, one row per replica, updated in place.
 *
 * One statement, whose response has what the replica must know: the clock of the database, whether the replica is
 * registered (its row may have been removed, or it was considered dead so long ago that it counts as stopped), whether it
 * was ordered to drain, and whether its program is too old for the database. A replica that lost its presence session
 * withdraws its presence record with the same statement, so it never has a fresh heartbeat and looks gone at the same
 * time. The statement also records, for all replicas, that the server accepts heartbeats (liveness/streak.ts). It does not
 * read the runs that the replica holds (`heldTaskRuns`): a heartbeat must stay cheap and must not fail with a long list.
 */
import { programLevel } from '@q/schema'
import { sql, type CompiledQuery } from 'kysely'
import type { Db } from '../connection/db.ts'
import { noteBeat } from '../liveness/streak.ts'
import type { DrainOrder, OnDeadline } from '../replicas/drain-order.ts'
import { recordGap } from './beat-gap.ts'

export interface ReplicaStats {
  readonly health: 'healthy' | 'degraded' | 'unhealthy'
  readonly cpuPercent: number
  readonly memoryMb: number
  readonly activeRuns: number
  readonly freeSlots: number
  readonly completed: number
  readonly failed: number
  readonly uptimeS: number
  /** What each thread is doing, as plain data; a very long list is cut. */
  readonly threads?: readonly object[]
}

export interface BeatOptions {
  /** Whether its presence session is lost: that layer does not apply to it until it has the lock again. */
  readonly withdrawPresence?: boolean
}

export interface HeartbeatAnswer {
  /** False: the replica must register again. */
  readonly known: boolean
  readonly draining: DrainOrder | null
  /** Whether the database demands a newer release of this program (`q.compatibility`). */
  readonly tooOld: boolean
  /** The clock of the database, in ms since 1970. */
  readonly clockMs: number
}

interface HeartbeatRow {
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
  stats: ReplicaStats,
  options: BeatOptions = {},
): Promise<HeartbeatAnswer> {
  const { rows } = await db.executeQuery<HeartbeatRow>(upsertHeartbeatStatement(db, replicaId, stats, options))
  const answer = rows[0]
  if (answer === undefined) throw new Error('The heartbeat statement returned no row.')
  const { clockMs, known, drained, by, deadlineInMs, onDeadline, oldestProgram } = answer
  return {
    known,
    clockMs,
    draining: known && drained ? { by: by ?? 'unknown', deadlineInMs, onDeadline: onDeadline ?? 'by-task' } : null,
    tooOld: (oldestProgram ?? 0) > (await programLevel()),
  }
}

// Written in SQL: heartbeat, withdrawal and response are one round trip and one commit.
export function upsertHeartbeatStatement(
  db: Db,
  replicaId: string,
  stats: ReplicaStats,
  { withdrawPresence = false }: BeatOptions = {},
): CompiledQuery<HeartbeatRow> {
  return sql<HeartbeatRow>`
WITH previous AS MATERIALIZED (
  SELECT last_heartbeat FROM q.replica_heartbeat WHERE replica_id = ${replicaId}
), beat AS (
  INSERT INTO q.replica_heartbeat (replica_id, last_heartbeat, health, cpu_percent, memory_mb, active_runs, free_slots,
    completed, failed, uptime_s, threads)
  VALUES (${replicaId}, clock_timestamp(), ${stats.health}, ${Math.fround(stats.cpuPercent)}, ${stats.memoryMb}, ${stats.activeRuns},
    ${stats.freeSlots}, ${stats.completed}, ${stats.failed}, ${stats.uptimeS}, ${threadsText(stats.threads)}::jsonb)
  ON CONFLICT (replica_id) DO UPDATE SET last_heartbeat = excluded.last_heartbeat, health = excluded.health,
    cpu_percent = excluded.cpu_percent, memory_mb = excluded.memory_mb, active_runs = excluded.active_runs,
    free_slots = excluded.free_slots, completed = excluded.completed, failed = excluded.failed,
    uptime_s = excluded.uptime_s, threads = excluded.threads
  RETURNING last_heartbeat
), noted AS (${noteBeat}
), gap AS (${recordGap(replicaId)}
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
  const texts = threads.slice(0, threadsMax).map((thread) => JSON.stringify(thread))
  return `[${texts.filter((text) => text.length <= threadBytesMax).join(',')}]`
}

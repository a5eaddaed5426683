/** A replica as shown to people, and the statement that reads such rows. Takes no locks. */
import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../connection/db.ts'
import { beatAgeMs, isGoneUnwatched, nodeState, type NodeState } from '../../replicas/alive.ts'
import type { OnDeadline } from '../../replicas/drain-order.ts'
import type { Thresholds } from '../../replicas/register.ts'
import { expectedEnd } from './expected-end.ts'

export interface Node {
  readonly id: string
  readonly name: string
  readonly hostname: string
  readonly pid: number
  readonly version: string
  readonly endpoint: string | null
  readonly capabilities: readonly string[]
  /** Empty: all. */
  readonly queues: readonly string[]
  /** Tasks that the replica knows. */
  readonly tasks: readonly string[]
  readonly preset: string
  readonly state: NodeState
  readonly startedAt: Date
  readonly stoppedAt: Date | null
  readonly drainingAt: Date | null
  readonly drainingBy: string | null
  readonly drainDeadline: Date | null
  readonly drainOnDeadline: OnDeadline
  /** The time from which its drain can no longer be undone. */
  readonly leavingAt: Date | null
  /** Null: it is not draining. */
  readonly drain: NodeDrain | null
  /** The thresholds by which other replicas judge it. */
  readonly thresholds: Thresholds
  readonly presenceGraceMs: number
  /**
   * `held`: its session lock is there. `gone`: the lock is missing. `none`: not registered, as behind a pooler.
   */
  readonly presence: 'held' | 'gone' | 'none'
  readonly goneAt: Date | null
  /** Number of the newest migration that its program knows; null: its release does not report it. */
  readonly level: number | null
  /** Whether it recovers the runs of dead replicas. */
  readonly recovers: boolean
  readonly slots: number
  /** Slots that execute no run now, counted from the runs themselves. */
  readonly freeSlots: number
  /** RUNNING runs that it holds; more than it has slots if it started some ahead. */
  readonly activeRuns: number
  /** The members from here on are as of the last heartbeat. */
  readonly completed: number
  readonly failed: number
  readonly health: 'healthy' | 'degraded' | 'unhealthy' | 'unknown'
  readonly cpuPercent: number
  readonly memoryMb: number
  readonly uptimeS: number
  /** At most 64 slots; those whose run is being stopped come first. */
  readonly threads: readonly SlotView[]
  /** Null: no heartbeat of the replica is stored. */
  readonly beatAgeMs: number | null
}

/** The preset name of workers that are not runners: they have their own thresholds and program versions. */
export const externalPreset = 'external'

export interface NodeDrain {
  readonly at: Date
  readonly by: string | null
  readonly deadline: Date | null
  readonly onDeadline: OnDeadline
  /** Runs that the replica still holds. */
  readonly runsLeft: number
  /** When the last of them is expected to end; null: unknown. */
  readonly expectedEnd: Date | null
  readonly leavingAt: Date | null
}

/** The state of one slot of a replica. */
export interface SlotView {
  readonly slot: number
  readonly state: 'idle' | 'running' | 'stopping'
  readonly task: string | null
  readonly runId: string | null
  readonly isolation: 'thread' | 'process' | null
  readonly stoppingFor: string | null
  /** CPU time as a share of one core. */
  readonly cpuPercent: number | null
  readonly heapMb: number | null
  /** 0 to 1. */
  readonly eventLoopUse: number | null
  readonly silentMs: number | null
}

interface NodeRow extends Omit<Node, 'drain'> {
  readonly runsLeft: number | null
  readonly expectedEnd: Date | null
}

/** `which`: a condition on `n` (q.replica). `order`: the order, optionally with a LIMIT. */
export async function nodeRows(db: Db, which: RawBuilder<unknown>, order: RawBuilder<unknown>): Promise<Node[]> {
  const { rows } = await sql<NodeRow>`
SELECT n.id, n.name, n.hostname, n.pid, n.version, n.endpoint, n.capabilities, n.queues, n.tasks, n.preset, n.slots,
  ${nodeState} AS state, n.started_at AS "startedAt", n.stopped_at AS "stoppedAt", n.draining_at AS "drainingAt",
  n.draining_by AS "drainingBy", n.drain_deadline AS "drainDeadline", n.drain_on_deadline AS "drainOnDeadline",
  n.leaving_at AS "leavingAt", n.presence_grace_ms AS "presenceGraceMs", n.level, n.recovers,
  jsonb_build_object('replicaBeatMs', n.replica_beat_ms, 'replicaStaleMs', n.replica_stale_ms, 'checkEveryMs', n.check_every_ms,
    'claimerBeatMs', n.claimer_beat_ms, 'claimerStaleMs', n.claimer_stale_ms, 'runnerBeatMs', n.runner_beat_ms,
    'runnerStaleMs', n.runner_stale_ms) AS thresholds,
  CASE WHEN p.num IS NULL THEN 'none' WHEN p.gone_at IS NOT NULL OR ${isGoneUnwatched} THEN 'gone' ELSE 'held' END AS presence, p.gone_at AS "goneAt",
  coalesce(h.health, 'unknown') AS health, CASE WHEN n.stopped_at IS NULL AND h.replica_id IS NOT NULL THEN greatest(n.slots - executing.runs, 0) ELSE 0 END AS "freeSlots",
  executing.runs AS "activeRuns",
  coalesce(h.completed, 0)::float8 AS completed, coalesce(h.failed, 0)::float8 AS failed, coalesce(h.cpu_percent, 0) AS "cpuPercent",
  coalesce(h.memory_mb, 0) AS "memoryMb", coalesce(h.uptime_s, 0) AS "uptimeS", coalesce(h.threads, '[]') AS threads,
  ${beatAgeMs} AS "beatAgeMs", holding.runs AS "runsLeft", CASE WHEN holding.ends IS NOT NULL THEN least(holding.ends, n.drain_deadline) END AS "expectedEnd"
FROM q.replica n LEFT JOIN q.replica_heartbeat h ON h.replica_id = n.id
LEFT JOIN q.presence p ON p.num = n.num AND p.replica_id = n.id AND p.server_start = pg_postmaster_start_time()
CROSS JOIN LATERAL (SELECT count(*)::int AS runs FROM q.task_run r WHERE r.held AND r.replica_id = n.id AND r.status = 'RUNNING') executing
LEFT JOIN LATERAL (
  SELECT count(*)::int AS runs, CASE WHEN bool_and(run.ends IS NOT NULL OR run.waits) THEN max(run.ends) END AS ends
  FROM (SELECT r.status = 'CLAIMED' AS waits, ${expectedEnd} AS ends FROM q.task_run r
    LEFT JOIN q.task_heartbeat beat ON beat.run_id = r.id AND beat.role = 'runner' AND beat.fence = r.fence
    WHERE r.held AND r.replica_id = n.id) run
) holding ON n.draining_at IS NOT NULL AND n.stopped_at IS NULL
WHERE ${which} ORDER BY ${order}`.execute(db)
  return rows.map(nodeOf)
}

function nodeOf({ runsLeft, expectedEnd: ends, ...node }: NodeRow): Node {
  if (node.drainingAt === null || node.stoppedAt !== null) return { ...node, drain: null }
  const drain = {
    at: node.drainingAt,
    by: node.drainingBy,
    deadline: node.drainDeadline,
    onDeadline: node.drainOnDeadline,
    runsLeft: runsLeft ?? 0,
    expectedEnd: runsLeft === 0 ? null : ends,
    leavingAt: node.leavingAt,
  }
  return { ...node, drain }
}

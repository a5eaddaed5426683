/** Reads the origin of a run, its children and repetitions, and its values as exact text. Takes no locks. */
import type { TaskState } from '@q/schema'
import { sql } from 'kysely'
import type { Db } from '../../connection/db.ts'
import type { RunId } from '../../lease.ts'
import { agoMs } from '../bounded.ts'

export interface LinkedRun {
  readonly runId: RunId
  readonly task: string
  readonly status: TaskState
}

export interface RunLinks {
  /** The exact JSON text of the database: numbers above 2^53 keep their digits. */
  readonly payloadText: string
  readonly resultText: string | null
  readonly checkpointText: string | null
  /** The name of its current or last holder; null: none, or pruned. */
  readonly replicaName: string | null
  /** The run whose code enqueued it; null: none, or pruned. */
  readonly parent: LinkedRun | null
  /** At most 100 runs that its code enqueued, oldest first, without pruned ones. */
  readonly children: readonly LinkedRun[]
  /** `of`: the run it repeats. `runs`: those that repeat it, at most 100. */
  readonly again: { readonly of: RunId | null; readonly runs: readonly RunId[] }
  readonly scheduleTick: { readonly schedule: string; readonly tick: Date } | null
  /** Time from when its last attempt could start to its start; for an AVAILABLE run, so far. */
  readonly waitMs: number | null
  /** The duration of its last attempt; while it runs, so far. */
  readonly durationMs: number | null
}

interface LinkRow extends Omit<RunLinks, 'scheduleTick' | 'again'> {
  readonly schedule: string | null
  readonly tick: Date | null
  readonly againOf: RunId | null
  readonly repeats: readonly RunId[]
}

const linksMax = 100

/** A requeue after a crash or a release leaves `run_at` as it was, so the end of the attempt before counts too. */
const readyFrom = sql`greatest(r.run_at, r.created_at, (SELECT max(a.ended_at) FROM q.task_attempt a
    WHERE a.run_id = r.id AND (r.ready OR a.ended_at <= r.started_at)))`

export async function runLinks(db: Db, id: RunId): Promise<RunLinks> {
  const linked = sql`jsonb_build_object('runId', link.id::text, 'task', run.task, 'status', run.status)`
  const { rows } = await sql<LinkRow>`
SELECT r.payload::text AS "payloadText", r.result::text AS "resultText", r.checkpoint::text AS "checkpointText", n.name AS "replicaName",
  CASE WHEN r.ready THEN ${agoMs(readyFrom)}
    WHEN r.started_at IS NOT NULL THEN (extract(epoch FROM r.started_at - ${readyFrom}) * 1000)::float8 END AS "waitMs",
  (extract(epoch FROM coalesce(r.finished_at, clock_timestamp()) - CASE WHEN r.finished_at IS NOT NULL OR r.held THEN r.started_at END) * 1000)::float8 AS "durationMs",
  t.schedule, t.tick, (SELECT o.origin_id FROM q.run_origin o WHERE o.run_id = r.id AND o.kind = 'again') AS "againOf",
  (SELECT ${linked} FROM (SELECT o.origin_id AS id FROM q.run_origin o WHERE o.run_id = r.id AND o.kind = 'child') link
    JOIN q.task_run run ON run.id = link.id) AS parent,
  (SELECT coalesce(jsonb_agg(${linked} ORDER BY link.id), '[]') FROM (
    SELECT o.run_id AS id FROM q.run_origin o WHERE o.origin_id = r.id AND o.kind = 'child' ORDER BY o.run_id LIMIT ${linksMax}::int) link
    JOIN q.task_run run ON run.id = link.id) AS children,
  ARRAY(SELECT o.run_id::text FROM q.run_origin o WHERE o.origin_id = r.id AND o.kind = 'again' ORDER BY o.run_id LIMIT ${linksMax}::int) AS repeats
FROM q.task_run r LEFT JOIN q.replica n ON n.id = r.replica_id LEFT JOIN q.schedule_tick t ON t.run_id = r.id
WHERE r.id = ${id} LIMIT 1`.execute(db)
  const { schedule, tick, againOf, repeats, ...links } = rows[0] as LinkRow
  return {
    ...links,
    again: { of: againOf, runs: repeats },
    scheduleTick: schedule === null || tick === null ? null : { schedule, tick },
  }
}

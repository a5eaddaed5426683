/**
 * The history of each node within a window, as one lane per node: when it was alive, its gaps without a heartbeat, and
 * its events. Only gaps are recorded, not heartbeats, so reading a week costs as little as reading a minute. Takes no
 * locks.
 */
import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../connection/db.ts'
import type { RunId } from '../../lease.ts'
import { nodeState, type NodeState } from '../../replicas/alive.ts'

export interface HeartbeatLane {
  readonly replicaId: string
  readonly name: string
  readonly state: NodeState
  /** From the node's start to its end or last heartbeat, clipped to the window. */
  readonly from: Date
  readonly to: Date
  readonly staleAfterMs: number
  readonly gaps: readonly { readonly from: Date; readonly to: Date }[]
  /** Oldest first, at most 50 of a kind. */
  readonly marks: readonly LaneMark[]
}

export interface LaneMark {
  readonly at: Date
  readonly kind: 'recovery' | 'refused' | 'beat-failed' | 'drain' | 'stopped'
  readonly runId: RunId | null
  readonly text: string
}

export interface LaneWindow {
  readonly from: Date
  readonly to: Date
}

const lanesMax = 250
const marksMax = 50
const refusedMax = 2_000

interface LaneRow extends Omit<HeartbeatLane, 'gaps' | 'marks'> {
  readonly gaps: readonly { readonly from: string; readonly to: string }[]
  readonly marks: readonly (Omit<LaneMark, 'at'> & { readonly at: string })[]
}

/** Sorted by name; at most the 250 newest nodes. */
export async function heartbeatLanes(db: Db, { from, to }: LaneWindow): Promise<HeartbeatLane[]> {
  const mark = (time: string, kind: LaneMark['kind'], run: RawBuilder<unknown>, text: RawBuilder<unknown>) =>
    sql`jsonb_build_object('at', ${sql.ref(time)}, 'kind', ${kind}::text, 'runId', ${run}::text, 'text', ${text})`
  const { rows } = await sql<LaneRow>`
WITH asked AS MATERIALIZED (SELECT ${from}::timestamptz AS begins, ${to}::timestamptz AS ends),
refused AS MATERIALIZED (
  SELECT e.* FROM q.task_event e, asked WHERE e.kind LIKE 'refused-%' AND e.happened_at >= asked.begins AND e.happened_at < asked.ends
  ORDER BY e.happened_at DESC LIMIT ${refusedMax}::int
), lanes AS MATERIALIZED (
  SELECT n.*, ${nodeState} AS state, coalesce(n.stopped_at, h.last_heartbeat, n.started_at) AS ended_at
  FROM q.replica n LEFT JOIN q.replica_heartbeat h ON h.replica_id = n.id, asked
  WHERE n.started_at < asked.ends AND coalesce(n.stopped_at, h.last_heartbeat, n.started_at) >= asked.begins
  ORDER BY n.started_at DESC LIMIT ${lanesMax}::int
)
SELECT lanes.id AS "replicaId", lanes.name, lanes.state, greatest(lanes.started_at, asked.begins) AS "from", least(lanes.ended_at, asked.ends) AS "to",
  lanes.replica_stale_ms AS "staleAfterMs",
  (SELECT coalesce(jsonb_agg(jsonb_build_object('from', gap.last_beat, 'to', gap.ended_at) ORDER BY gap.last_beat), '[]') FROM (
    (SELECT g.last_beat, g.ended_at FROM q.beat_gap g WHERE g.replica_id = lanes.id AND g.last_beat >= asked.begins AND g.last_beat < asked.ends
      ORDER BY g.last_beat DESC LIMIT ${marksMax}::int)
    UNION ALL
    -- Gaps do not overlap, so of the earlier ones only the last can reach into the window.
    (SELECT g.last_beat, g.ended_at FROM q.beat_gap g WHERE g.replica_id = lanes.id AND g.last_beat < asked.begins
      ORDER BY g.last_beat DESC LIMIT 1)) gap WHERE gap.ended_at > asked.begins) AS gaps,
  (SELECT coalesce(jsonb_agg(mark ORDER BY mark ->> 'at'), '[]') FROM (
    (SELECT ${mark('v.recovered_at', 'recovery', sql`v.run_id`, sql`format('run %s recovered by %s (%s)', v.run_id, coalesce((SELECT n.name FROM q.replica n WHERE n.id = v.recovered_by), v.recovered_by), v.cause)`)} AS mark
      FROM (SELECT * FROM q.recovery v WHERE v.replica_id = lanes.id ORDER BY v.id DESC LIMIT ${marksMax}::int) v
      WHERE v.recovered_at >= asked.begins AND v.recovered_at < asked.ends)
    UNION ALL
    (SELECT ${mark('e.happened_at', 'refused', sql`e.run_id`, sql`format('%s of run %s', e.kind, e.run_id)`)} FROM refused e
      WHERE e.replica_id = lanes.id ORDER BY e.happened_at DESC LIMIT ${marksMax}::int)
    UNION ALL
    (SELECT ${mark('f.failed_at', 'beat-failed', sql`NULL`, sql`format('%s (%s in a row)', f.error, f.consecutive)`)} FROM q.heartbeat_failure f
      WHERE f.replica_id = lanes.id AND f.failed_at >= asked.begins AND f.failed_at < asked.ends ORDER BY f.failed_at DESC LIMIT ${marksMax}::int)
    UNION ALL
    SELECT ${mark('lanes.draining_at', 'drain', sql`NULL`, sql`concat('drain', ' by ' || lanes.draining_by)`)}
      WHERE lanes.draining_at >= asked.begins AND lanes.draining_at < asked.ends
    UNION ALL
    SELECT ${mark('lanes.stopped_at', 'stopped', sql`NULL`, sql`'stopped'::text`)}
      WHERE lanes.stopped_at >= asked.begins AND lanes.stopped_at < asked.ends) marked) AS marks
FROM lanes, asked ORDER BY lanes.name, lanes.started_at`.execute(db)
  return rows.map(({ gaps, marks, ...lane }) => ({
    ...lane,
    gaps: gaps.map((gap) => ({ from: new Date(gap.from), to: new Date(gap.to) })),
    marks: marks.map((one) => ({ ...one, at: new Date(one.at) })),
  }))
}

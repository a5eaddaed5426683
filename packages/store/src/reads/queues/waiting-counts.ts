/**
 * Counts PENDING runs per queue and gate. No index of a gate begins with the queue, so each gate is walked up to a
 * bound for all queues together; if it has more runs, every count of that gate is "at least".
 */
import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../connection/db.ts'
import { countMax, type Bounded } from '../bounded.ts'

export interface WaitingCounts {
  readonly time: Bounded
  readonly concurrency: Bounded
  /** Steps of workflows, including paused ones. */
  readonly parents: Bounded
  /** Runs of tasks that no replica has published, in the queue that they requested, else in `default`. */
  readonly task: Bounded
}

type Gate = keyof WaitingCounts

interface GateRow {
  readonly gate: Gate
  /** Null: map and sub-workflow steps, which have no queue. */
  readonly queue: string | null
  readonly runs: number
  /** Rows of this gate that were read, in all queues. */
  readonly looked: number
}

export interface WaitingInQueues {
  readonly queues: readonly string[]
  of(queue: string): WaitingCounts
}

export async function waitingCounts(db: Db): Promise<WaitingInQueues> {
  const { rows } = await gateRows.execute(db)
  const full = new Set(rows.filter(({ looked }) => looked > countMax).map(({ gate }) => gate))
  const runs = new Map(rows.map((row) => [`${row.gate} ${row.queue ?? ''}`, row.runs]))
  const countOf = (gate: Gate, queue: string): Bounded => ({
    count: runs.get(`${gate} ${queue}`) ?? 0,
    atLeast: full.has(gate),
  })
  return {
    queues: [...new Set(rows.flatMap(({ queue }) => queue ?? []))],
    of: (queue) => ({
      time: countOf('time', queue),
      concurrency: countOf('concurrency', queue),
      parents: countOf('parents', queue),
      task: countOf('task', queue),
    }),
  }
}

const walkMax = sql`${countMax + 1}::int`

/** Rows of lanes, and whether each counts. */
function perQueue(gate: Gate, looked: RawBuilder<unknown>): RawBuilder<GateRow> {
  return sql<GateRow>`
  SELECT ${gate}::text AS gate, lane.queue, (count(*) FILTER (WHERE seen.counts))::int AS runs,
    (sum(count(*)) OVER ())::int AS looked
  FROM (${looked}) seen LEFT JOIN q.lane ON lane.id = seen.lane GROUP BY lane.queue`
}

// Written in SQL: one walk per partial index, in the order of the index, so that the planner chooses no other plan.
const gateRows = sql<GateRow>`
${perQueue('time', sql`SELECT r.lane, true AS counts FROM q.task_run r WHERE r.due_at IS NOT NULL ORDER BY r.due_at, r.id LIMIT ${walkMax}`)}
UNION ALL
${perQueue('concurrency', sql`SELECT r.lane, true AS counts FROM q.task_run r WHERE r.gated_key IS NOT NULL ORDER BY r.gated_key, r.lane, r.priority, r.id LIMIT ${walkMax}`)}
UNION ALL
${perQueue(
  'parents',
  sql`
  SELECT step.lane, step.counts FROM (SELECT id FROM q.workflow WHERE finished_at IS NULL ORDER BY id LIMIT ${walkMax}) w
  CROSS JOIN LATERAL (
    SELECT r.lane, (r.status = 'PENDING' AND r.waiting_for IN ('parents', 'workflow')) IS TRUE AS counts
    FROM q.task_run r WHERE r.workflow_id = w.id LIMIT ${walkMax}) step
  LIMIT ${walkMax}`,
)}
UNION ALL
SELECT 'task', seen.queue, count(*)::int, (sum(count(*)) OVER ())::int
FROM (SELECT coalesce(r.asked ->> 'queue', 'default') AS queue FROM q.task_run r
  WHERE r.asked IS NOT NULL AND r.finished_at IS NULL ORDER BY r.task, r.id LIMIT ${walkMax}) seen GROUP BY seen.queue`

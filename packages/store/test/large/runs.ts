/**
 * Runs in the order of their ids: finished ones of a month, then held, gated, scheduled and ready ones. Each part is filled
 * in steps that commit, and a part that was stopped continues after its highest id.
 */
import type { DB } from '@q/schema'
import { sql, type Kysely, type RawBuilder } from 'kysely'
import { lanesServed, nodesMax, slotsPerNode } from './fleet.ts'

export interface Sizes {
  readonly finished: number
  readonly ready: number
  readonly gated: number
  readonly scheduled: number
}

export function sizesOf(scale: number): Sizes {
  return {
    finished: Math.ceil(5_000_000 * scale),
    ready: Math.ceil(1_000_000 * scale),
    gated: Math.ceil(10_000 * scale),
    scheduled: Math.ceil(10_000 * scale),
  }
}

const step = 100_000
const held = nodesMax * slotsPerNode
const keys = 100

/** A run fails, or is cancelled, if its id is a multiple of these; records.ts writes an attempt for each that fails. */
export const failedEvery = 40
const cancelledEvery = 211

interface Part {
  readonly runs: number
  /** Inserts the runs with ids from `$first` to `$last`. */
  readonly insert: (series: RawBuilder<unknown>, sizes: Sizes) => RawBuilder<unknown>
}

const common = sql`id, lane, task, grp, payload`
const commonOf = (lane: RawBuilder<unknown>) =>
  sql`i, ${lane}, 'task-' || ${lane}, 'tenant-' || i % 1000, jsonb_build_object('n', i)`
const anyLane = sql`(i % ${lanesServed}::int + 1)::int`

const finished = (series: RawBuilder<unknown>, { finished: all }: Sizes) => sql`
  INSERT INTO q.task_run (${common}, status, fence, attempt, replica_id, created_at, run_at, claimed_at, started_at, finished_at, updated_at, result)
  OVERRIDING SYSTEM VALUE
  SELECT ${commonOf(anyLane)}, how.status, 1, 1, 'replica-' || i % ${nodesMax}::int, at, at, at, at, at + interval '2 s', at + interval '2 s', how.result
  FROM ${series} CROSS JOIN LATERAL (SELECT now() - interval '2 hours' - (${all}::bigint - i) * (interval '30 days' / ${all}::bigint) AS at) t
  CROSS JOIN LATERAL (SELECT
    CASE WHEN i % ${failedEvery}::int = 0 THEN 'FAILED' WHEN i % ${cancelledEvery}::int = 0 THEN 'CANCELLED' ELSE 'SUCCEEDED' END::q.task_status AS status,
    CASE WHEN i % ${failedEvery}::int = 0 THEN '{"code": "TASK_ERROR", "detail": "read ECONNRESET"}'
      WHEN i % ${cancelledEvery}::int = 0 THEN '{"code": "TASK_CANCELLED", "detail": ""}' ELSE '1' END::jsonb AS result) how`

const running = (series: RawBuilder<unknown>) => sql`
  INSERT INTO q.task_run (${common}, status, fence, attempt, replica_id, claimed_at, started_at, concurrency_scope, concurrency_key, concurrency_slot)
  OVERRIDING SYSTEM VALUE
  SELECT ${commonOf(anyLane)}, 'RUNNING', 1, 1, CASE nth % ${nodesMax}::int + 1 WHEN 1 THEN 'replica-live' ELSE 'replica-' || nth % ${nodesMax}::int + 1 END,
    now() - nth * interval '1 s', now() - nth * interval '1 s', CASE WHEN nth < ${keys}::int THEN 'index' END,
    CASE WHEN nth < ${keys}::int THEN 'index' || chr(31) || nth END, CASE WHEN nth < ${keys}::int THEN 1 END
  FROM (SELECT i, row_number() OVER (ORDER BY i)::int - 1 AS nth FROM ${series}) numbered`

const gated = (series: RawBuilder<unknown>) => sql`
  INSERT INTO q.task_run (${common}, status, waiting_for, concurrency_scope, concurrency_key) OVERRIDING SYSTEM VALUE
  SELECT ${commonOf(anyLane)}, 'PENDING', 'concurrency', 'index', 'index' || chr(31) || i % ${keys}::int FROM ${series}`

const scheduled = (series: RawBuilder<unknown>) => sql`
  INSERT INTO q.task_run (${common}, status, waiting_for, run_at) OVERRIDING SYSTEM VALUE
  SELECT ${commonOf(anyLane)}, 'PENDING', 'time', now() + interval '1 hour' + i % 1000 * interval '1 s' FROM ${series}`

/** One in a thousand is in a lane that no node serves. */
const ready = (series: RawBuilder<unknown>) => sql`
  INSERT INTO q.task_run (${common}, priority, run_at, created_at) OVERRIDING SYSTEM VALUE
  SELECT ${commonOf(sql`CASE WHEN i % 1000 = 7 THEN ${sql.lit(lanesServed + 1)} ELSE (i % ${lanesServed}::int + 1)::int END`)},
    (i % 3)::smallint, at, at FROM ${series} CROSS JOIN LATERAL (SELECT now() - i % 7200 * interval '1 s' AS at) t`

export async function fillRuns(
  db: Kysely<DB>,
  sizes: Sizes,
  onStep: (done: number, all: number) => void,
): Promise<void> {
  const parts: readonly Part[] = [
    { runs: sizes.finished, insert: finished },
    { runs: held, insert: running },
    { runs: sizes.gated, insert: gated },
    { runs: sizes.scheduled, insert: scheduled },
    { runs: sizes.ready, insert: ready },
  ]
  const all = parts.reduce((sum, { runs }) => sum + runs, 0)
  const { rows } = await sql<{ highest: string }>`SELECT coalesce(max(id), 0) AS highest FROM q.task_run`.execute(db)
  let next = Number(rows[0]?.highest ?? 0) + 1
  let last = 0
  for (const { runs, insert } of parts) {
    last += runs
    for (; next <= last; next = Math.min(next + step, last + 1)) {
      onStep(next - 1, all)
      await insert(sql`generate_series(${next}::bigint, ${Math.min(next + step - 1, last)}::bigint) i`, sizes).execute(
        db,
      )
    }
  }
  await sql`SELECT setval(pg_get_serial_sequence('q.task_run', 'id'), (SELECT max(id) FROM q.task_run))`.execute(db)
}

/**
 * Runs that no hot statement has any business with: finished, blocked by a concurrency key, not due yet, and AVAILABLE
 * in a lane that no claim reads. Written straight into their states, which only a superuser with the triggers off may
 * do; generated columns and CHECKs still hold.
 *
 * `Q_PLAN_ROWS` finished runs, and a tenth as many of each other kind.
 */
import type { DB } from '@q/schema'
import { sql, type Kysely } from 'kysely'
import { planRows } from './plan-rows.ts'

/** Runs that wait for one concurrency key, one behind the other. */
const runsPerKey = 100

export async function fill(db: Kysely<DB>, lanes: { wanted: number; unwanted: number }): Promise<void> {
  const others = Math.ceil(planRows / 10)
  await db.transaction().execute(async (trx) => {
    await sql`SET LOCAL session_replication_role = replica`.execute(trx)
    await sql`
      INSERT INTO q.task_run
        (lane, task, status, fence, attempt, replica_id, claimed_at, started_at, finished_at, result)
      SELECT ${lanes.wanted}, 'wanted', 'SUCCEEDED', 1, 1, 'replica-' || i % 100, now(), now(), now(), '1'
      FROM generate_series(1, ${planRows}::int) i`.execute(trx)
    await sql`
      INSERT INTO q.task_run (lane, task, status, waiting_for, concurrency_scope, concurrency_key)
      SELECT ${lanes.wanted}, 'wanted', 'PENDING', 'concurrency', 'blocked', 'blocked' || chr(31) || i / ${runsPerKey}::int
      FROM generate_series(1, ${others}::int) i`.execute(trx)
    await sql`
      INSERT INTO q.task_run (lane, task, status, waiting_for, run_at)
      SELECT ${lanes.wanted}, 'wanted', 'PENDING', 'time', now() + interval '1 day'
      FROM generate_series(1, ${others}::int) i`.execute(trx)
    await sql`
      INSERT INTO q.task_run (lane, task) SELECT ${lanes.unwanted}, 'unwanted'
      FROM generate_series(1, ${others}::int) i`.execute(trx)
  })
}

/**
 * Enqueues one run of a schedule at once, outside of its ticks: a paused schedule stays paused, and the next tick does not
 * move. The run is listed with the ticks of the schedule, and an event of the run records who requested it.
 */
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import { inTransaction } from '../connection/in-transaction.ts'
import type { RunId } from '../lease.ts'
import { keysByDatabase } from '../runs/enqueue-by-database.ts'
import { promoteKeys } from '../runs/promote.ts'

interface Made {
  readonly id: RunId
  readonly status: 'AVAILABLE' | 'PENDING'
  readonly duplicate: boolean
}

/** Returns the run that already has the unique key or the window of the task, if there is one, instead of a new run. */
export async function runScheduleNow(
  db: Db,
  name: string,
  { by }: { readonly by: string },
): Promise<{ runId: RunId } | 'not-found'> {
  const made = await inTransaction(db, (trx) => enqueue(trx, name, by))
  if (made === undefined) return 'not-found'
  if (made.status === 'PENDING') await promoteKeys(db, await keysByDatabase(db, [made]))
  return { runId: made.id }
}

async function enqueue(trx: Db, name: string, by: string): Promise<Made | undefined> {
  const { rows } = await sql<Made>`
SELECT made.id::text AS id, made.status, made.duplicate FROM q.schedule s CROSS JOIN LATERAL q.enqueue(task => s.task, payload => s.payload,
  priority => (s.options ->> 'priority')::int, run_group => s.options ->> 'group',
  expires_in => (s.options ->> 'expiresInMs')::float8 * interval '1 ms') made
WHERE s.name = ${name}`.execute(trx)
  const [made] = rows
  if (made === undefined || made.duplicate) return made
  await sql`INSERT INTO q.schedule_tick (schedule, tick, run_id) VALUES (${name}, clock_timestamp(), ${made.id}) ON CONFLICT DO NOTHING`.execute(
    trx,
  )
  const detail = `By ${by}, outside of the schedule.`
  await trx.insertInto('q.task_event').values({ run_id: made.id, fence: 0, kind: 'schedule-run-now', detail }).execute()
  return made
}

/**
 * – → AVAILABLE | PENDING, by the clock
 *
 * The ticks of a schedule become runs in the transaction that records them as handled. Each tick is enqueued once: the
 * transaction changes the schedule's row only if it has read the newest version, and raises the version. However many
 * replicas try, the second waits for the row, finds another version, and enqueues nothing; a replica that dies in between
 * leaves nothing. Each tick is also stored with its run under a unique key of schedule and tick: a tick that manual SQL
 * brings back does not run again.
 */
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import { inTransaction } from '../connection/in-transaction.ts'
import { enqueueTaskRuns, promoteNew } from '../runs/enqueue.ts'
import type { EnqueuedRun, NewRun } from '../runs/new-run.ts'

export interface ScheduleAdvance {
  readonly schedule: string
  /** The version that was read. */
  readonly version: number
  /** Every tick up to here is handled, by the clock of the database. */
  readonly seenUntil: Date
  /** Null: there is no further tick. */
  readonly next: Date | null
  /** Oldest first; empty: only the next tick is stored. */
  readonly ticks: readonly { readonly tick: Date; readonly run: NewRun }[]
}

/** Returns the new runs in order; undefined if the schedule has changed in the meantime and nothing was done. */
export async function enqueueTicks(db: Db, advance: ScheduleAdvance): Promise<EnqueuedRun[] | undefined> {
  const enqueued = await inTransaction(db, (trx) => enqueueIfFirst(trx, advance))
  if (enqueued === undefined || db.isTransaction) return enqueued
  const runs = advance.ticks.map(({ run }) => run)
  const moved = await promoteNew(db, runs, enqueued)
  return enqueued.map((run) => ({ ...run, status: moved.get(run.id) ?? run.status }))
}

async function enqueueIfFirst(trx: Db, { schedule, version, seenUntil, next, ticks }: ScheduleAdvance) {
  const times = ticks.map(({ tick }) => tick.toISOString())
  // Written in SQL: it returns whether this replica was first, and which ticks were brought back.
  const { rows } = await sql<{ done: Date[] }>`
UPDATE q.schedule SET version = version + 1, seen_until = greatest(seen_until, ${seenUntil.toISOString()}::timestamptz),
  next_tick = coalesce(${next?.toISOString() ?? null}::timestamptz, 'infinity'),
  last_tick = coalesce(${times.at(-1) ?? null}::timestamptz, last_tick)
WHERE name = ${schedule} AND version = ${version} AND paused_at IS NULL
RETURNING ARRAY(SELECT t.tick FROM q.schedule_tick t WHERE t.schedule = ${schedule} AND t.tick = ANY(${times}::timestamptz[])) AS done`.execute(
    trx,
  )
  const [changed] = rows
  if (changed === undefined) return undefined
  const done = new Set(changed.done.map((tick) => tick.getTime()))
  const fresh = ticks.filter(({ tick }) => !done.has(tick.getTime()))
  if (fresh.length === 0) return []
  const enqueued = await enqueueTaskRuns(
    trx,
    fresh.map(({ run }) => run),
  )
  await trx
    .insertInto('q.schedule_tick')
    .values(enqueued.map((run, index) => ({ schedule, tick: fresh[index]?.tick as Date, run_id: run.id })))
    .execute()
  return enqueued
}

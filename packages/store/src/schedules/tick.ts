/**
 * – → AVAILABLE | PENDING, by the clock
 *
 * The ticks of a schedule become runs in the transaction that says they are dealt with. It is exact: the schedule's row
 * is changed only by who has seen its newest version, and raises the version. Whoever comes second, however many look,
 * waits for that row, finds another version, and enqueues nothing; whoever dies in between leaves nothing at all. Each
 * tick is also written down with its run, under a unique key of schedule and tick: one that somebody brings back by
 * hand does not run a second time.
 */
import { sql } from 'kysely'
import type { Db } from '../db.ts'
import { inTransaction } from '../in-transaction.ts'
import { enqueueTaskRuns, promoteNew } from '../runs/enqueue.ts'
import type { EnqueuedRun, NewRun } from '../runs/new-run.ts'

export interface Ticking {
  readonly schedule: string
  /** As it was read. */
  readonly version: number
  /** All up to here is dealt with, by the database's clock. */
  readonly seenUntil: Date
  /** Null: never again. */
  readonly next: Date | null
  /** Oldest first; empty: there is only the next one to be written down. */
  readonly ticks: readonly { readonly tick: Date; readonly run: NewRun }[]
}

/** The runs that were made, in order; undefined: the schedule has changed meanwhile, and nothing was done. */
export async function enqueueTicks(db: Db, ticking: Ticking): Promise<EnqueuedRun[] | undefined> {
  const enqueued = await inTransaction(db, (trx) => enqueueIfFirst(trx, ticking))
  if (enqueued === undefined || db.isTransaction) return enqueued
  const runs = ticking.ticks.map(({ run }) => run)
  const moved = await promoteNew(db, runs, enqueued)
  return enqueued.map((run) => ({ ...run, status: moved.get(run.id) ?? run.status }))
}

async function enqueueIfFirst(trx: Db, { schedule, version, seenUntil, next, ticks }: Ticking) {
  const times = ticks.map(({ tick }) => tick.toISOString())
  // A whole statement by hand: its answer is whether we were first, and which ticks somebody has brought back.
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
    .values(enqueued.map((run, place) => ({ schedule, tick: fresh[place]?.tick as Date, run_id: run.id })))
    .execute()
  return enqueued
}

/**
 * A lane is the interned (queue, task, requires) in which runs of one kind wait.
 * A lane is inserted over our own connection, never in a caller's transaction: two callers that insert the same lane
 * would wait for each other's commit.
 */
import { sql, type Kysely } from 'kysely'
import type { DB } from '@q/schema'
import type { Db } from './connection/db.ts'

export interface LaneName {
  readonly queue: string
  readonly task: string
  /** Capabilities a replica must have; order and repetition do not matter. */
  readonly requires?: readonly string[]
}

/** The lane of runs whose task is not published, and of map and workflow steps. No claim reads it. */
export const noLane = 0

/** Returns the lane's number; inserts the lane if it is new. */
export async function internLane(db: Kysely<DB>, lane: LaneName): Promise<number> {
  const found = await findLane(db, lane)
  if (found !== undefined) return found
  await db
    .insertInto('q.lane')
    .values({ queue: lane.queue, task: lane.task, requires: requiresOf(lane) })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  const made = await findLane(db, lane)
  if (made === undefined) throw new Error(`Lane ${lane.queue}/${lane.task} disappeared while it was being inserted.`)
  return made
}

/** Returns the lane's number if the lane exists. It only reads, so it may run in a caller's transaction. */
export async function findLane(db: Db, lane: LaneName): Promise<number | undefined> {
  const row = await db
    .selectFrom('q.lane')
    .select('id')
    .where('queue', '=', lane.queue)
    .where('task', '=', lane.task)
    .where('requires', '=', sql<string[]>`${requiresOf(lane)}::text[]`)
    .executeTakeFirst()
  return row?.id
}

function requiresOf({ requires = [] }: LaneName): string[] {
  return [...new Set(requires)].toSorted()
}

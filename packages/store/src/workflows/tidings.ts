/**
 * What a transaction that moves steps has to tell at its end, once for all of them: concurrency keys that runs came to
 * wait for, lanes in which idle replicas find work now, and how soon the first of the delayed steps is due.
 */
import { sql } from 'kysely'
import type { Db } from '../db.ts'
import { promoteKeys } from '../runs/promote.ts'
import { wakeDue } from '../wakes.ts'

export interface Tidings {
  readonly keys: Set<string>
  readonly lanes: Set<number>
  /** Infinity: no step waits for its time. */
  dueInMs: number
}

export function newTidings(): Tidings {
  return { keys: new Set(), lanes: new Set(), dueInMs: Number.POSITIVE_INFINITY }
}

/** In the transaction: a wake is sent when it commits, and only if a replica is idle. */
export async function tell(trx: Db, { keys, lanes, dueInMs }: Tidings): Promise<void> {
  if (keys.size > 0) await promoteKeys(trx, [...keys])
  await wakeDue(trx, dueInMs)
  if (lanes.size === 0) return
  await sql`SELECT pg_notify('q_ready', queue) FROM (
    SELECT DISTINCT queue FROM q.lane WHERE id = ANY(${[...lanes]}::int[]) AND EXISTS (SELECT FROM q.idle)) ready`.execute(
    trx,
  )
}

/**
 * The wakes that a transaction sends once at its end for all steps it moved: concurrency keys for which runs now wait,
 * lanes in which idle replicas find work, and how soon the first delayed step is due.
 */
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import { promoteKeys } from '../runs/promote.ts'
import { availableWakes, wakeDue } from '../wakes.ts'

export interface PendingWakes {
  readonly keys: Set<string>
  readonly lanes: Set<number>
  /** Infinity: no step waits for its time. */
  dueInMs: number
}

export function newPendingWakes(): PendingWakes {
  return { keys: new Set(), lanes: new Set(), dueInMs: Number.POSITIVE_INFINITY }
}

/** Called in the transaction: the wakes are sent when it commits, and only if a replica is idle. */
export async function flushWakes(trx: Db, { keys, lanes, dueInMs }: PendingWakes): Promise<void> {
  if (keys.size > 0) await promoteKeys(trx, [...keys])
  await wakeDue(trx, dueInMs)
  if (lanes.size === 0) return
  const ready = sql`(SELECT queue, requires FROM q.lane WHERE id = ANY(${[...lanes]}::int[]) AND EXISTS (SELECT FROM q.idle))`
  await sql`SELECT count(pg_notify(channel, payload))::int AS sent FROM ${availableWakes(ready)}`.execute(trx)
}

/** Waits until a session of this database waits for a lock: the moment at which a race can be arranged; or until none does. */
import { sql } from 'kysely'
import type { DB } from '@q/schema'
import type { Kysely } from 'kysely'

const looksMax = 2_000

export async function untilSomebodyWaits(db: Kysely<DB>): Promise<void> {
  if (!(await waitingIs(db, (count) => count > 0))) throw new Error('No session ever waited for a lock.')
}

export async function untilSessionsWait(db: Kysely<DB>, wanted: number): Promise<void> {
  if (!(await waitingIs(db, (count) => count === wanted)))
    throw new Error(`There were never ${wanted} sessions that wait for a lock.`)
}

export async function untilNobodyWaits(db: Kysely<DB>): Promise<void> {
  if (!(await waitingIs(db, (count) => count === 0))) throw new Error('A session still waits for a lock.')
}

async function waitingIs(db: Kysely<DB>, isWanted: (count: number) => boolean): Promise<boolean> {
  for (let look = 0; look < looksMax; look++) {
    const { rows } = await sql`SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`.execute(db)
    if (isWanted(rows.length)) return true
    await sql`SELECT pg_sleep(0.01)`.execute(db)
  }
  return false
}

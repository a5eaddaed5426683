/** Waits until a session of this database waits for a lock: the moment at which a race can be arranged. */
import { sql } from 'kysely'
import type { DB } from '@q/schema'
import type { Kysely } from 'kysely'

const looksMax = 2_000

export async function untilSomebodyWaits(db: Kysely<DB>): Promise<void> {
  for (let look = 0; look < looksMax; look++) {
    const { rows } = await sql`SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`.execute(db)
    if (rows.length > 0) return
    await sql`SELECT pg_sleep(0.01)`.execute(db)
  }
  throw new Error('Nobody ever waited for a lock.')
}

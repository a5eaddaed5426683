/**
 * Repeats a change of destinations until the database can lock the triggers. Changing a trigger waits for transactions
 * that have written runs, and writers queue behind it. So the database gives up after a short wait (migration 0018),
 * and the pause before the next try lets writers continue.
 */
import { ExplainedError } from '@q/schema'
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import { isLockTimeout } from '../connection/sql-state.ts'

/** About 10 s. */
const triesMax = 13
/** The database does the waiting: the store has no timers. */
const pause = sql`SELECT pg_sleep(0.7 + random() / 5)`

export async function whenUnlocked<T>(db: Db, change: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await change()
    } catch (error) {
      if (!isLockTimeout(error)) throw error
      if (tries === triesMax) throw busy(error)
      await pause.execute(db)
    }
  }
}

function busy(cause: unknown): ExplainedError {
  return new ExplainedError({
    code: 'DESTINATION_BUSY',
    what: 'The destination cannot be changed now; nothing was changed.',
    why: 'A transaction that wrote runs has been open for longer than this call waited. Reports can begin or end only between such transactions.',
    fix: 'Try again, or end the transaction: q doctor names sessions that keep one open.',
    cause,
  })
}

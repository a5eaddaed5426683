/**
 * Sets how many runs of one concurrency key may be AVAILABLE, CLAIMED or RUNNING at a time, one value per scope. The next
 * promotion applies a higher limit; after a lower one, no further run of the key is promoted until fewer runs hold it.
 */
import type { Db } from '../connection/db.ts'

export async function setConcurrencyLimit(db: Db, scope: string, slots: number): Promise<void> {
  await db
    .insertInto('q.concurrency_limit')
    .values({ scope, slots })
    .onConflict((conflict) => conflict.column('scope').doUpdateSet({ slots }))
    .execute()
}

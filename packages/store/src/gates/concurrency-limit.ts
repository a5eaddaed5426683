/**
 * Sets how many runs of one concurrency key may be live at a time, one value per scope. The next promotion applies a
 * higher limit; after a lower one, no run of a key starts until fewer than the new limit are live.
 */
import type { Db } from '../connection/db.ts'

export async function setConcurrencyLimit(db: Db, scope: string, slots: number): Promise<void> {
  await db
    .insertInto('q.concurrency_limit')
    .values({ scope, slots })
    .onConflict((conflict) => conflict.column('scope').doUpdateSet({ slots }))
    .execute()
}

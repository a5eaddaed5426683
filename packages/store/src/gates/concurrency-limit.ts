/**
 * How many runs of one concurrency key may be live at a time: one value per scope. Raising it is seen by the next
 * promotion; after lowering it, no run of a key follows until fewer than the new limit are live.
 */
import type { Db } from '../db.ts'

export async function setConcurrencyLimit(db: Db, scope: string, slots: number): Promise<void> {
  await db
    .insertInto('q.concurrency_limit')
    .values({ scope, slots })
    .onConflict((conflict) => conflict.column('scope').doUpdateSet({ slots }))
    .execute()
}

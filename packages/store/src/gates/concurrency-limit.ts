/**
 * How many runs of one concurrency key may be live at a time: one value per scope. Raising it is seen by the next
 * promotion; lowering it takes effect as slots above it are freed and not handed on.
 */
import type { Db } from '../db.ts'

export async function setConcurrencyLimit(db: Db, scope: string, slots: number): Promise<void> {
  await db
    .insertInto('q.concurrency_limit')
    .values({ scope, slots })
    .onConflict((conflict) => conflict.column('scope').doUpdateSet({ slots }))
    .execute()
}

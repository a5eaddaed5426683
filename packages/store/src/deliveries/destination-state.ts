/** The state that senders of a destination keep between deliveries, shared by all replicas. */
import type { Db } from '../connection/db.ts'

export interface StateKey {
  readonly destination: string
  readonly key: string
}

export async function getDestinationState(db: Db, { destination, key }: StateKey): Promise<string | undefined> {
  const row = await db
    .selectFrom('q.destination_state')
    .select('value')
    .where('destination', '=', destination)
    .where('key', '=', key)
    .executeTakeFirst()
  return row?.value
}

/** `undefined` removes the entry. */
export async function setDestinationState(db: Db, state: StateKey, value: string | undefined): Promise<void> {
  if (value === undefined) {
    const { destination, key } = state
    await db.deleteFrom('q.destination_state').where('destination', '=', destination).where('key', '=', key).execute()
    return
  }
  await db
    .insertInto('q.destination_state')
    .values({ ...state, value })
    .onConflict((conflict) => conflict.columns(['destination', 'key']).doUpdateSet({ value }))
    .execute()
}

/** The state that senders keep between deliveries, shared by all replicas. */
import { sql } from 'kysely'
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

/** The key of the state that all destinations share; no destination has this name. */
const everyDestination = ''

export async function getSharedState(db: Db, key: string): Promise<string | undefined> {
  return getDestinationState(db, { destination: everyDestination, key })
}

/** Stores a value unless another sender changed it since it was read as `from`; undefined: there was none. */
export async function replaceSharedState(
  db: Db,
  key: string,
  { from, to }: { readonly from: string | undefined; readonly to: string },
): Promise<boolean> {
  const { rows } =
    from === undefined
      ? await sql`INSERT INTO q.destination_state (destination, key, value) VALUES (${everyDestination}, ${key}, ${to})
ON CONFLICT DO NOTHING RETURNING key`.execute(db)
      : await sql`UPDATE q.destination_state SET value = ${to}
WHERE destination = ${everyDestination} AND key = ${key} AND value = ${from} RETURNING key`.execute(db)
  return rows.length > 0
}

/**
 * What one replica at a time does for all of them, by a lease that must be renewed. Correctness never depends on it:
 * whoever has lost the duty without noticing does harmless work.
 */
import { sql } from 'kysely'
import type { Db } from '../db.ts'

/** Taken or renewed if it is free, ours, or run out; else when to ask again. */
export async function takeDuty(
  db: Db,
  duty: { readonly name: string; readonly holder: string; readonly forMs: number },
): Promise<{ mine: boolean; untilInMs: number }> {
  // By hand: whether it was taken is whether the conditional upsert wrote a row.
  const taken = await sql`
    INSERT INTO q.duty AS duty (name, holder, until)
    VALUES (${duty.name}, ${duty.holder}, clock_timestamp() + ${duty.forMs}::float8 * interval '1 ms')
    ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
    WHERE duty.holder = excluded.holder OR duty.until < clock_timestamp()
    RETURNING name`.execute(db)
  if (taken.rows.length > 0) return { mine: true, untilInMs: duty.forMs }
  const { rows } = await sql<{ until_in_ms: number }>`
    SELECT greatest(0, extract(epoch FROM until - clock_timestamp()) * 1000)::float8 AS until_in_ms
    FROM q.duty WHERE name = ${duty.name}`.execute(db)
  return { mine: false, untilInMs: rows[0]?.until_in_ms ?? 0 }
}

/** Given up in order, so that another replica need not wait for its end. */
export async function leaveDuty(db: Db, duty: { readonly name: string; readonly holder: string }): Promise<void> {
  await db.deleteFrom('q.duty').where('name', '=', duty.name).where('holder', '=', duty.holder).execute()
}

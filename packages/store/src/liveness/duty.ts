/**
 * What one replica at a time does for all of them, by a lease that must be renewed. Correctness never depends on it:
 * whoever has lost the duty without noticing does harmless work.
 *
 * Whoever sees that somebody else has it writes nothing. A lease that lasts longer than the asker would take it for is
 * no obstacle: the one who looks more often takes over.
 */
import { sql } from 'kysely'
import type { Db } from '../db.ts'

/** Taken or renewed if it is free, ours, or run out; else when to ask again. */
export async function takeDuty(
  db: Db,
  duty: { readonly name: string; readonly holder: string; readonly forMs: number },
): Promise<{ mine: boolean; untilInMs: number }> {
  const end = sql`clock_timestamp() + ${duty.forMs}::float8 * interval '1 ms'`
  // A whole statement by hand: whether it was taken is whether the conditional upsert wrote a row.
  const { rows } = await sql<{ mine: boolean; untilInMs: number | null }>`
WITH others AS MATERIALIZED (
  SELECT until FROM q.duty WHERE name = ${duty.name} AND holder <> ${duty.holder} AND until BETWEEN clock_timestamp() AND ${end}
), taken AS (
  INSERT INTO q.duty AS duty (name, holder, until) SELECT ${duty.name}, ${duty.holder}, ${end} WHERE NOT EXISTS (SELECT FROM others)
  ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
  WHERE duty.holder = excluded.holder OR duty.until NOT BETWEEN clock_timestamp() AND ${end}
  RETURNING name
)
SELECT EXISTS (SELECT FROM taken) AS mine,
  (SELECT greatest(0, extract(epoch FROM until - clock_timestamp()) * 1000)::float8 FROM others) AS "untilInMs"`.execute(
    db,
  )
  const answer = rows[0]
  if (answer === undefined || answer.mine) return { mine: answer?.mine ?? false, untilInMs: duty.forMs }
  // Null: somebody took it in the same moment.
  return { mine: false, untilInMs: answer.untilInMs ?? duty.forMs }
}

/** Given up in order, so that another replica need not wait for its end. */
export async function leaveDuty(db: Db, duty: { readonly name: string; readonly holder: string }): Promise<void> {
  await db.deleteFrom('q.duty').where('name', '=', duty.name).where('holder', '=', duty.holder).execute()
}

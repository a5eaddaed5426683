/**
 * A duty: a job that one replica at a time does for all, under a lease that must be renewed. Correctness never depends on
 * it: a replica that lost the duty without noticing does harmless work.
 *
 * A replica that finds the duty taken writes nothing. A lease longer than the requested one does not block: the replica
 * that runs more often takes over.
 */
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'

/** Takes or renews the duty if it is free, ours or expired; otherwise returns when to ask again. */
export async function takeDuty(
  db: Db,
  duty: { readonly name: string; readonly holder: string; readonly forMs: number },
): Promise<{ mine: boolean; untilInMs: number }> {
  const end = sql`clock_timestamp() + ${duty.forMs}::float8 * interval '1 ms'`
  // Written in SQL: the duty was taken if the conditional upsert wrote a row.
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
  // Null: another replica took it at the same moment.
  return { mine: false, untilInMs: answer.untilInMs ?? duty.forMs }
}

/** Releases the duty, so that another replica need not wait until it expires. */
export async function releaseDuty(db: Db, duty: { readonly name: string; readonly holder: string }): Promise<void> {
  await db.deleteFrom('q.duty').where('name', '=', duty.name).where('holder', '=', duty.holder).execute()
}

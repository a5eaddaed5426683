/** Removes old reports, delivered or not: a destination that is paused or down must not accumulate them forever. */
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'

/** Returns the number of removed reports; fewer than `limit` means that none is left. */
export async function pruneDeliveries(
  db: Db,
  { keepMs, limit }: { readonly keepMs: number; readonly limit: number },
): Promise<number> {
  const { rows } = await sql`
DELETE FROM q.delivery WHERE id IN (
  SELECT id FROM q.delivery WHERE created_at < clock_timestamp() - ${keepMs}::float8 * interval '1 ms'
  LIMIT ${limit}::int FOR UPDATE SKIP LOCKED)
RETURNING id`.execute(db)
  return rows.length
}

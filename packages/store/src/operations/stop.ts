/**
 * Stops an operation between two steps: at once if no replica executes it, otherwise with its next step. Its changes
 * stay.
 */
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'

export async function stopOperation(db: Db, id: string): Promise<'stopping' | 'ended' | 'not-found'> {
  const { rows } = await sql<{ open: boolean }>`
WITH stopped AS (
  UPDATE q.operation SET stop_asked_at = coalesce(stop_asked_at, clock_timestamp()),
    finished_at = CASE WHEN coalesce(leased_until, '-infinity') < clock_timestamp() THEN clock_timestamp() END
  WHERE id = ${id} AND finished_at IS NULL RETURNING id
)
SELECT stopped.id IS NOT NULL AS open FROM q.operation o LEFT JOIN stopped USING (id) WHERE o.id = ${id}`.execute(db)
  const [row] = rows
  if (row === undefined) return 'not-found'
  return row.open ? 'stopping' : 'ended'
}

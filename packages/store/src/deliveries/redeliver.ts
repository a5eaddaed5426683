/**
 * Sends a report again under the same id, whether it was given up or delivered. Refuses if a newer report of the same
 * kind about the same run was delivered: an old status must not overwrite a newer one.
 */
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'

export type RedeliverAnswer = 'due' | 'superseded' | 'not-found'

export async function redeliver(db: Db, id: string): Promise<RedeliverAnswer> {
  const { rows } = await sql<{ superseded: boolean }>`
WITH report AS MATERIALIZED (
  SELECT d.id, EXISTS (SELECT FROM q.delivery newer WHERE newer.destination = d.destination AND newer.order_key = d.order_key
    AND newer.news = d.news AND newer.id > d.id AND newer.delivered_at IS NOT NULL) AS superseded
  FROM q.delivery d WHERE d.id = ${id}::bigint FOR UPDATE OF d
), changed AS (
  UPDATE q.delivery d SET due_at = clock_timestamp(), delivered_at = NULL, attempts = 0
  FROM report WHERE d.id = report.id AND NOT report.superseded AND d.due_at IS NULL
)
SELECT superseded FROM report`.execute(db)
  const [row] = rows
  return row === undefined ? 'not-found' : row.superseded ? 'superseded' : 'due'
}

/** Redelivers a bounded number of given-up reports of a destination, oldest first. Returns how many became due. */
export async function redeliverGivenUp(
  db: Db,
  { destination, limit }: { readonly destination: string; readonly limit: number },
): Promise<number> {
  const { rows } = await sql`
UPDATE q.delivery d SET due_at = clock_timestamp(), attempts = 0
WHERE d.id IN (SELECT g.id FROM q.delivery g WHERE g.due_at IS NULL AND g.delivered_at IS NULL AND g.destination = ${destination}
    AND NOT EXISTS (SELECT FROM q.delivery newer WHERE newer.destination = g.destination AND newer.order_key = g.order_key
      AND newer.news = g.news AND newer.id > g.id AND newer.delivered_at IS NOT NULL)
  ORDER BY g.id LIMIT ${limit}::int FOR UPDATE SKIP LOCKED)
RETURNING d.id`.execute(db)
  return rows.length
}

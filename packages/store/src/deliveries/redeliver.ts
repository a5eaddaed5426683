/**
 * Sends a report again under the same id, whether it was given up or delivered. Refuses if a newer report of the same
 * kind about the same run was delivered or is being sent: an old status must not overwrite a newer one. The newer reports
 * are locked, so that no sender leases one of them in the meantime. One redelivery at a time locks reports: two would lock
 * those of one run in different orders.
 */
import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../connection/db.ts'

export type RedeliverAnswer = 'due' | 'superseded' | 'not-found'

/** Whether a receiver has the report `n`, or may have it soon. */
const isSent = sql<boolean>`(n.delivered_at IS NOT NULL OR n.leased_until > clock_timestamp())`

/** The first CTE of a statement: ends when no other redelivery locks reports. */
const turn: RawBuilder<unknown> = sql`turn AS MATERIALIZED (
  SELECT pg_advisory_xact_lock(hashtextextended('q.redeliver', 0))
)`

/** Locks the newer reports beside each report in `wanted`: CTEs of a statement, of which `superseded` is the last. */
const supersededByNewer: RawBuilder<unknown> = sql`newer AS MATERIALIZED (
  SELECT w.id AS old_id, ${isSent} AS sent FROM wanted w JOIN q.delivery n ON n.destination = w.destination
    AND n.order_key = w.order_key AND n.news = w.news AND n.id > w.id
  ORDER BY n.id FOR UPDATE OF n
), superseded AS (
  SELECT DISTINCT old_id AS id FROM newer WHERE sent
)`

export async function redeliver(db: Db, id: string): Promise<RedeliverAnswer> {
  const { rows } = await sql<{ superseded: boolean }>`
WITH ${turn}, wanted AS MATERIALIZED (
  SELECT d.id, d.destination, d.order_key, d.news FROM turn CROSS JOIN q.delivery d WHERE d.id = ${id}::bigint FOR UPDATE OF d
), ${supersededByNewer}, changed AS (
  UPDATE q.delivery d SET due_at = clock_timestamp(), delivered_at = NULL, attempts = 0
  FROM wanted WHERE d.id = wanted.id AND NOT EXISTS (SELECT FROM superseded) AND d.due_at IS NULL
)
SELECT EXISTS (SELECT FROM superseded) AS superseded FROM wanted`.execute(db)
  const [row] = rows
  return row === undefined ? 'not-found' : row.superseded ? 'superseded' : 'due'
}

/** Redelivers a bounded number of given-up reports of a destination, oldest first. Returns how many became due. */
export async function redeliverGivenUp(
  db: Db,
  { destination, limit }: { readonly destination: string; readonly limit: number },
): Promise<number> {
  const { rows } = await sql`
WITH ${turn}, wanted AS MATERIALIZED (
  SELECT g.id, g.destination, g.order_key, g.news FROM turn CROSS JOIN q.delivery g
  WHERE g.due_at IS NULL AND g.delivered_at IS NULL AND g.destination = ${destination}
    AND NOT EXISTS (SELECT FROM q.delivery n WHERE n.destination = g.destination AND n.order_key = g.order_key
      AND n.news = g.news AND n.id > g.id AND ${isSent})
  ORDER BY g.id LIMIT ${limit}::int FOR UPDATE OF g SKIP LOCKED
), ${supersededByNewer}
UPDATE q.delivery d SET due_at = clock_timestamp(), attempts = 0
FROM wanted WHERE d.id = wanted.id AND NOT EXISTS (SELECT FROM superseded WHERE superseded.id = d.id)
RETURNING d.id`.execute(db)
  return rows.length
}

/**
 * The gauges of each destination's reports. Bounded: counts stop at a limit. The age of the oldest waiting
 * report is read at both ends of the order in which reports are due: untried reports are oldest at its beginning, and each
 * failure moves a report further towards its end. No locks.
 */
import { sql } from 'kysely'
import type { Db } from '../../connection/db.ts'
import { agoMs, countMax as givenUpMax } from '../bounded.ts'

export interface DeliveryGauges {
  readonly destination: string
  /** Reports that are neither delivered nor given up; at most 1 000 are counted. */
  readonly waiting: number
  /** Age of the oldest of them; null: none waits. */
  readonly oldestMs: number | null
  /** Reports that were given up and are still kept; of all destinations together at most 10 000 are counted. */
  readonly givenUp: number
  readonly paused: boolean
}

/** Destinations beyond this are left out, in the order of their names. */
const destinationsMax = 50
const countMax = 1_000
const lastMax = 100

export async function deliveryGauges(db: Db): Promise<DeliveryGauges[]> {
  const waiting = sql`FROM q.delivery r WHERE r.destination = d.name AND r.due_at IS NOT NULL ORDER BY`
  const { rows } = await sql<DeliveryGauges>`
WITH given_up AS MATERIALIZED (
  SELECT destination, count(*)::int AS reports FROM (SELECT destination FROM q.delivery
    WHERE due_at IS NULL AND delivered_at IS NULL ORDER BY id DESC LIMIT ${givenUpMax}::int) newest GROUP BY destination
)
SELECT d.name AS destination, first.waiting, ${agoMs(sql`least(first.oldest, last.oldest)`)} AS "oldestMs",
  coalesce(given_up.reports, 0) AS "givenUp", d.paused_at IS NOT NULL AS paused
FROM (SELECT name, paused_at FROM q.destination ORDER BY name LIMIT ${destinationsMax}::int) d
CROSS JOIN LATERAL (SELECT count(*)::int AS waiting, min(created_at) AS oldest
  FROM (SELECT r.created_at ${waiting} r.due_at, r.id LIMIT ${countMax}::int) front) first
CROSS JOIN LATERAL (SELECT min(created_at) AS oldest
  FROM (SELECT r.created_at ${waiting} r.due_at DESC, r.id DESC LIMIT ${lastMax}::int) back) last
LEFT JOIN given_up ON given_up.destination = d.name
ORDER BY d.name`.execute(db)
  return rows
}

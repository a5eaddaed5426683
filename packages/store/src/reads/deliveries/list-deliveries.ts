/** Lists reports to destinations, newest first: waiting, delivered and given up. Takes no locks. */
import { sql } from 'kysely'
import type { Db } from '../../connection/db.ts'
import type { RunId } from '../../lease.ts'
import { pageOf, placeOf, type ListRequest, type Page } from '../page.ts'

export interface DeliveryView {
  readonly id: string
  readonly destination: string
  /** The kind of report: run-ended, status, recovery, heartbeat, sample or alert. */
  readonly kind: string
  readonly runId: RunId | null
  readonly createdAt: Date
  readonly attempts: number
  /** The time of the next try. Null: the report was delivered or given up. */
  readonly dueAt: Date | null
  readonly deliveredAt: Date | null
  readonly lastError: string | null
}

export interface DeliveryRequest extends ListRequest {
  /** Only those that were given up. */
  readonly givenUp?: boolean
  readonly destination?: string
}

export async function listDeliveries(db: Db, request: DeliveryRequest = {}): Promise<Page<DeliveryView>> {
  const { givenUp = false, destination, ...page } = request
  const { limit, before } = placeOf(page)
  // Written exactly like the index condition.
  const which = givenUp ? sql`d.due_at IS NULL AND d.delivered_at IS NULL` : sql`true`
  const { rows } = await sql<DeliveryView>`
SELECT d.id, d.destination, d.news AS kind, d.run_id AS "runId", d.created_at AS "createdAt", d.attempts, d.due_at AS "dueAt",
  d.delivered_at AS "deliveredAt", d.last_error AS "lastError"
FROM q.delivery d WHERE ${which} AND ${destination === undefined ? sql`true` : sql`d.destination = ${destination}`} AND ${before === undefined ? sql`true` : sql`d.id < ${before}`}
ORDER BY d.id DESC LIMIT ${limit + 1}::int`.execute(db)
  return pageOf(rows, limit)
}

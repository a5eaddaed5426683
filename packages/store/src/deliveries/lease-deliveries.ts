/**
 * Leases the next reports of a destination to a sender. A report becomes due again when its lease expires, so a dead
 * sender delays a report and never loses it.
 *
 * Only the oldest pending report of each run, workflow or replica can be leased, so a batch has at most one report of
 * each, and a newer status is never sent before an older one. Report ids follow the order of changes, because each
 * change locks the row.
 */
import { sql, type CompiledQuery } from 'kysely'
import type { Db } from '../connection/db.ts'
import { prepared } from '../connection/prepared.ts'
import type { ReportKind } from './destination.ts'

export interface LeaseRequest {
  readonly destination: string
  /** The name of this batch, required to mark its reports. */
  readonly holder: string
  readonly limit: number
  readonly forMs: number
}

export interface LeasedDelivery {
  readonly id: string
  readonly revision: number
  readonly kind: ReportKind
  /** The run, workflow or replica that it is about. */
  readonly orderKey: string
  readonly createdAt: Date
  /** 1 for the first lease. */
  readonly attempt: number
  readonly payload: unknown
}

export async function leaseDeliveries(db: Db, request: LeaseRequest): Promise<LeasedDelivery[]> {
  const { rows } = await db.executeQuery(leaseStatement(request))
  return rows.toSorted((a, b) => Number(BigInt(a.id) - BigInt(b.id)))
}

export function leaseStatement({ destination, holder, limit, forMs }: LeaseRequest): CompiledQuery<LeasedDelivery> {
  return lease({ destination, holder, limit, forMs })
}

const isFree = sql`(d.leased_until IS NULL OR d.leased_until < clock_timestamp())`

// Does not match the condition of the index of due reports: after hours without a backlog PostgreSQL takes that index for
// empty, and would look for the reports of one run in it.
const isPending = sql`coalesce(own.due_at, '-infinity') > '-infinity'`

// Written in SQL: recursive and LATERAL. It walks the index of due reports and stops at the limit, whatever the statistics
// of the table say: those of a table that was empty would make PostgreSQL read and sort the whole backlog.
const lease = prepared<LeaseRequest, LeasedDelivery>('lease-deliveries', ({ destination, holder, limit, forMs }) => {
  const dueInOrder = (after = sql``) => sql`
  SELECT d.id, d.due_at, d.destination, d.order_key, d.leased_until FROM q.delivery d
  WHERE d.destination = ${destination}::text AND d.due_at <= (SELECT at FROM moment)${after}
  ORDER BY d.due_at, d.id LIMIT 1`
  return sql<LeasedDelivery>`
WITH RECURSIVE moment AS MATERIALIZED (SELECT clock_timestamp() AS at), due AS (
  (${dueInOrder()})
  UNION ALL
  SELECT next.* FROM due CROSS JOIN LATERAL (${dueInOrder(sql` AND (d.due_at, d.id) > (due.due_at, due.id)`)}) next
), chosen AS MATERIALIZED (
  SELECT d.id FROM due d
  CROSS JOIN LATERAL (SELECT own.id FROM q.delivery own WHERE own.destination = d.destination AND own.order_key = d.order_key
    AND ${isPending} ORDER BY own.id LIMIT 1) oldest
  WHERE ${isFree}
    AND d.id = oldest.id
  LIMIT ${limit}::int
), locked AS MATERIALIZED (
  SELECT d.id FROM q.delivery d WHERE d.id = ANY(ARRAY(SELECT id FROM chosen)) AND d.due_at <= (SELECT at FROM moment) AND ${isFree}
  ORDER BY d.id FOR UPDATE OF d SKIP LOCKED
)
UPDATE q.delivery d SET leased_by = ${holder}::text, leased_until = clock_timestamp() + ${forMs}::float8 * interval '1 ms',
  attempts = d.attempts + 1
FROM locked WHERE d.id = locked.id
RETURNING d.id, d.revision, d.news AS kind, d.order_key AS "orderKey", d.created_at AS "createdAt", d.attempts AS attempt, d.payload`
})

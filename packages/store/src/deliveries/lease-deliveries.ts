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

const lease = prepared<LeaseRequest, LeasedDelivery>(
  'lease-deliveries',
  ({ destination, holder, limit, forMs }) => sql<LeasedDelivery>`
WITH due AS MATERIALIZED (
  SELECT d.id FROM q.delivery d
  CROSS JOIN LATERAL (SELECT own.id FROM q.delivery own WHERE own.destination = d.destination AND own.order_key = d.order_key
    AND own.due_at IS NOT NULL ORDER BY own.id LIMIT 1) oldest
  WHERE d.destination = ${destination}::text AND d.due_at <= clock_timestamp()
    AND (d.leased_until IS NULL OR d.leased_until < clock_timestamp())
    AND d.id = oldest.id
  ORDER BY d.due_at, d.id LIMIT ${limit}::int FOR UPDATE OF d SKIP LOCKED
)
UPDATE q.delivery d SET leased_by = ${holder}::text, leased_until = clock_timestamp() + ${forMs}::float8 * interval '1 ms',
  attempts = d.attempts + 1
FROM due WHERE d.id = due.id
RETURNING d.id, d.revision, d.news AS kind, d.order_key AS "orderKey", d.created_at AS "createdAt", d.attempts AS attempt, d.payload`,
)

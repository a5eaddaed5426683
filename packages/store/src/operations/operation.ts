/** An operation on all runs that match a filter. */
import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../connection/db.ts'
import { pageOf, placeOf, type ListRequest, type Page } from '../reads/page.ts'
import type { StoredFilter } from './stored-filter.ts'

export type OperationKind = 'retry' | 'cancel' | 'review'

export interface Operation {
  readonly id: string
  readonly kind: OperationKind
  readonly filter: StoredFilter
  readonly askedAt: Date
  readonly askedBy: string
  /** `waiting`: no step has been executed yet. `stopping`: the next step ends it. */
  readonly state: 'waiting' | 'running' | 'stopping' | 'stopped' | 'done'
  /** The number of matching runs to which the operation was applied, whatever the answer. */
  readonly looked: number
  readonly changed: number
  /** The count of each answer. */
  readonly answers: Readonly<Record<string, number>>
  /** The oldest run that was read; null: no step has been executed yet, or all runs have been read. */
  readonly lookedBackTo: string | null
  readonly finishedAt: Date | null
  /** The replica that executes it. */
  readonly leasedBy: string | null
}

/** The columns of q.operation that make up an Operation. */
export const operationColumns: RawBuilder<Operation> = sql<Operation>`
  id, kind, filter, asked_at AS "askedAt", asked_by AS "askedBy", looked::float8 AS looked, changed::float8 AS changed, answers,
  CASE WHEN next_id < upper_id THEN (next_id + 1)::text END AS "lookedBackTo", finished_at AS "finishedAt",
  CASE WHEN leased_until > clock_timestamp() AND finished_at IS NULL THEN leased_by END AS "leasedBy",
  CASE WHEN finished_at IS NOT NULL THEN CASE WHEN stop_asked_at IS NOT NULL AND next_id IS NOT NULL THEN 'stopped' ELSE 'done' END
    WHEN stop_asked_at IS NOT NULL THEN 'stopping' WHEN leased_by IS NULL THEN 'waiting' ELSE 'running' END AS state`

export async function getOperation(db: Db, id: string): Promise<Operation | undefined> {
  const { rows } = await sql<Operation>`SELECT ${operationColumns} FROM q.operation WHERE id = ${id}`.execute(db)
  return rows[0]
}

/** The newest first. */
export async function listOperations(db: Db, request: ListRequest = {}): Promise<Page<Operation>> {
  const { limit, before } = placeOf(request)
  const { rows } = await sql<Operation>`
    SELECT ${operationColumns} FROM q.operation WHERE ${before ?? null}::bigint IS NULL OR id < ${before ?? null}::bigint
    ORDER BY operation.id DESC LIMIT ${limit + 1}`.execute(db)
  return pageOf(rows, limit)
}

/**
 * Requests an operation, and previews its effect. It applies to runs up to the newest one at the time of the request,
 * in the states they had then: runs that are enqueued or fail later do not change.
 */
import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../connection/db.ts'
import type { RunId } from '../lease.ts'
import { needsReview } from '../liveness/review.ts'
import { requireValidFilter } from '../reads/runs/check-run-filter.ts'
import type { RunFilter } from '../reads/runs/run-filter.ts'
import { runSummaries, type RunSummary } from '../reads/runs/run-summary.ts'
import { matches } from '../reads/runs/matches.ts'
import { isListedById } from '../reads/runs/walks.ts'
import { operationColumns, type Operation, type OperationKind } from './operation.ts'
import { storedFilter } from './stored-filter.ts'

export interface NewOperation {
  readonly kind: OperationKind
  readonly filter: RunFilter
  readonly by: string
}

export interface OperationPreview {
  /** Exact unless `atLeast`: then there may be more. */
  readonly match: { readonly count: number; readonly atLeast: boolean }
  /** The newest matching runs. */
  readonly samples: RunSummary[]
  /** Whether all runs were read. The operation itself reads all of them. */
  readonly exhausted: boolean
  /** When the oldest run that was read was created; null: all were read. */
  readonly lookedBackTo: Date | null
  /** The cursor with which `listTaskRuns` continues. Undefined: all were read, or the list of this filter has another order. */
  readonly next: string | undefined
}

const countMax = 10_000
const previewLook = 200_000
const previewLookMax = 1_000_000
const samplesMax = 3

export async function requestOperation(db: Db, { kind, filter, by }: NewOperation): Promise<Operation> {
  requireValidFilter(filter, {})
  const stored = JSON.stringify(storedFilter(filter))
  const { rows } = await sql<Operation>`
WITH made AS (
  INSERT INTO q.operation (kind, filter, upper_id, next_id, asked_by)
  SELECT ${kind}, ${stored}::jsonb, newest.id, newest.id, ${by} FROM (SELECT coalesce(max(id), 0) AS id FROM q.task_run) newest
  RETURNING *
), woken AS (
  SELECT count(pg_notify('q_operation', '')) FROM made
)
SELECT ${operationColumns} FROM made LEFT JOIN woken ON true`.execute(db)
  return rows[0] as Operation
}

export interface PreviewRequest {
  /** The most runs to read, whether they match or not. Default: 200 000; at most 1 000 000. */
  readonly look?: number
}

interface PreviewRow {
  readonly count: number
  readonly newest: RunId[]
  /** The oldest run that was read, if there are older ones. */
  readonly edge: RunId | null
  readonly edgeAt: Date | null
}

export async function previewOperation(
  db: Db,
  kind: OperationKind,
  filter: RunFilter,
  { look = previewLook }: PreviewRequest = {},
): Promise<OperationPreview> {
  requireValidFilter(filter, {})
  const most = Math.min(Math.max(1, Math.trunc(look)), previewLookMax)
  // `ends`: the oldest run to read and the one after it; two rows only if older runs exist.
  const { rows } = await sql<PreviewRow>`
WITH ends AS MATERIALIZED (SELECT id, created_at FROM q.task_run ORDER BY id DESC OFFSET ${most - 1}::int LIMIT 2),
edge AS MATERIALIZED (SELECT id, created_at FROM ends WHERE (SELECT count(*) FROM ends) = 2 ORDER BY id DESC LIMIT 1),
found AS MATERIALIZED (
  SELECT r.id FROM q.task_run r
  WHERE r.id >= coalesce((SELECT id FROM edge), 0) AND ${applies(kind, filter, sql`clock_timestamp()`)}
  ORDER BY r.id DESC LIMIT ${countMax + 1}
)
SELECT count(*)::int AS count, (SELECT id::text FROM edge) AS edge, (SELECT created_at FROM edge) AS "edgeAt",
  ARRAY(SELECT id::text FROM found ORDER BY id DESC LIMIT ${samplesMax}) AS newest FROM found`.execute(db)
  const { count = 0, newest = [], edge = null, edgeAt = null } = rows[0] ?? {}
  return {
    match: { count: Math.min(count, countMax), atLeast: count > countMax || edge !== null },
    samples: await runSummaries(db, newest),
    exhausted: edge === null,
    lookedBackTo: edgeAt,
    next: edge !== null && isListedById(filter) ? edge : undefined,
  }
}

/**
 * Whether the operation applies to a run `r`: the run matches, and was in a suitable state when the operation was
 * requested.
 */
export function applies(kind: OperationKind, filter: RunFilter, askedAt: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`(${matches(filter)} AND ${stateFor(kind, filter, askedAt)})`
}

function stateFor(kind: OperationKind, filter: RunFilter, askedAt: RawBuilder<unknown>): RawBuilder<boolean> {
  switch (kind) {
    case 'retry': {
      // Runs that succeeded or were cancelled are retried only if the filter names those states.
      const failed = filter.status === undefined ? sql`r.status = 'FAILED' AND` : sql``
      return sql<boolean>`(${failed} r.finished_at <= ${askedAt})`
    }
    case 'cancel':
      return sql<boolean>`(r.finished_at IS NULL)`
    case 'review':
      return sql<boolean>`EXISTS (SELECT FROM q.recovery v WHERE v.run_id = r.id AND ${needsReview} AND v.recovered_at <= ${askedAt})`
  }
}

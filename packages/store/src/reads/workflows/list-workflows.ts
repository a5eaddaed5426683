/**
 * Lists workflows, newest first, in pages. Open ones are found by their index; for others the primary key
 * is walked, and a page looks at a bounded number of them.
 */
import { sql } from 'kysely'
import type { Db } from '../../connection/db.ts'
import type { WorkflowStatus } from '../../workflows/lock.ts'
import type { WorkflowId } from '../../workflows/new-workflow.ts'
import { placeOf, type ListRequest, type Page } from '../page.ts'
import { getWorkflows, type WorkflowView } from './workflow.ts'

export interface WorkflowRequest extends ListRequest {
  /** In this state, or in one of these. */
  readonly status?: WorkflowStatus | readonly WorkflowStatus[]
  readonly name?: string
}

/** The most workflows that one page reads, whether they match or not. */
const lookMax = 50_000
/** The most steps that are counted per workflow in a list. */
const stepsMax = 2_000

/** A page that is not full but has a `next` has not read all older workflows. */
export async function listWorkflows(db: Db, request: WorkflowRequest = {}): Promise<Page<WorkflowView>> {
  const { status, name, ...page } = request
  const { limit, before } = placeOf(page)
  const states = typeof status === 'string' ? [status] : (status ?? [])
  const isOpen = states.length > 0 && states.every((state) => state === 'RUNNING' || state === 'PAUSED')
  const { rows } = await sql<{ id: WorkflowId; matches: boolean; place: number }>`
SELECT seen.id, seen.matches, seen.place::int AS place FROM (
  SELECT looked.*, row_number() OVER (ORDER BY looked.id DESC) AS place, lead(looked.id) OVER (ORDER BY looked.id DESC) IS NULL AS is_last
  FROM (
    SELECT w.id, (${states.length === 0} OR w.status = ANY(${states}::q.workflow_status[]))
      AND (${name ?? null}::text IS NULL OR w.name = ${name ?? null}) AS matches
    FROM q.workflow w WHERE ${isOpen ? sql`w.finished_at IS NULL` : sql`true`} AND ${before === undefined ? sql`true` : sql`w.id < ${before}`}
    ORDER BY w.id DESC LIMIT ${lookMax}::int) looked
) seen WHERE seen.matches OR seen.is_last ORDER BY seen.id DESC LIMIT ${limit + 1}::int`.execute(db)
  const matching = rows.filter((row) => row.matches)
  const isFull = matching.length > limit
  const last = isFull ? matching[limit - 1] : rows.at(-1)
  const shown = matching.slice(0, limit).map((row) => row.id)
  const found = await getWorkflows(db, shown, stepsMax)
  return {
    items: found.toReversed(),
    next: isFull || (last?.place ?? 0) === lookMax ? last?.id : undefined,
  }
}

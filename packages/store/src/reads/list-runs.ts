/**
 * Runs by what they have in common, newest first, a page at a time. No locks.
 *
 * Pages follow the ids, so runs enqueued meanwhile neither shift nor repeat what is still to come. Payloads and results
 * are left out: a page of them may be large (`getTaskRun` has them).
 *
 * What it costs: the primary key is walked backwards until the page is full, so a filter that few runs pass reads many
 * that do not. AVAILABLE runs, held ones and those of a workflow have an index, which is used where they are few.
 */
import { ExplainedError, type TaskState } from '@q/schema'
import { sql } from 'kysely'
import type { Db } from '../db.ts'
import { asRunId, type RunId } from '../lease.ts'
import { requireValidFilter } from './check-run-filter.ts'
import { statesNamed } from './status-names.ts'

export interface RunFilter {
  /** Names of states, in any case, also those of other systems: queued, in-progress, done, … */
  readonly status?: readonly string[]
  readonly task?: string
  readonly queue?: string
  readonly group?: string
  /** Id of the holder, or of the last one. */
  readonly replica?: string
  /** Its id, in decimal. */
  readonly workflow?: string
  readonly uniqueKey?: string
  /** At this time or later. */
  readonly createdAfter?: Date
  /** Earlier than this. */
  readonly createdBefore?: Date
}

export interface PageRequest {
  /** `next` of the page before. */
  readonly cursor?: string
  readonly limit?: number
}

export interface RunSummary {
  readonly id: RunId
  readonly task: string
  readonly queue: string
  readonly group: string
  readonly status: TaskState
  /** Of an end that is not a success. */
  readonly code: string | null
  readonly waitingFor: string | null
  readonly priority: number
  readonly attempt: number
  readonly maxAttempts: number
  readonly epoch: number
  readonly replicaId: string | null
  readonly workflowId: string | null
  readonly uniqueKey: string | null
  readonly createdAt: Date
  readonly runAt: Date
  readonly startedAt: Date | null
  readonly finishedAt: Date | null
}

export interface RunPage {
  readonly runs: RunSummary[]
  /** Where the next page begins; undefined on the last. */
  readonly next: string | undefined
}

const pageRuns = 50
const pageRunsMax = 500

export async function listTaskRuns(db: Db, filter: RunFilter = {}, page: PageRequest = {}): Promise<RunPage> {
  requireValidFilter(filter, page)
  const limit = Math.min(Math.max(1, Math.trunc(page.limit ?? pageRuns)), pageRunsMax)
  const rows = await matching(db, filter)
    .$if(page.cursor !== undefined, (runs) => runs.where('r.id', '<', idOf(page.cursor ?? '')))
    .orderBy('r.id', 'desc')
    // One more than asked for tells whether there is a next page.
    .limit(limit + 1)
    .execute()
  const runs = rows.slice(0, limit).map((row) => ({ ...row, id: row.id as RunId }))
  return { runs, next: rows.length > limit ? runs.at(-1)?.id : undefined }
}

function matching(db: Db, filter: RunFilter) {
  const states = filter.status === undefined ? undefined : statesNamed(filter.status)
  const only = (...of: readonly TaskState[]) =>
    states?.every((state) => of.includes(state)) === true ? true : undefined
  const inQueue = (queue: string) => sql<number>`ANY(ARRAY(SELECT id FROM q.lane WHERE queue = ${queue}))`
  return summaries(db).where((e) =>
    e.and([
      ...given(states, (them) => e('r.status', '=', sql<TaskState>`ANY(${them}::q.task_status[])`)),
      // The same again in the words of an index.
      ...given(only('AVAILABLE'), () => e('r.ready', '=', true)),
      ...given(only('CLAIMED', 'RUNNING'), () => e('r.held', '=', true)),
      ...given(filter.task, (task) => e('r.task', '=', task)),
      ...given(filter.queue, (queue) => e('r.lane', '=', inQueue(queue))),
      ...given(filter.group, (group) => e('r.grp', '=', group)),
      ...given(filter.replica, (replica) => e('r.replica_id', '=', replica)),
      ...given(filter.workflow, (workflow) => e('r.workflow_id', '=', workflow)),
      ...given(filter.uniqueKey, (key) => e('r.unique_key', '=', key)),
      ...given(filter.createdAfter, (time) => e('r.created_at', '>=', time)),
      ...given(filter.createdBefore, (time) => e('r.created_at', '<', time)),
    ]),
  )
}

function given<T, C>(value: T | undefined, condition: (value: T) => C): C[] {
  return value === undefined ? [] : [condition(value)]
}

function summaries(db: Db) {
  return db
    .selectFrom('q.task_run as r')
    .leftJoin('q.lane as lane', 'lane.id', 'r.lane')
    .select(['r.id', 'r.task', 'r.grp as group', 'r.status', 'r.waiting_for as waitingFor', 'r.priority', 'r.attempt'])
    .select(['r.max_attempts as maxAttempts', 'r.epoch', 'r.replica_id as replicaId', 'r.workflow_id as workflowId'])
    .select([
      'r.unique_key as uniqueKey',
      'r.created_at as createdAt',
      'r.run_at as runAt',
      'r.started_at as startedAt',
    ])
    .select(['r.finished_at as finishedAt', sql<string>`coalesce(lane.queue, '')`.as('queue')])
    .select(sql<string | null>`CASE WHEN r.status <> 'SUCCEEDED' THEN r.result ->> 'code' END`.as('code'))
}

function idOf(cursor: string): RunId {
  const id = asRunId(cursor)
  if (id !== undefined) return id
  throw new ExplainedError({
    code: 'CURSOR_INVALID',
    what: `"${cursor}" is not the beginning of a page.`,
    why: 'A cursor is the `next` of the page before, unchanged.',
    fix: 'Leave the cursor out to begin with the newest runs.',
  })
}

/**
 * Lists runs by filter, in one of six orders, a page at a time. Takes no locks.
 *
 * Pages follow a key, so runs enqueued in the meantime neither shift nor repeat other rows. The cost does not grow with
 * the history: a page reads a bounded number of runs, and reports how many and how far back. A page that is not full
 * but has a `next` has not read all older runs.
 */
import { sql } from 'kysely'
import type { Db } from '../../connection/db.ts'
import { bounded, countMax, countOf, type Bounded } from '../bounded.ts'
import { requireValidFilter } from './check-run-filter.ts'
import { matches } from './matches.ts'
import type { PageRequest, RunFilter } from './run-filter.ts'
import { runSummaries, type RunSummary } from './run-summary.ts'
import { walkRuns, type Walked } from './walk.ts'
import { asksForReady, readyMax, walkFor } from './walks.ts'

export interface RunSummaryPage {
  readonly runs: RunSummary[]
  /** The cursor of the next page; undefined: there are no more. */
  readonly next: string | undefined
  /** The number of runs read, whether they matched or not. */
  readonly looked: number
  /** When the last run read was created; null: none was read. */
  readonly lookedBackTo: Date | null
  /** Whether all runs were read, so that none is missing. */
  readonly exhausted: boolean
}

const pageRuns = 50
const pageRunsMax = 500
const lookRuns = 50_000
const lookRunsMax = 1_000_000

export async function listTaskRuns(db: Db, filter: RunFilter = {}, page: PageRequest = {}): Promise<RunSummaryPage> {
  const limit = Math.min(Math.max(1, Math.trunc(page.limit ?? pageRuns)), pageRunsMax)
  const { ids, ...walked } = await walkedRuns(db, filter, page, limit)
  return { runs: await runSummaries(db, ids), ...walked }
}

export interface CountRequest extends Pick<PageRequest, 'view' | 'look'> {
  /** The bound of the count. Default: 10 000; at most 100 000. */
  readonly max?: number
}

/** `atLeast`: the count stopped at `max`, or some runs were not read. */
export interface RunCount extends Bounded {
  readonly lookedBackTo: Date | null
  readonly exhausted: boolean
}

export async function countTaskRuns(
  db: Db,
  filter: RunFilter = {},
  { max = countMax, ...page }: CountRequest = {},
): Promise<RunCount> {
  const most = Math.min(Math.max(1, Math.trunc(max)), 100_000)
  const { ids, lookedBackTo, exhausted } = await walkedRuns(db, filter, page, most + 1)
  const { count, atLeast } = bounded(ids.length, most)
  return { count, atLeast: atLeast || !exhausted, lookedBackTo, exhausted }
}

async function walkedRuns(db: Db, filter: RunFilter, page: PageRequest, limit: number): Promise<Walked> {
  requireValidFilter(filter, page)
  const { view = 'newest', cursor } = page
  const look = Math.min(Math.max(1, Math.trunc(page.look ?? lookRuns)), lookRunsMax)
  const isReadyShort = view === 'newest' && asksForReady(filter) && (await hasFewReady(db))
  const walk = walkFor({ view, filter, cursor, limit }, isReadyShort)
  return walkRuns(db, walk, { matches: matches(filter), cursor, limit, look })
}

async function hasFewReady(db: Db): Promise<boolean> {
  const ready = sql`
    SELECT FROM q.lane CROSS JOIN LATERAL (SELECT FROM q.task_run r WHERE r.ready AND r.lane = lane.id
      ORDER BY r.priority, r.grp, r.run_at, r.id LIMIT ${readyMax + 1}::int) one LIMIT ${readyMax + 1}::int`
  const { rows } = await sql<{ few: boolean }>`SELECT ${countOf(ready)} <= ${readyMax}::int AS few`.execute(db)
  return rows[0]?.few === true
}

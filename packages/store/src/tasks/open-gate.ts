/**
 * PENDING (task) → the next gate, once a replica has published the task
 *
 * A run becomes what it would be if its task had been published when it was enqueued: it keeps the options of its enqueue,
 * gets the rest from the task, and windows and deadlines count from its enqueue (`q.open_run` of the database). If
 * another run has its unique key by then, it ends SKIPPED as a DUPLICATE.
 *
 * `publishTasks` opens the gate; the sweep of every replica opens it for an enqueue that did not see the publication and
 * committed after it. The next sweep handles a run that another transaction has locked. After the commit, duplicates and
 * failures are ended, like all other runs (a step's workflow is locked before the step), and keys are promoted: a key that
 * another transaction has locked does not delay other runs.
 */
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import { inTransaction } from '../connection/in-transaction.ts'
import type { RunId } from '../lease.ts'
import { applyTransitions, type Transition } from '../runs/transition.ts'
import { limitLockWaits, promoteKeys } from '../runs/promote.ts'
import { addWakes } from '../workflows/release.ts'
import { newPendingWakes, flushWakes } from '../workflows/pending-wakes.ts'

/** Runs that one transaction opens. */
const runsAtOnceMax = 500
/** Transactions of one sweep; a later sweep continues. */
const batchesMax = 200

/** Opens the gate for the waiting runs of every published task. Returns the runs that passed it. */
export async function sweepTaskGate(db: Db): Promise<RunId[]> {
  const { rows } = await sql<{ name: string }>`
    SELECT t.name FROM q.task t WHERE EXISTS (
      SELECT FROM q.task_run r WHERE r.task = t.name AND r.asked IS NOT NULL AND r.finished_at IS NULL AND r.status IN ('PENDING', 'AVAILABLE'))
    ORDER BY t.name`.execute(db)
  const opened: RunId[] = []
  for (const { name } of rows) opened.push(...(await openTaskGate(db, [name])))
  return opened
}

/** Opens the gate for runs of these tasks, as far as they are published. Returns the runs that passed it. */
export async function openTaskGate(db: Db, tasks: readonly string[], batches: number = batchesMax): Promise<RunId[]> {
  const opened: RunId[] = []
  for (let batch = 0; batch < batches; batch++) {
    const rows = await openSome(db, tasks)
    opened.push(...rows.filter(({ fate }) => fate === 'opened').map(({ id }) => id))
    await promoteKeys(db, [...new Set(rows.flatMap(({ key }) => key ?? []))])
    await applyTransitions(db, ['PENDING'], rows.flatMap(ending), {
      onlyIf: sql<boolean>`r.asked IS NOT NULL`,
      skipLocked: true,
    })
    const moved = rows.filter(({ fate }) => fate !== 'waits')
    if (rows.length < runsAtOnceMax || moved.length === 0) break
  }
  return opened
}

interface OpenedRow {
  readonly id: RunId
  readonly fence: number
  readonly fate: 'opened' | 'duplicate' | 'keyed-by-result' | 'waits'
  /** The concurrency key it now waits for. */
  readonly key: string | null
  /** The lane in which it is available now. */
  readonly lane: number | null
  /** In how many ms it is due, if it waits for its time. */
  readonly due: number | null
}

function openSome(db: Db, tasks: readonly string[]): Promise<readonly OpenedRow[]> {
  return inTransaction(db, async (trx) => {
    await limitLockWaits(trx)
    const { rows } = await sql<OpenedRow>`
      SELECT run_id::text AS id, run_fence AS fence, fate, key, lane, due
      FROM q.open_published(${tasks}::text[], ${runsAtOnceMax}::int)`.execute(trx)
    const wakes = newPendingWakes()
    addWakes(
      rows.map((row) => ({ ...row, key: null })),
      wakes,
    )
    await flushWakes(trx, wakes)
    return rows
  })
}

function ending({ id: runId, fence, fate }: OpenedRow): Transition[] {
  if (fate === 'duplicate') return [{ runId, fence, goal: 'SKIPPED', result: JSON.stringify(ends.duplicate) }]
  if (fate === 'keyed-by-result') return [{ runId, fence, goal: 'FAILED', result: JSON.stringify(ends.keyedByResult) }]
  return []
}

const ends = {
  duplicate: {
    code: 'DUPLICATE',
    detail: 'When its task was published, another run had its unique key, or counts in its window.',
  },
  keyedByResult: {
    code: 'INVALID_PAYLOAD',
    detail: 'The concurrency key of its task is at a place where the result of another step belongs.',
  },
} as const

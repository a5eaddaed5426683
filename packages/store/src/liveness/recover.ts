/**
 * stale CLAIMED → AVAILABLE; stale RUNNING → AVAILABLE | FAILED
 *
 * Look, lock, judge again, leave. Rows that somebody is just settling are skipped: look again next time. Staleness is
 * judged a second time, by a new snapshot under the row lock, in the statement that recovers: a beat that landed since
 * the look saves the run, and two reapers recover it once. The run leaves by the same path as when its holder settles
 * it, and every recovery is recorded in the same transaction. A run that the database refuses to change holds up no other.
 *
 * The old holder is not told: its next write matches no row. Not here: stopping its thread, which may be on another
 * machine.
 */
import { sql } from 'kysely'
import type { Db } from '../db.ts'
import { inTransaction } from '../in-transaction.ts'
import { leaveRuns, type Leaving, type Left } from '../runs/leave.ts'
import type { RunId } from '../lease.ts'
import { promoteOpenKeys } from '../runs/promote.ts'
import { withWorkflowsLocked } from '../workflows/lock.ts'
import { isAboutRows } from '../sql-state.ts'
import { getStaleTaskRuns, staleStatement, type StaleQuestion, type StaleRun } from './stale.ts'

export interface Recovered {
  readonly ids: RunId[]
  readonly count: number
  /** Those that the database does not let go (a trigger of somebody's, a row made by hand), if any. */
  readonly stuck?: readonly { readonly id: RunId; readonly error: unknown }[]
}

export type Verdict = Pick<Leaving, 'goal' | 'result' | 'onCrash'>

export const abandoned = {
  code: 'WORKER_CRASHED',
  detail: 'Task run abandoned: owning replica stopped responding',
} as const

/** In one transaction: a whole fleet may have died, and what a statement can carry is limited. */
const atOnceMax = 1_000

/** Looks for stale runs and recovers them as `verdict` says. `by`: who does it, for the record. */
export async function recoverStale(
  db: Db,
  question: StaleQuestion & { readonly by: string },
  verdict: Verdict,
): Promise<Recovered> {
  return recoverSeen(db, await getStaleTaskRuns(db, question), question, verdict)
}

/** The second half, for what was seen stale a moment ago. */
export async function recoverSeen(
  db: Db,
  seen: readonly StaleRun[],
  question: StaleQuestion & { readonly by: string },
  verdict: Verdict,
): Promise<Recovered> {
  const ids: RunId[] = []
  const stuck: { id: RunId; error: unknown }[] = []
  const recover = async (some: readonly StaleRun[]): Promise<void> => {
    try {
      ids.push(...(await recoverSome(db, some, question, verdict)).map((run) => run.id))
    } catch (error) {
      if (db.isTransaction || !isAboutRows(error)) throw error
      const [first, ...others] = some
      if (first !== undefined && others.length === 0) return void stuck.push({ id: first.id, error })
      const half = Math.ceil(some.length / 2)
      await recover(some.slice(0, half))
      await recover(some.slice(half))
    }
  }
  for (let first = 0; first < seen.length; first += atOnceMax) await recover(seen.slice(first, first + atOnceMax))
  return { ids, count: ids.length, ...(stuck.length === 0 ? {} : { stuck }) }
}

async function recoverSome(...[db, seen, question, verdict]: Part): Promise<Left[]> {
  const steps = await stepsAmong(db, seen)
  const left = [
    ...(await recoverPart(
      db,
      seen.filter((run) => !steps.has(run.id)),
      question,
      verdict,
    )),
    ...(await recoverSteps(
      db,
      seen.filter((run) => steps.has(run.id)),
      question,
      verdict,
    )),
  ]
  await promoteOpenKeys(db, left)
  return left
}

type Part = [db: Db, seen: readonly StaleRun[], question: StaleQuestion & { readonly by: string }, verdict: Verdict]

async function recoverPart(...[db, seen, question, verdict]: Part): Promise<Left[]> {
  if (seen.length === 0) return []
  return inTransaction(db, async (trx) => {
    const locked = await lockThoseNobodyHas(trx, seen)
    const leavings = locked.map((run) => ({ runId: run.id, fence: run.fence, revoke: true, ...verdict }))
    const stillStale = sql<boolean>`r.id IN (SELECT id FROM (${staleStatement(question)}) stale)`
    const recovered = await leaveRuns(trx, ['CLAIMED', 'RUNNING'], leavings, { onlyIf: stillStale })
    await record(trx, recovered, seen, question.by)
    return recovered
  })
}

/** Workflows before their runs, as everybody does; those of one that somebody keeps locked are looked at again next time. */
async function recoverSteps(...[db, seen, question, verdict]: Part): Promise<Left[]> {
  if (seen.length === 0) return []
  const ids = seen.map((run) => run.id)
  return withWorkflowsLocked(db, ids, (trx, steps) =>
    recoverPart(
      trx,
      seen.filter((run) => steps.has(run.id)),
      question,
      verdict,
    ),
  )
}

async function stepsAmong(db: Db, seen: readonly StaleRun[]): Promise<ReadonlySet<RunId>> {
  const { rows } = await sql<{ id: RunId }>`
    SELECT id FROM q.task_run WHERE id = ANY(${seen.map((run) => run.id)}::bigint[]) AND workflow_id IS NOT NULL`.execute(
    db,
  )
  return new Set(rows.map((row) => row.id))
}

async function lockThoseNobodyHas(trx: Db, seen: readonly StaleRun[]): Promise<StaleRun[]> {
  const { rows } = await sql<{ id: RunId }>`
    SELECT id FROM q.task_run WHERE id = ANY(${seen.map((run) => run.id)}::bigint[])
    ORDER BY id FOR NO KEY UPDATE SKIP LOCKED`.execute(trx)
  const locked = new Set(rows.map((row) => row.id))
  return seen.filter((run) => locked.has(run.id))
}

type Seen = Pick<StaleRun, 'id' | 'fence' | 'replicaId' | 'hostname' | 'beatAgeMs'> & {
  readonly cause: StaleRun['cause'] | 'reconciled'
}

/** One row per recovery, in the transaction that recovers. */
export async function record(trx: Db, recovered: readonly Left[], seen: readonly Seen[], by: string): Promise<void> {
  if (recovered.length === 0) return
  const stale = new Map(seen.map((run) => [run.id, run]))
  await trx
    .insertInto('q.recovery')
    .values(
      recovered.flatMap(({ id, was, status, code }) => {
        const run = stale.get(id)
        if (run === undefined) return []
        return {
          run_id: id,
          fence: run.fence,
          was,
          became: status,
          cause: run.cause,
          code,
          beat_age_ms: run.beatAgeMs === null ? null : Math.round(run.beatAgeMs),
          replica_id: run.replicaId,
          hostname: run.hostname,
          recovered_by: by,
        }
      }),
    )
    .execute()
}

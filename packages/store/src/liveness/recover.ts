/**
 * stale CLAIMED → AVAILABLE; stale RUNNING → AVAILABLE | FAILED
 *
 * Read, lock, check again, transition. Runs that another session is settling are skipped until the next call. Staleness is
 * checked a second time, in a new snapshot under the row lock, in the statement that recovers: a heartbeat that arrived
 * since the read saves the run, and of two reapers only one recovers it. The run takes the same transition as when its holder
 * settles it, and every recovery is recorded in the same transaction. A run that the database refuses to change does not
 * block the others.
 *
 * The old holder gets no message: its next write matches no row. This file does not stop its thread, which may be on
 * another machine.
 */
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import { inTransaction } from '../connection/in-transaction.ts'
import { applyTransitions, type Transition, type Transitioned } from '../runs/transition.ts'
import type { RunId } from '../lease.ts'
import { promoteOpenKeys } from '../runs/promote.ts'
import { withWorkflowsLocked } from '../workflows/lock.ts'
import { isAboutRows } from '../connection/sql-state.ts'
import { getStaleTaskRuns, staleStatement, type StaleQuery, type StaleRun } from './stale.ts'

export interface RecoveryResult {
  readonly ids: RunId[]
  readonly count: number
  /** The dead holders of these runs, each with the evidence. */
  readonly holders?: readonly DeadHolder[]
  /** Runs that the database refuses to change, because of a user's trigger or a row written manually. */
  readonly stuck?: readonly { readonly id: RunId; readonly error: unknown }[]
}

/** A holder that counts as dead, by one kind of evidence. */
export interface DeadHolder extends Pick<StaleRun, 'replicaId' | 'name' | 'hostname' | 'cause'> {
  /** Time since the holder's last sign of life; null: it never gave one. */
  readonly silentMs: number | null
  /** The runs that were recovered from it. */
  readonly ids: readonly RunId[]
}

export type RecoveryAction = Pick<Transition, 'goal' | 'result' | 'onCrash'>

export const abandoned = {
  code: 'WORKER_CRASHED',
  detail: 'Task run abandoned: owning replica stopped responding',
} as const

/** Runs per transaction: a whole fleet may have died, and the size of a statement is limited. */
const atOnceMax = 1_000

/** Finds stale runs and recovers them according to `action`. `by` is the recovering replica, for the record. */
export async function recoverStale(
  db: Db,
  query: StaleQuery & { readonly by: string },
  action: RecoveryAction,
): Promise<RecoveryResult> {
  return recoverStaleRuns(db, await getStaleTaskRuns(db, query), query, action)
}

/** Recovers runs that the caller has just found stale. */
export async function recoverStaleRuns(
  db: Db,
  seen: readonly StaleRun[],
  query: StaleQuery & { readonly by: string },
  action: RecoveryAction,
): Promise<RecoveryResult> {
  const ids: RunId[] = []
  const stuck: { id: RunId; error: unknown }[] = []
  const recover = async (some: readonly StaleRun[]): Promise<void> => {
    try {
      ids.push(...(await recoverSome(db, some, query, action)).map((run) => run.id))
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
  const holders = holdersOf(seen, ids)
  return {
    ids,
    count: ids.length,
    ...(holders.length === 0 ? {} : { holders }),
    ...(stuck.length === 0 ? {} : { stuck }),
  }
}

function holdersOf(seen: readonly StaleRun[], ids: readonly RunId[]): DeadHolder[] {
  const recovered = new Set(ids)
  const runs = seen.filter(({ id }) => recovered.has(id))
  const byEvidence = Map.groupBy(runs, ({ replicaId, cause }) => `${replicaId} ${cause}`)
  return [...byEvidence.values()].flatMap((some) => {
    const [first] = some
    if (first === undefined) return []
    const { replicaId, name, hostname, cause } = first
    const ages = some.flatMap(({ beatAgeMs }) => beatAgeMs ?? [])
    const silentMs = ages.length === 0 ? null : Math.min(...ages)
    return { replicaId, name, hostname, cause, silentMs, ids: some.map(({ id }) => id) }
  })
}

async function recoverSome(...[db, seen, query, action]: RecoverArguments): Promise<Transitioned[]> {
  const steps = await stepsAmong(db, seen)
  const changed = [
    ...(await recoverPart(
      db,
      seen.filter((run) => !steps.has(run.id)),
      query,
      action,
    )),
    ...(await recoverSteps(
      db,
      seen.filter((run) => steps.has(run.id)),
      query,
      action,
    )),
  ]
  await promoteOpenKeys(db, changed)
  return changed
}

type RecoverArguments = [
  db: Db,
  seen: readonly StaleRun[],
  query: StaleQuery & { readonly by: string },
  action: RecoveryAction,
]

async function recoverPart(...[db, seen, query, action]: RecoverArguments): Promise<Transitioned[]> {
  if (seen.length === 0) return []
  return inTransaction(db, async (trx) => {
    const locked = await lockFreeRuns(trx, seen)
    const transitions = locked.map((run) => ({ runId: run.id, fence: run.fence, revoke: true, ...action }))
    const stillStale = sql<boolean>`r.id IN (SELECT id FROM (${staleStatement(query)}) stale)`
    const recovered = await applyTransitions(trx, ['CLAIMED', 'RUNNING'], transitions, { onlyIf: stillStale })
    await recordRecoveries(trx, recovered, seen, query.by)
    return recovered
  })
}

/** Locks workflows before their runs, like every transaction; steps of a workflow that stays locked are left to the next call. */
async function recoverSteps(...[db, seen, query, action]: RecoverArguments): Promise<Transitioned[]> {
  if (seen.length === 0) return []
  const ids = seen.map((run) => run.id)
  return withWorkflowsLocked(db, ids, (trx, steps) =>
    recoverPart(
      trx,
      seen.filter((run) => steps.has(run.id)),
      query,
      action,
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

async function lockFreeRuns(trx: Db, seen: readonly StaleRun[]): Promise<StaleRun[]> {
  const { rows } = await sql<{ id: RunId }>`
    SELECT id FROM q.task_run WHERE id = ANY(${seen.map((run) => run.id)}::bigint[])
    ORDER BY id FOR NO KEY UPDATE SKIP LOCKED`.execute(trx)
  const locked = new Set(rows.map((row) => row.id))
  return seen.filter((run) => locked.has(run.id))
}

type StaleEvidence = Pick<StaleRun, 'id' | 'fence' | 'replicaId' | 'hostname' | 'beatAgeMs'> & {
  readonly cause: StaleRun['cause'] | 'reconciled'
}

/** Writes one row per recovery, in the transaction that recovers. */
export async function recordRecoveries(
  trx: Db,
  recovered: readonly Transitioned[],
  seen: readonly StaleEvidence[],
  by: string,
): Promise<void> {
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

/**
 * – → AVAILABLE | PENDING
 *
 * A run with a delay waits at the gate `time`, one with a concurrency key at the gate `concurrency`. Enqueue itself
 * never takes a slot: an open transaction of a user would block all other runs of the key. The insert is durable or
 * undone with the transaction it is part of. Idle replicas are woken with the commit: by the statement itself, or, in a
 * caller's transaction and for runs with unique keys, by the trigger of the table.
 *
 * If a live run of the task has the unique key, or a run took the key for a period (unique for a time, or throttled),
 * nothing is inserted and the answer is that run. Enqueues with the same key wait for each other. Debounced runs
 * (debounce.ts) come after all others, and so do runs of tasks whose options the producer does not know
 * (enqueue-by-database.ts). A batch is enqueued as a whole or not at all, whatever its size.
 */
import type { TaskState } from '@q/schema'
import type { CompiledQuery } from 'kysely'
import type { Db } from '../connection/db.ts'
import { inTransaction } from '../connection/in-transaction.ts'
import type { RunId } from '../lease.ts'
import { checkNewRuns, unstorable, type CheckedRun } from './check-new-runs.ts'
import { debounceRuns } from './debounce.ts'
import { findDuplicates } from './duplicates.ts'
import { enqueueByDatabase, keysByDatabase } from './enqueue-by-database.ts'
import { enqueueBatchesOf } from './enqueue-batches.ts'
import { enqueueOneStatement, oneReadyRun } from './enqueue-one-statement.ts'
import { enqueueStatement, enqueueUniqueStatement, takeIds, type EnqueueRow } from './enqueue-statement.ts'
import { gateOf, storedKey, throttleKey, type EnqueuedRun, type NewRun } from './new-run.ts'
import { moveRunsOf } from './promote.ts'
import { beginPeriods, type UniquePeriod } from './unique-period.ts'

/** Between a rejected duplicate and the search for it the other run may have ended; then the insert is tried again. */
const triesMax = 5

export interface EnqueueTaskRunsOptions {
  /**
   * For a connection on which the caller may open a transaction that `db` does not know of: whether one is open. The
   * trigger wakes at its commit, and keyed runs are promoted after it.
   */
  readonly isInTransaction?: (() => boolean) | undefined
}

/** Answers in the order given. In a caller's transaction, keyed runs stay gated until a promotion after its commit. */
export async function enqueueTaskRuns(
  db: Db,
  newRuns: readonly NewRun[],
  { isInTransaction }: EnqueueTaskRunsOptions = {},
): Promise<EnqueuedRun[]> {
  const runs = checkNewRuns(newRuns)
  const withoutLane = runs.filter(({ run }) => run.lane === undefined)
  const debounced = runs.filter(({ run }) => run.lane !== undefined && run.debounce !== undefined)
  const others = runs.filter(({ run }) => run.lane !== undefined && run.debounce === undefined)
  const batches = enqueueBatchesOf(others)
  const wakesAtCommit = db.isTransaction || isInTransaction !== undefined
  // The statement that wakes switches the trigger off for the whole transaction.
  const wakes =
    !wakesAtCommit && others.length === runs.length && !others.some(({ run }) => dedupKey(run) !== undefined)
  const enqueue = async (own: Db) =>
    new Map([
      ...(await enqueueBatches(own, others, batches, wakes)),
      ...(await debounceRuns(own, debounced)),
      ...(await enqueueByDatabase(own, withoutLane)),
    ])
  const answers = await (isOneStatement(runs, batches) ? enqueue(db) : inTransaction(db, enqueue))
  const isCommitted = !db.isTransaction && isInTransaction?.() !== true
  const moved = isCommitted ? await promoteNew(db, newRuns, [...answers.values()]) : new Map()
  return runs.map((run) => {
    const answer = answers.get(run)
    if (answer === undefined) throw new Error(`A run of ${run.run.task} was enqueued without an answer.`)
    return { ...answer, status: moved.get(answer.id) ?? answer.status }
  })
}

/**
 * Assigns keyed runs the free slots of their keys, and slots of less urgent runs; called after the commit. Returns the
 * states that this changed. An error here does not fail the accepted enqueue: the sweep promotes later.
 */
export async function promoteNew(
  db: Db,
  runs: readonly NewRun[],
  enqueued: readonly EnqueuedRun[],
): Promise<ReadonlyMap<RunId, TaskState>> {
  const isUnlaned = runs.some(({ lane }) => lane === undefined)
  const move = async () => moveRunsOf(db, [...keysOf(runs), ...(isUnlaned ? await keysByDatabase(db, enqueued) : [])])
  const moved = await move().catch(() => [])
  return new Map(moved.map(({ id, status }) => [id, status]))
}

/**
 * Whether one statement is enough, without a transaction: a single run that finds its key taken, and tries again, has
 * written nothing.
 */
function isOneStatement(runs: readonly CheckedRun[], batches: readonly unknown[]): boolean {
  if (runs.some(({ run }) => run.lane === undefined)) return runs.length === 1 && runs[0]?.run.runAt === undefined
  if (runs.some(({ run }) => (run.uniqueForMs ?? run.throttle ?? run.debounce) !== undefined)) return false
  return batches.length <= 1 && (runs.length === 1 || runs.every(({ run }) => run.uniqueKey === undefined))
}

/**
 * All parts take their keys in one order, otherwise two batches could deadlock. Their ids are taken first, so that ids
 * still rise in the order given.
 */
async function enqueueBatches(
  db: Db,
  runs: readonly CheckedRun[],
  batches: readonly CheckedRun[][],
  wakes: boolean,
): Promise<[CheckedRun, EnqueuedRun][]> {
  const needsKeyOrder = batches.length > 1 && runs.some(({ run }) => dedupKey(run) !== undefined)
  const numbered = needsKeyOrder ? await withIdsInKeyOrder(db, runs) : undefined
  const answers: [CheckedRun, EnqueuedRun][] = []
  for (const batch of numbered === undefined ? batches : enqueueBatchesOf([...numbered.keys()])) {
    for (const [run, answer] of await enqueueBatch(db, batch, wakes)) answers.push([numbered?.get(run) ?? run, answer])
  }
  return answers
}

/** Returns the runs with their ids, in the order of their keys, each with the run it came from. */
async function withIdsInKeyOrder(db: Db, runs: readonly CheckedRun[]): Promise<Map<CheckedRun, CheckedRun>> {
  const { ids, now } = await takeIds(db, runs.length)
  const numberedRuns = runs.map((run, ordinal) => {
    const key = Buffer.from(`${run.run.task}\0${dedupKey(run.run) ?? ''}`)
    const runAt = run.run.runAt ?? new Date(now.getTime() + (run.run.delayMs ?? 0))
    return { key, run, numbered: { ...run, id: ids[ordinal] as RunId, runAt } }
  })
  return new Map(
    numberedRuns.toSorted((a, b) => Buffer.compare(a.key, b.key)).map(({ numbered, run }) => [numbered, run]),
  )
}

async function enqueueBatch(
  db: Db,
  batch: readonly CheckedRun[],
  wakes: boolean,
): Promise<[CheckedRun, EnqueuedRun][]> {
  const answers = new Map<CheckedRun, EnqueuedRun>()
  let remaining = batch
  for (let tries = 0; tries < triesMax && remaining.length > 0; tries++) {
    for (const [run, id] of await insert(db, dedupeThrottled(remaining), wakes)) {
      answers.set(run, { id, status: gateOf(run.run) === null ? 'AVAILABLE' : 'PENDING', duplicate: false })
    }
    const refused = remaining.filter((run) => !answers.has(run))
    for (const [run, answer] of await existing(db, refused)) answers.set(run, answer)
    remaining = refused.filter((run) => !answers.has(run))
  }
  return batch.map((run) => {
    const answer = answers.get(run)
    if (answer !== undefined) return [run, answer]
    throw new Error(
      `The unique key of a run of ${run.run.task} was taken and freed ${triesMax} times during the enqueue.`,
    )
  })
}

/** Keeps the first of the throttled runs with one key: no index rejects the others, as it does with unique keys. */
function dedupeThrottled(runs: readonly CheckedRun[]): CheckedRun[] {
  const seen = new Set<string>()
  return runs.filter(({ run: { task, throttle } }) => {
    const key = throttle === undefined ? undefined : `${task}\n${throttle.key}`
    if (key === undefined) return true
    const isFirst = !seen.has(key)
    seen.add(key)
    return isFirst
  })
}

/** Returns the runs that were inserted. */
async function insert(db: Db, runs: readonly CheckedRun[], wakes: boolean): Promise<Map<CheckedRun, RunId>> {
  const isUnique = runs.some(({ run }) => dedupKey(run) !== undefined)
  const statement = isUnique ? enqueueUniqueStatement(runs) : insertStatement(runs, wakes)
  const { rows } = await db.executeQuery(statement).catch((error: unknown) => {
    throw unstorable(error)
  })
  const [{ ids, made } = { ids: '', made: '' }] = rows
  const inOrder = ids.split(',') as RunId[]
  const withIds = runs.map((run, ordinal) => [run, run.id ?? (inOrder[ordinal] as RunId)] as const)
  if (made === null) return new Map(withIds)
  const there = new Set(made.split(',') as RunId[])
  const inserted = withIds.filter(([, id]) => there.has(id))
  for (const id of await beginPeriods(db, inserted.flatMap(periodOf))) there.delete(id)
  return new Map(inserted.filter(([, id]) => there.has(id)))
}

function insertStatement(runs: readonly CheckedRun[], wakes: boolean): CompiledQuery<EnqueueRow> {
  const one = wakes ? oneReadyRun(runs) : undefined
  return one === undefined ? enqueueStatement(runs, { wakes }) : enqueueOneStatement(one)
}

/** Returns the key by which another run may already be the answer. */
function dedupKey({ uniqueKey, throttle }: NewRun): string | undefined {
  return throttle === undefined ? uniqueKey : throttleKey(throttle)
}

function periodOf([{ run }, runId]: readonly [CheckedRun, RunId]): UniquePeriod[] {
  const { task, throttle } = run
  const key = dedupKey(run)
  const forMs = throttle?.forMs ?? run.uniqueForMs
  return key === undefined || forMs === undefined ? [] : [{ runId, task, key, forMs }]
}

async function existing(db: Db, runs: readonly CheckedRun[]): Promise<[CheckedRun, EnqueuedRun][]> {
  const keys = runs.map(({ run }) => ({ task: run.task, key: dedupKey(run) ?? '' }))
  const found = await findDuplicates(db, keys)
  return found.flatMap(({ ordinal, id, status }) => {
    const run = runs[ordinal - 1]
    return run === undefined ? [] : [[run, { id, status, duplicate: true }]]
  })
}

function keysOf(runs: readonly NewRun[]): string[] {
  const keyed = runs.filter((run) => gateOf(run) === 'concurrency')
  return [...new Set(keyed.flatMap((run) => (run.concurrency === undefined ? [] : storedKey(run.concurrency))))]
}

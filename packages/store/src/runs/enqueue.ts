/**
 * – → AVAILABLE | PENDING
 *
 * A run with a delay waits at the gate `time`, one with a concurrency key at the gate `concurrency`: enqueue itself
 * never takes a slot, or an open transaction of a user would hold up everybody else's. The insert is as durable, or as
 * undone, as the transaction it is part of. Idle replicas are woken with the commit: by the statement itself, or, in a
 * caller's transaction and for runs with unique keys, by the trigger of the table.
 *
 * A unique key that a live run of the task has, or a key that one took for a period (unique for a time, or throttled):
 * nothing is inserted, and the answer is that run. Enqueues with one key wait for each other. Debounced runs go their own
 * way (debounce.ts), after all others, and so do runs of tasks whose options the producer does not know
 * (enqueue-by-database.ts). A batch is enqueued as a whole or not at all, whatever its size.
 */
import type { TaskState } from '@q/schema'
import type { Db } from '../db.ts'
import { inTransaction } from '../in-transaction.ts'
import type { RunId } from '../lease.ts'
import { checkNewRuns, unstorable, type CheckedRun } from './check-new-runs.ts'
import { debounceRuns } from './debounce.ts'
import { findDuplicates } from './duplicates.ts'
import { enqueueByDatabase, keysByDatabase } from './enqueue-by-database.ts'
import { partsOf } from './enqueue-parts.ts'
import { enqueueStatement, enqueueUniqueStatement, takeNumbers } from './enqueue-statement.ts'
import { gateOf, storedKey, throttleKey, type EnqueuedRun, type NewRun } from './new-run.ts'
import { moveRunsOf } from './promote.ts'
import { beginPeriods, type UniquePeriod } from './unique-period.ts'

/** Between a refused duplicate and the look for it the other run may have ended: then insert again. */
const triesMax = 5

export interface EnqueueOptions {
  /** The caller may have a transaction open on this connection that `db` does not know: the trigger wakes at its commit. */
  readonly wakesAtCommit?: boolean
}

/** Answers in the order asked. Inside a caller's transaction keyed runs stay gated until a promotion after its commit. */
export async function enqueueTaskRuns(
  db: Db,
  newRuns: readonly NewRun[],
  { wakesAtCommit = db.isTransaction }: EnqueueOptions = {},
): Promise<EnqueuedRun[]> {
  const runs = checkNewRuns(newRuns)
  const withoutLane = runs.filter(({ run }) => run.lane === undefined)
  const debounced = runs.filter(({ run }) => run.lane !== undefined && run.debounce !== undefined)
  const others = runs.filter(({ run }) => run.lane !== undefined && run.debounce === undefined)
  const parts = partsOf(others)
  // The statement that wakes switches the trigger off for the whole transaction.
  const wakes =
    !wakesAtCommit && others.length === runs.length && !others.some(({ run }) => takenKey(run) !== undefined)
  const enqueue = async (own: Db) =>
    new Map([
      ...(await enqueueParts(own, others, parts, wakes)),
      ...(await debounceRuns(own, debounced)),
      ...(await enqueueByDatabase(own, withoutLane)),
    ])
  const answers = await (isOneStatement(runs, parts) ? enqueue(db) : inTransaction(db, enqueue))
  const moved = db.isTransaction ? new Map() : await promoteNew(db, newRuns, [...answers.values()])
  return runs.map((run) => {
    const answer = answers.get(run)
    if (answer === undefined) throw new Error(`A run of ${run.run.task} was enqueued without an answer.`)
    return { ...answer, status: moved.get(answer.id) ?? answer.status }
  })
}

/**
 * Gives keyed runs the free slots of their keys, and slots of less urgent runs; after the commit. Returns the states that
 * this changed. An error here does not fail the accepted enqueue: the sweep promotes later.
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

/** Then it needs no transaction: a single run that finds its key taken, and tries again, has written nothing so far. */
function isOneStatement(runs: readonly CheckedRun[], parts: readonly unknown[]): boolean {
  if (runs.some(({ run }) => run.lane === undefined)) return runs.length === 1 && runs[0]?.run.runAt === undefined
  if (runs.some(({ run }) => (run.uniqueForMs ?? run.throttle ?? run.debounce) !== undefined)) return false
  return parts.length <= 1 && (runs.length === 1 || runs.every(({ run }) => run.uniqueKey === undefined))
}

/**
 * Several parts take their keys in the order in which each of them does: else two batches could wait in a circle. Their
 * numbers are taken before, so that they rise in the order asked all the same.
 */
async function enqueueParts(
  db: Db,
  runs: readonly CheckedRun[],
  parts: readonly CheckedRun[][],
  wakes: boolean,
): Promise<[CheckedRun, EnqueuedRun][]> {
  const inCircles = parts.length > 1 && runs.some(({ run }) => takenKey(run) !== undefined)
  const numbered = inCircles ? await numberedByKey(db, runs) : undefined
  const answers: [CheckedRun, EnqueuedRun][] = []
  for (const part of numbered === undefined ? parts : partsOf([...numbered.keys()])) {
    for (const [run, answer] of await enqueuePart(db, part, wakes)) answers.push([numbered?.get(run) ?? run, answer])
  }
  return answers
}

/** With their numbers, in the order of their keys; and which of the runs each is. */
async function numberedByKey(db: Db, runs: readonly CheckedRun[]): Promise<Map<CheckedRun, CheckedRun>> {
  const { ids, now } = await takeNumbers(db, runs.length)
  const places = runs.map((run, place) => {
    const key = Buffer.from(`${run.run.task}\0${takenKey(run.run) ?? ''}`)
    const runAt = run.run.runAt ?? new Date(now.getTime() + (run.run.delayMs ?? 0))
    return { key, run, numbered: { ...run, id: ids[place] as RunId, runAt } }
  })
  return new Map(places.toSorted((a, b) => Buffer.compare(a.key, b.key)).map(({ numbered, run }) => [numbered, run]))
}

async function enqueuePart(db: Db, part: readonly CheckedRun[], wakes: boolean): Promise<[CheckedRun, EnqueuedRun][]> {
  const answers = new Map<CheckedRun, EnqueuedRun>()
  let left = part
  for (let tries = 0; tries < triesMax && left.length > 0; tries++) {
    for (const [run, id] of await insert(db, withoutTwins(left), wakes)) {
      answers.set(run, { id, status: gateOf(run.run) === null ? 'AVAILABLE' : 'PENDING', duplicate: false })
    }
    const refused = left.filter((run) => !answers.has(run))
    for (const [run, answer] of await existing(db, refused)) answers.set(run, answer)
    left = refused.filter((run) => !answers.has(run))
  }
  return part.map((run) => {
    const answer = answers.get(run)
    if (answer !== undefined) return [run, answer]
    throw new Error(`The unique key of a run of ${run.run.task} was taken and freed ${triesMax} times meanwhile.`)
  })
}

/** Of throttled runs with one key the first: no index stops the others, as it does with unique keys. */
function withoutTwins(runs: readonly CheckedRun[]): CheckedRun[] {
  const seen = new Set<string>()
  return runs.filter(({ run: { task, throttle } }) => {
    const key = throttle === undefined ? undefined : `${task}\n${throttle.key}`
    if (key === undefined) return true
    const isFirst = !seen.has(key)
    seen.add(key)
    return isFirst
  })
}

/** Those that were made. */
async function insert(db: Db, runs: readonly CheckedRun[], wakes: boolean): Promise<Map<CheckedRun, RunId>> {
  const isUnique = runs.some(({ run }) => takenKey(run) !== undefined)
  const statement = isUnique ? enqueueUniqueStatement(runs) : enqueueStatement(runs, { wakes })
  const { rows } = await db.executeQuery(statement).catch((error: unknown) => {
    throw unstorable(error)
  })
  const [{ ids, made } = { ids: '', made: '' }] = rows
  const inOrder = ids.split(',') as RunId[]
  const placed = runs.map((run, place) => [run, run.id ?? (inOrder[place] as RunId)] as const)
  if (made === null) return new Map(placed)
  const there = new Set(made.split(',') as RunId[])
  const inserted = placed.filter(([, id]) => there.has(id))
  for (const id of await beginPeriods(db, inserted.flatMap(periodOf))) there.delete(id)
  return new Map(inserted.filter(([, id]) => there.has(id)))
}

/** The key by which it may be somebody else. */
function takenKey({ uniqueKey, throttle }: NewRun): string | undefined {
  return throttle === undefined ? uniqueKey : throttleKey(throttle)
}

function periodOf([{ run }, runId]: readonly [CheckedRun, RunId]): UniquePeriod[] {
  const { task, throttle } = run
  const key = takenKey(run)
  const forMs = throttle?.forMs ?? run.uniqueForMs
  return key === undefined || forMs === undefined ? [] : [{ runId, task, key, forMs }]
}

async function existing(db: Db, runs: readonly CheckedRun[]): Promise<[CheckedRun, EnqueuedRun][]> {
  const keys = runs.map(({ run }) => ({ task: run.task, key: takenKey(run) ?? '' }))
  const found = await findDuplicates(db, keys)
  return found.flatMap(({ place, id, status }) => {
    const run = runs[place - 1]
    return run === undefined ? [] : [[run, { id, status, duplicate: true }]]
  })
}

function keysOf(runs: readonly NewRun[]): string[] {
  const keyed = runs.filter((run) => gateOf(run) === 'concurrency')
  return [...new Set(keyed.flatMap((run) => (run.concurrency === undefined ? [] : storedKey(run.concurrency))))]
}

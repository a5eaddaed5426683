/**
 * – → AVAILABLE | PENDING
 *
 * A run with a delay waits at the gate `time`, one with a concurrency key at the gate `concurrency`: enqueue itself
 * never takes a slot, or an open transaction of a user would hold up everybody else's. The insert is as durable, or as
 * undone, as the transaction it is part of. Nothing is notified here: a wake is sent after the commit.
 *
 * A unique key that a live run of the task has: nothing is inserted, and the answer is that run.
 * Payloads, names and keys are checked before anything is sent: with one bad run in a batch, none is enqueued.
 */
import { ExplainedError, type TaskState } from '@q/schema'
import { checkJson, checkName, jsonReasons, problemsText, type NameKind } from '@q/schema/json'
import type { CompiledQuery } from 'kysely'
import type { Db } from '../db.ts'
import { fromNow } from '../clock.ts'
import { inTransaction } from '../in-transaction.ts'
import type { RunId } from '../lease.ts'
import { promoteKeys } from './promote.ts'

export interface NewRun {
  readonly task: string
  readonly lane: number
  /** The value itself; at most 1 MiB as JSON, and nothing that jsonb would lose or refuse. */
  readonly payload: unknown
  readonly delayMs?: number
  /** Not started by then: EXPIRED. */
  readonly expiresInMs?: number
  readonly priority?: number
  readonly group?: string
  readonly maxAttempts?: number
  readonly onCrash?: 'fail' | 'retry'
  /** Scoped to its task. */
  readonly uniqueKey?: string
  /** `scope`: the task, or a name that tasks share; its limit is in `q.concurrency_limit`. */
  readonly concurrency?: { readonly scope: string; readonly key: string }
}

/** Checked; its payload is JSON text. */
export type StorableRun = NewRun & { readonly payload: string }

export interface EnqueuedRun {
  readonly id: RunId
  readonly status: TaskState
  /** True: it was there already. */
  readonly duplicate: boolean
}

export interface InsertedRow {
  readonly id: string
  readonly status: TaskState
}

/** A statement has room for 65 535 parameters; a larger batch is several statements in one transaction. */
const rowsAtOnceMax = 1_000

/** Between a refused duplicate and the look for it the other run may have ended: then insert again. */
const triesMax = 5

/** Answers in the order asked. Inside a caller's transaction keyed runs stay gated until somebody promotes after its commit. */
export async function enqueueTaskRuns(db: Db, newRuns: readonly NewRun[]): Promise<EnqueuedRun[]> {
  const runs = storableRuns(newRuns)
  const unique = runs.filter((run) => run.uniqueKey !== undefined)
  const plain = runs.filter((run) => run.uniqueKey === undefined)
  const inserted = new Map<StorableRun, EnqueuedRun>()
  const rows = await insertAll(db, plain)
  for (const [index, run] of plain.entries()) {
    const row = rows[index]
    if (row !== undefined) inserted.set(run, { id: row.id as RunId, status: row.status, duplicate: false })
  }
  for (const run of unique) inserted.set(run, await enqueueUnique(db, run))
  const promoted = new Set(db.isTransaction ? [] : await promoteKeys(db, keysOf(runs)))
  return runs.map((run) => {
    const answer = inserted.get(run)
    if (answer === undefined) throw new Error('The database accepted a run and named none.')
    return promoted.has(answer.id) ? { ...answer, status: 'AVAILABLE' } : answer
  })
}

async function insertAll(db: Db, runs: readonly StorableRun[]): Promise<readonly InsertedRow[]> {
  if (runs.length > rowsAtOnceMax) return inTransaction(db, (trx) => insertInParts(trx, runs))
  if (runs.length === 0) return []
  try {
    return (await db.executeQuery(enqueueStatement(db, runs))).rows
  } catch (error) {
    throw unstorable(error)
  }
}

async function insertInParts(trx: Db, runs: readonly StorableRun[]): Promise<InsertedRow[]> {
  const rows: InsertedRow[] = []
  for (let start = 0; start < runs.length; start += rowsAtOnceMax) {
    rows.push(...(await insertAll(trx, runs.slice(start, start + rowsAtOnceMax))))
  }
  return rows
}

async function enqueueUnique(db: Db, run: StorableRun): Promise<EnqueuedRun> {
  for (let tries = 0; tries < triesMax; tries++) {
    const [row] = await insertAll(db, [run])
    if (row !== undefined) return { id: row.id as RunId, status: row.status, duplicate: false }
    const other = await db
      .selectFrom('q.task_run')
      .select(['id', 'status'])
      .where('task', '=', run.task)
      .where('unique_live', '=', run.uniqueKey ?? null)
      .executeTakeFirst()
    if (other !== undefined) return { id: other.id as RunId, status: other.status, duplicate: true }
  }
  throw new Error(`The unique key of a run of ${run.task} was taken and freed ${triesMax} times while it was enqueued.`)
}

export function enqueueStatement(db: Db, runs: readonly StorableRun[]): CompiledQuery<InsertedRow> {
  return db
    .insertInto('q.task_run')
    .values(
      runs.map((run) => {
        const gate = run.delayMs !== undefined ? 'time' : run.concurrency !== undefined ? 'concurrency' : null
        return {
          task: run.task,
          lane: run.lane,
          payload: run.payload,
          priority: run.priority ?? 0,
          grp: run.group ?? '',
          max_attempts: run.maxAttempts ?? 1,
          on_crash: run.onCrash ?? null,
          run_at: fromNow(run.delayMs ?? 0),
          expires_at: run.expiresInMs === undefined ? null : fromNow(run.expiresInMs),
          unique_key: run.uniqueKey ?? null,
          concurrency_scope: run.concurrency?.scope ?? null,
          concurrency_key: run.concurrency === undefined ? null : keyOf(run.concurrency),
          status: gate === null ? ('AVAILABLE' as const) : ('PENDING' as const),
          waiting_for: gate,
        }
      }),
    )
    .onConflict((conflict) => conflict.doNothing())
    .returning(['id', 'status'])
    .compile()
}

function keysOf(runs: readonly NewRun[]): string[] {
  const keyed = runs.filter((run) => run.delayMs === undefined)
  return [...new Set(keyed.flatMap((run) => (run.concurrency === undefined ? [] : keyOf(run.concurrency))))]
}

/** The scope is the first part, so equal keys of different scopes never meet. */
function keyOf({ scope, key }: { scope: string; key: string }): string {
  return `${scope}\u001f${key}`
}

type Fault = keyof typeof refusals

const refusals = {
  name: {
    code: 'NAME_INVALID',
    what: 'A name or key cannot be used; nothing was enqueued.',
    fix: 'Use short printable text.',
  },
  'not-json': {
    code: 'PAYLOAD_NOT_JSON',
    what: 'A payload holds something that JSON cannot show; nothing was enqueued.',
    fix: 'Pass plain objects, arrays, strings, numbers, booleans and null; turn anything else into one of them first.',
  },
  unstorable: {
    code: 'PAYLOAD_UNSTORABLE',
    what: 'A payload cannot be stored; nothing was enqueued.',
    fix: 'Remove such characters and numbers, or encode them (text as base64, for instance); nest less deeply.',
  },
  'too-large': {
    code: 'PAYLOAD_TOO_LARGE',
    what: 'A payload is too large; nothing was enqueued.',
    fix: 'Store it elsewhere and pass where it is.',
  },
} as const

/** More are not told. */
const faultsMax = 10

function storableRuns(runs: readonly NewRun[]): StorableRun[] {
  const storable: StorableRun[] = []
  const bad: { fault: Fault; why: string }[] = []
  for (const [index, run] of runs.entries()) {
    const which = runs.length === 1 ? '' : `run ${index + 1} of ${runs.length}: `
    const names = nameProblems(run)
    const checked = checkJson(run.payload)
    if (names.length > 0) bad.push({ fault: 'name', why: `${which}${names.join('; ')}` })
    if (checked.ok) storable.push({ ...run, payload: checked.text })
    else bad.push({ fault: jsonReasons[checked.problems[0].reason], why: `${which}${problemsText(checked.problems)}` })
    if (bad.length >= faultsMax) break
  }
  const [first] = bad
  if (first === undefined) return storable
  throw new ExplainedError({ ...refusals[first.fault], why: `${bad.map(({ why }) => why).join('. ')}.` })
}

function nameProblems({ task, group, uniqueKey, concurrency }: NewRun): string[] {
  const names: [NameKind, unknown][] = [['task', task]]
  if (group !== undefined) names.push(['group', group])
  if (uniqueKey !== undefined) names.push(['unique key', uniqueKey])
  if (concurrency !== undefined) {
    names.push(['concurrency scope', concurrency.scope], ['concurrency key', concurrency.key])
  }
  return names.flatMap(([kind, name]) => {
    const problem = checkName(kind, name)
    return problem === undefined ? [] : `the ${kind} ${problem}`
  })
}

/** 22P05 and 22P02: text that jsonb cannot hold. The last resort; the check above lets none pass. */
function unstorable(error: unknown): unknown {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined
  if (code !== '22P05' && code !== '22P02') return error
  return new ExplainedError({
    ...refusals.unstorable,
    why: 'The database says that jsonb cannot hold it.',
    cause: error,
  })
}

/**
 * – → AVAILABLE | PENDING, by `q.enqueue()` of the database
 *
 * For runs of tasks whose options the producer does not know. The database reads `q.task` in the statement that inserts: a
 * task that a replica has published in the meantime applies at once; a run of any other task waits at the gate `task`,
 * with the options of this enqueue, until a replica publishes the task (tasks/open-gate.ts).
 */
import { ExplainedError, type TaskState } from '@q/schema'
import { sql, type CompiledQuery } from 'kysely'
import type { Db } from '../connection/db.ts'
import type { RunId } from '../lease.ts'
import { prepared } from '../connection/prepared.ts'
import { sqlState } from '../connection/sql-state.ts'
import { unstorable, type CheckedRun } from './check-new-runs.ts'
import { enqueueBatchesOf } from './enqueue-batches.ts'
import { arrayText } from './enqueue-text.ts'
import { throttleKey, type EnqueuedRun } from './new-run.ts'

/** Inserts in the order of keys, as other batches do, so that they cannot deadlock. Runs without a key keep their order. */
export async function enqueueByDatabase(db: Db, runs: readonly CheckedRun[]): Promise<[CheckedRun, EnqueuedRun][]> {
  const answers: [CheckedRun, EnqueuedRun][] = []
  const inOrder = runs
    .map((run) => ({ run, key: Buffer.from(keyOf(run)) }))
    .toSorted((a, b) => Buffer.compare(a.key, b.key))
    .map(({ run }) => run)
  for (const part of enqueueBatchesOf(inOrder)) {
    const { rows } = await db.executeQuery(enqueueByDatabaseStatement(part)).catch((error: unknown) => {
      throw refusalOf(error)
    })
    for (const { ordinal, ...answer } of rows) answers.push([part[ordinal] as CheckedRun, answer])
    await setRunTimes(db, answers.slice(-rows.length))
  }
  return answers
}

/** Returns the concurrency keys that these runs wait for, if their task was published before the producer knew of it. */
export async function keysByDatabase(db: Db, enqueued: readonly EnqueuedRun[]): Promise<string[]> {
  const { rows } = await sql<{ key: string }>`
    SELECT DISTINCT gated_key AS key FROM q.task_run
    WHERE id = ANY(${enqueued.map(({ id }) => id)}::bigint[]) AND gated_key IS NOT NULL`.execute(db)
  return rows.map(({ key }) => key)
}

/** `q.enqueue()` takes only delays, but runs with equal `runAt` start in the order of their enqueues: this sets the exact time. */
async function setRunTimes(db: Db, answers: readonly [CheckedRun, EnqueuedRun][]): Promise<void> {
  const timed = answers.flatMap(([{ run }, { id, duplicate }]) =>
    run.runAt === undefined || duplicate ? [] : { id, runAt: run.runAt.toISOString() },
  )
  if (timed.length === 0) return
  await sql`UPDATE q.task_run r SET run_at = g.run_at
    FROM unnest(${timed.map(({ id }) => id)}::bigint[], ${timed.map(({ runAt }) => runAt)}::timestamptz[]) AS g(id, run_at)
    WHERE r.id = g.id AND r.status = 'PENDING' AND r.fence = 0`.execute(db)
}

function keyOf({ run: { task, uniqueKey, throttle, debounce } }: CheckedRun): string {
  const key = uniqueKey ?? (throttle === undefined ? debounce?.key : throttleKey(throttle))
  return key === undefined ? '' : `${task}\0${key}`
}

interface Row {
  readonly ordinal: number
  readonly id: RunId
  readonly status: TaskState
  readonly duplicate: boolean
}

export function enqueueByDatabaseStatement(runs: readonly CheckedRun[]): CompiledQuery<Row> {
  return enqueue({ runs: arrayText(runs) })
}

// Written in SQL: an array in, one call of the function for each of its elements, in their order.
const enqueue = prepared<{ readonly runs: string }, Row>(
  'enqueue-by-database',
  ({ runs }) => sql<Row>`
SELECT g.ordinal, made.id::text AS id, made.status::text AS status, made.duplicate
FROM (SELECT * FROM jsonb_to_recordset(${runs}::text::jsonb) AS g(
  ordinal int, task text, payload jsonb, delay_ms float8, run_at timestamptz, priority int, grp text, unique_key text, unique_for_ms float8, expires_ms float8,
  max_attempts int, trace text, throttle_of text, throttle_for_ms float8, debounce_key text, debounce_max_ms float8) ORDER BY ordinal) g
CROSS JOIN LATERAL q.enqueue(task => g.task, payload => coalesce(g.payload, 'null'),
  delay => CASE WHEN g.run_at IS NOT NULL THEN greatest(g.run_at - clock_timestamp(), '0')
    WHEN g.debounce_key IS NULL THEN g.delay_ms * interval '1 ms' END, priority => g.priority, run_group => g.grp,
  unique_key => g.unique_key, unique_for => g.unique_for_ms * interval '1 ms', expires_in => g.expires_ms * interval '1 ms',
  max_attempts => g.max_attempts, trace => g.trace, throttle_key => g.throttle_of, throttle_for => g.throttle_for_ms * interval '1 ms',
  debounce_key => g.debounce_key, debounce_for => CASE WHEN g.debounce_key IS NOT NULL THEN g.delay_ms END * interval '1 ms',
  debounce_max => g.debounce_max_ms * interval '1 ms') made`,
)

/** QE004: a replica has published the task in the meantime, and its schema rejects the payload. */
function refusalOf(error: unknown): unknown {
  if (sqlState(error) !== 'QE004') return unstorable(error)
  return new ExplainedError({
    code: 'INVALID_PAYLOAD',
    what: 'The payload does not fit its task; nothing was enqueued.',
    why: `${String(Reflect.get(error as Error, 'detail'))}.`,
    fix: 'Correct the payload, or the input of the task.',
    cause: error,
  })
}

/**
 * – → PENDING, or a waiting run takes over the values of the newest enqueue
 *
 * Of the enqueues with one key, the last one within the window counts. While the run of the first enqueue waits for its
 * time and has never been claimed, each further enqueue replaces its values (payload, priority, keys, deadline) and
 * restarts the window, up to `maxMs` after the first. A run whose time has come no longer changes: a new run waits
 * beside it.
 *
 * The lock on the key's row decides which enqueue is last. It is taken in the order of the keys and held until the
 * commit. The run is read after the lock, in a separate statement, because only that sees what the previous lock holder
 * wrote. If the gate opens at the same moment, the row of the run decides: the later transaction finds it changed.
 */
import { sql, type CompiledQuery } from 'kysely'
import type { Db } from '../connection/db.ts'
import type { RunId } from '../lease.ts'
import { prepared } from '../connection/prepared.ts'
import { unstorable, type CheckedRun } from './check-new-runs.ts'
import { enqueueBatchesOf } from './enqueue-batches.ts'
import { enqueueStatement, recordsOf } from './enqueue-statement.ts'
import { arrayText } from './enqueue-text.ts'
import type { EnqueuedRun } from './new-run.ts'

/** Must be called in a transaction. */
export async function debounceRuns(trx: Db, runs: readonly CheckedRun[]): Promise<Map<CheckedRun, EnqueuedRun>> {
  const answers = new Map<CheckedRun, EnqueuedRun>()
  if (runs.length === 0) return answers
  const byKey = Map.groupBy(runs, ({ run }) => `${run.task}\n${run.debounce?.key ?? ''}`)
  const last = [...byKey.values()].flatMap((same) => same.slice(-1))
  const made = await debounceLast(trx, last)
  for (const same of byKey.values()) {
    const { id, isNew } = made.get(same.at(-1) as CheckedRun) as DebouncedRun
    for (const [ordinal, run] of same.entries()) {
      answers.set(run, { id, status: 'PENDING', duplicate: !(isNew && ordinal === 0) })
    }
  }
  return answers
}

interface DebouncedRun {
  readonly id: RunId
  readonly isNew: boolean
}

/** Debounces runs of different keys. */
async function debounceLast(trx: Db, runs: readonly CheckedRun[]): Promise<Map<CheckedRun, DebouncedRun>> {
  const made = new Map<CheckedRun, DebouncedRun>()
  await trx.executeQuery(lockKeysStatement(runs))
  for (const batch of enqueueBatchesOf(runs)) {
    const { rows } = await trx.executeQuery(touchStatement(batch)).catch(refuse)
    for (const { ordinal, id } of rows) made.set(batch[ordinal] as CheckedRun, { id, isNew: false })
    const fresh = batch.filter((run) => !made.has(run))
    if (fresh.length === 0) continue
    const ids = (await trx.executeQuery(enqueueStatement(fresh)).catch(refuse)).rows[0]?.ids.split(',') ?? []
    for (const [ordinal, run] of fresh.entries()) made.set(run, { id: ids[ordinal] as RunId, isNew: true })
    await trx.executeQuery(assignKeysStatement(fresh, ids))
  }
  return made
}

function refuse(error: unknown): never {
  throw unstorable(error)
}

interface Keys {
  readonly tasks: readonly string[]
  readonly keys: readonly string[]
}

function keysOf(runs: readonly CheckedRun[]): Keys {
  return { tasks: runs.map(({ run }) => run.task), keys: runs.map(({ run }) => run.debounce?.key ?? '') }
}

export function lockKeysStatement(runs: readonly CheckedRun[]): CompiledQuery<object> {
  return lockKeys(keysOf(runs))
}

export function touchStatement(runs: readonly CheckedRun[]): CompiledQuery<{ ordinal: number; id: RunId }> {
  return touch({ runs: arrayText(runs) })
}

export function assignKeysStatement(runs: readonly CheckedRun[], ids: readonly string[]): CompiledQuery<object> {
  return assignKeys({ ...keysOf(runs), ids })
}

// Written in SQL: arrays in, rows in the order of their keys. A new key belongs to run 0 until the same transaction has
// inserted its run.
const lockKeys = prepared<Keys, object>(
  'debounce-lock',
  ({ tasks, keys }) => sql<object>`
INSERT INTO q.debounce AS d (task, debounce_key, run_id)
SELECT task, key, 0 FROM unnest(${tasks}::text[], ${keys}::text[]) AS g(task, key)
ORDER BY task COLLATE "C", key COLLATE "C"
ON CONFLICT (task, debounce_key) DO UPDATE SET run_id = d.run_id`,
)

/** Does not use `due_at`: a plan could then use the index of due runs instead of the ids. */
const waitsForItsTime = sql<boolean>`r.status = 'PENDING' AND r.waiting_for IN ('task', 'time') AND r.run_at > clock_timestamp()`

// Written in SQL: an array in; returns which of its elements found a waiting run.
const touch = prepared<{ readonly runs: string }, { ordinal: number; id: RunId }>(
  'debounce-touch',
  ({ runs }) => sql<{ ordinal: number; id: RunId }>`
WITH given AS MATERIALIZED (
  SELECT g.*, d.run_id FROM ${recordsOf(runs, sql`, debounce_key text, debounce_max_ms float8`)} JOIN q.debounce d ON d.task = g.task AND d.debounce_key = g.debounce_key
)
UPDATE q.task_run r SET
  lane = given.lane, priority = coalesce(given.priority, 0), grp = coalesce(given.grp, ''),
  max_attempts = coalesce(given.max_attempts, 1), on_crash = given.on_crash, timeout_ms = given.timeout_ms,
  max_silent_ms = given.max_silent_ms, waiting_for = 'time', asked = NULL, concurrency_scope = given.concurrency_scope,
  concurrency_key = given.concurrency_key, trace = given.trace, payload = coalesce(given.payload, 'null'),
  run_at = least(clock_timestamp() + given.delay_ms * interval '1 ms', r.created_at + given.debounce_max_ms * interval '1 ms'),
  expires_at = clock_timestamp() + given.expires_ms * interval '1 ms', updated_at = clock_timestamp()
FROM given WHERE r.id = given.run_id AND r.fence = 0 AND ${waitsForItsTime}
RETURNING given.ordinal, r.id::text AS id`,
)

const assignKeys = prepared<Keys & { readonly ids: readonly string[] }, object>(
  'debounce-assign',
  ({ tasks, keys, ids }) => sql<object>`
UPDATE q.debounce d SET run_id = g.run_id
FROM unnest(${tasks}::text[], ${keys}::text[], ${ids}::bigint[]) AS g(task, key, run_id)
WHERE d.task = g.task AND d.debounce_key = g.key`,
)

/**
 * – → PENDING, or a run that waits becomes what the newest enqueue asks for
 *
 * Of the enqueues with one key the last one within the window counts. As long as the run that the first one made waits
 * for its time, and nobody has ever claimed it, each further one gives it all that it asks for (payload, priority, keys,
 * deadline) and the time counts anew, up to `maxMs` after the first. A run whose time has come is not touched any more:
 * a new one waits beside it.
 *
 * Who comes last is decided by the lock on the key's row, taken in the order of the keys and held until the commit. The
 * look at the run comes after the lock, in a statement of its own, because only that sees what the one before wrote. If
 * the gate is opened in the same moment, the row of the run decides: whoever comes second finds it changed.
 */
import { sql, type CompiledQuery } from 'kysely'
import type { Db } from '../db.ts'
import type { RunId } from '../lease.ts'
import { prepared } from '../prepared.ts'
import { unstorable, type CheckedRun } from './check-new-runs.ts'
import { partsOf } from './enqueue-parts.ts'
import { enqueueStatement, recordsOf } from './enqueue-statement.ts'
import { arrayText } from './enqueue-text.ts'
import type { EnqueuedRun } from './new-run.ts'

/** In a transaction. */
export async function debounceRuns(trx: Db, runs: readonly CheckedRun[]): Promise<Map<CheckedRun, EnqueuedRun>> {
  const answers = new Map<CheckedRun, EnqueuedRun>()
  if (runs.length === 0) return answers
  const byKey = Map.groupBy(runs, ({ run }) => `${run.task}\n${run.debounce?.key ?? ''}`)
  const last = [...byKey.values()].flatMap((same) => same.slice(-1))
  const made = await debounceLast(trx, last)
  for (const same of byKey.values()) {
    const { id, isNew } = made.get(same.at(-1) as CheckedRun) as Made
    for (const [place, run] of same.entries()) {
      answers.set(run, { id, status: 'PENDING', duplicate: !(isNew && place === 0) })
    }
  }
  return answers
}

interface Made {
  readonly id: RunId
  readonly isNew: boolean
}

/** One of each key. */
async function debounceLast(trx: Db, runs: readonly CheckedRun[]): Promise<Map<CheckedRun, Made>> {
  const made = new Map<CheckedRun, Made>()
  await trx.executeQuery(lockKeysStatement(runs))
  for (const part of partsOf(runs)) {
    const { rows } = await trx.executeQuery(touchStatement(part)).catch(refuse)
    for (const { place, id } of rows) made.set(part[place] as CheckedRun, { id, isNew: false })
    const fresh = part.filter((run) => !made.has(run))
    if (fresh.length === 0) continue
    const ids = (await trx.executeQuery(enqueueStatement(fresh)).catch(refuse)).rows[0]?.ids.split(',') ?? []
    for (const [place, run] of fresh.entries()) made.set(run, { id: ids[place] as RunId, isNew: true })
    await trx.executeQuery(giveKeysStatement(fresh, ids))
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

export function touchStatement(runs: readonly CheckedRun[]): CompiledQuery<{ place: number; id: RunId }> {
  return touch({ runs: arrayText(runs) })
}

export function giveKeysStatement(runs: readonly CheckedRun[], ids: readonly string[]): CompiledQuery<object> {
  return giveKeys({ ...keysOf(runs), ids })
}

// A whole statement by hand: arrays in, rows in the order of their keys. A new key belongs to run 0 until the same
// transaction has made one.
const lockKeys = prepared<Keys, object>(
  'debounce-lock',
  ({ tasks, keys }) => sql<object>`
INSERT INTO q.debounce AS d (task, debounce_key, run_id)
SELECT task, key, 0 FROM unnest(${tasks}::text[], ${keys}::text[]) AS g(task, key)
ORDER BY task COLLATE "C", key COLLATE "C"
ON CONFLICT (task, debounce_key) DO UPDATE SET run_id = d.run_id`,
)

/** Not by `due_at`: a plan could take the index of due runs instead of the ids. */
const waitsForItsTime = sql<boolean>`r.status = 'PENDING' AND r.waiting_for IN ('task', 'time') AND r.run_at > clock_timestamp()`

// A whole statement by hand: an array in, and which of its elements found a run that waits.
const touch = prepared<{ readonly runs: string }, { place: number; id: RunId }>(
  'debounce-touch',
  ({ runs }) => sql<{ place: number; id: RunId }>`
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
RETURNING given.place, r.id::text AS id`,
)

const giveKeys = prepared<Keys & { readonly ids: readonly string[] }, object>(
  'debounce-give',
  ({ tasks, keys, ids }) => sql<object>`
UPDATE q.debounce d SET run_id = g.run_id
FROM unnest(${tasks}::text[], ${keys}::text[], ${ids}::bigint[]) AS g(task, key, run_id)
WHERE d.task = g.task AND d.debounce_key = g.key`,
)

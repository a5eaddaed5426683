/**
 * One new run that can be claimed at once, as a statement with a parameter for each of its options.
 *
 * `enqueue-and-wake` (enqueue-statement.ts) does the same for any number of runs. For one run, the time the server needs to start
 * that statement, which reads records from JSON, joins and sorts, exceeds the time of the insert. This one inserts a
 * row of values and reads q.lane only for the wake.
 */
import { sql, type CompiledQuery } from 'kysely'
import { prepared } from '../connection/prepared.ts'
import { availableWakesOf } from '../wakes.ts'
import type { CheckedRun } from './check-new-runs.ts'
import type { EnqueueRow } from './enqueue-statement.ts'
import { gateOf, type NewRun } from './new-run.ts'

/** Returns the run if there is only one, and it waits at no gate and has no key. */
export function oneReadyRun([first, second]: readonly CheckedRun[]): CheckedRun | undefined {
  if (first === undefined || second !== undefined || first.id !== undefined) return undefined
  const { uniqueKey, throttle } = first.run
  return gateOf(first.run) === null && (uniqueKey ?? throttle) === undefined ? first : undefined
}

/** Inserts the run and wakes idle replicas. */
export function enqueueOneStatement({ run, payload }: CheckedRun): CompiledQuery<EnqueueRow> {
  const { task, lane, onCrash = null, expiresInMs = null, timeoutMs = null, maxSilentMs = null, trace = null } = run
  const { priority = 0, group = '', maxAttempts = 1 } = run
  const limits = { expiresInMs, timeoutMs, maxSilentMs }
  return enqueueOne({ task, lane, priority, group, maxAttempts, onCrash, ...limits, trace, payload })
}

type Options =
  | 'task'
  | 'lane'
  | 'priority'
  | 'group'
  | 'maxAttempts'
  | 'onCrash'
  | 'expiresInMs'
  | 'timeoutMs'
  | 'maxSilentMs'
  | 'trace'
type OneRun = { readonly [Key in Options]: NewRun[Key] | null } & { readonly payload: string }

// A whole statement in SQL. The trigger of the table reads q.quiet once the row is inserted, so the row's values set it.
const enqueueOne = prepared<OneRun, EnqueueRow>(
  'enqueue-one',
  (run) => sql<EnqueueRow>`
INSERT INTO q.task_run (task, lane, priority, grp, max_attempts, on_crash, expires_at, timeout_ms, max_silent_ms, trace, payload)
VALUES (${run.task}, ${run.lane}, ${run.priority}, ${run.group}, ${run.maxAttempts}, ${run.onCrash},
  clock_timestamp() + ${run.expiresInMs}::float8 * interval '1 ms', ${run.timeoutMs}, ${run.maxSilentMs}, ${run.trace},
  CASE set_config('q.quiet', 'on', true) WHEN 'on' THEN ${run.payload}::jsonb END)
RETURNING id::text AS ids, NULL AS made, (SELECT count(pg_notify(wake.channel, wake.payload)) FROM ${availableWakesOf(run.lane)}) AS announced`,
  { keptAnywhere: true },
)

/** New runs as JSON text, the one parameter of the statements that enqueue (enqueue-statement.ts). */
import type { CheckedRun } from './check-new-runs.ts'
import { gateOf, storedKey, throttleKey } from './new-run.ts'

/** Returns one object per run. */
export function arrayText(runs: readonly CheckedRun[]): string {
  return `[${runs.map((run, ordinal) => `${fieldsText(run, ordinal)},"payload":${run.payload}}`).join(',')}]`
}

/** Returns one object per group of consecutive alike runs. */
export function alikeText(runs: readonly CheckedRun[]): string {
  const groups: CheckedRun[][] = []
  for (const run of runs) {
    const group = groups.at(-1)
    if (group?.[0] !== undefined && shareRecord(group[0], run)) group.push(run)
    else groups.push([run])
  }
  const groupText = (group: readonly CheckedRun[]) =>
    `${fieldsText(group[0] as CheckedRun, 0)},"payloads":[${group.map(({ payload }) => payload).join(',')}]}`
  return `[${groups.map(groupText).join(',')}]`
}

/** A run whose id was taken before has a record of its own. */
function shareRecord(one: CheckedRun, other: CheckedRun): boolean {
  return one.id === undefined && other.id === undefined && one.kind !== undefined && one.kind === other.kind
}

/** Returns an object without its payload and its closing brace. */
function fieldsText({ run, id, runAt }: CheckedRun, ordinal: number): string {
  const { task, lane, priority, group, maxAttempts, onCrash, delayMs, expiresInMs, timeoutMs, maxSilentMs } = run
  const { uniqueKey, uniqueForMs, throttle, debounce, concurrency, trace } = run
  // Undefined values are left out, and are null in the record.
  const text = JSON.stringify({
    ordinal,
    number: id,
    task,
    lane,
    priority,
    grp: group,
    max_attempts: maxAttempts,
    on_crash: onCrash,
    delay_ms: debounce?.forMs ?? delayMs,
    run_at: runAt ?? run.runAt,
    debounce_max_ms: debounce?.maxMs,
    expires_ms: expiresInMs,
    timeout_ms: timeoutMs,
    max_silent_ms: maxSilentMs,
    waiting_for: gateOf(run),
    unique_key: uniqueKey,
    unique_for_ms: uniqueForMs,
    throttle_key: throttle === undefined ? undefined : throttleKey(throttle),
    throttle_of: throttle?.key,
    throttle_for_ms: throttle?.forMs,
    debounce_key: debounce?.key,
    concurrency_scope: concurrency?.scope,
    concurrency_key: concurrency === undefined ? undefined : storedKey(concurrency),
    trace,
  })
  return text.slice(0, -1)
}

/**
 * New runs as one statement with one parameter, whatever their number: an array of JSON objects, in which each payload
 * is the text it already is.
 *
 * The ids are taken as the runs are read, so they rise in the order asked, and come back in that order with them: which
 * rows an INSERT returns, and when, does not matter. All delays of a statement count from one time, so runs with equal
 * delays are due at equal times, and their ids decide. Unique runs are inserted in the order of their keys, so
 * that two batches wait for each other and never in a circle.
 */
import { sql, type CompiledQuery, type RawBuilder } from 'kysely'
import type { Db } from '../db.ts'
import type { RunId } from '../lease.ts'
import { prepared } from '../prepared.ts'
import type { CheckedRun } from './check-new-runs.ts'
import { gateOf, storedKey, throttleKey } from './new-run.ts'
import { periodHolder } from './unique-period.ts'

export interface EnqueueRow {
  /** In the order asked, with commas, also of runs that were not made: text is read alike by every caller's library. */
  readonly ids: string
  /** Null: all of them. */
  readonly made: string | null
}

export function enqueueStatement(runs: readonly CheckedRun[]): CompiledQuery<EnqueueRow> {
  return enqueue({ runs: arrayText(runs) })
}

/** The same, where some have unique keys: those that are taken are left out. */
export function enqueueUniqueStatement(runs: readonly CheckedRun[]): CompiledQuery<EnqueueRow> {
  return enqueueUnique({ runs: arrayText(runs) })
}

/** Ids for runs that are inserted in another order than they were enqueued, and the time from which their delays count. */
export async function takeNumbers(db: Db, count: number): Promise<{ ids: RunId[]; now: Date }> {
  const { rows } = await sql<{ ids: string; now_ms: string }>`
    SELECT string_agg(nextval('q.task_run_id_seq')::text, ',') AS ids, extract(epoch FROM clock_timestamp()) * 1000 AS now_ms
    FROM generate_series(1, ${count}::int)`.execute(db)
  const [{ ids, now_ms } = { ids: '', now_ms: '0' }] = rows
  return { ids: ids.split(',') as RunId[], now: new Date(Math.floor(Number(now_ms))) }
}

/** The runs as JSON text. */
interface Given {
  readonly runs: string
}

// A whole statement by hand: an array in, and the ids that its elements got.
const enqueue = prepared<Given, EnqueueRow>(
  'enqueue',
  ({ runs }) => sql<EnqueueRow>`
WITH given AS MATERIALIZED (${given(runs)}), made AS (
  ${insertRuns}
)
SELECT string_agg(id::text, ',' ORDER BY place) AS ids, NULL AS made FROM given`,
)

// As above, and without the runs whose keys are taken.
const enqueueUnique = prepared<Given, EnqueueRow>(
  'enqueue-unique',
  ({ runs }) => sql<EnqueueRow>`
WITH given AS MATERIALIZED (${given(runs, sql`, throttle_key text`)}), made AS (
  ${insertRuns}
  WHERE coalesce(unique_key, throttle_key) IS NULL
    OR (${periodHolder(sql.ref('given.task'), sql`coalesce(given.unique_key, given.throttle_key)`)}) IS NULL
  ORDER BY task COLLATE "C", unique_key COLLATE "C", place
  ON CONFLICT (task, unique_live) WHERE unique_live IS NOT NULL DO NOTHING
  RETURNING id
)
SELECT string_agg(id::text, ',' ORDER BY place) AS ids,
  coalesce((SELECT string_agg(id::text, ',') FROM made), '') AS made FROM given`,
)

function given(runs: RawBuilder<string>, more?: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
  SELECT coalesce(g.number, nextval('q.task_run_id_seq')) AS id,
    coalesce(g.run_at, (SELECT clock_timestamp()) + coalesce(g.delay_ms, 0) * interval '1 ms') AS starts_at, g.*
  FROM ${recordsOf(runs, more)}`
}

/** Rows `g`, one for each run; `more` columns for statements that need them, because each costs every run a little. */
export function recordsOf(runs: RawBuilder<string>, more: RawBuilder<unknown> = sql``): RawBuilder<unknown> {
  return sql`jsonb_to_recordset(${runs}::text::jsonb) AS g(
    place int, number bigint, task text, lane int, priority smallint, grp text, max_attempts smallint, on_crash q.on_crash,
    delay_ms float8, run_at timestamptz, expires_ms float8, timeout_ms int, max_silent_ms int, waiting_for text, unique_key text,
    concurrency_scope text, concurrency_key text, trace text, payload jsonb${more})`
}

/** A payload of null is one; in a record it looks like none. */
const insertRuns = sql`INSERT INTO q.task_run
    (id, task, lane, priority, grp, max_attempts, on_crash, run_at, expires_at, timeout_ms, max_silent_ms, status, waiting_for,
    unique_key, concurrency_scope, concurrency_key, trace, payload)
  OVERRIDING SYSTEM VALUE
  SELECT id, task, lane, coalesce(priority, 0), coalesce(grp, ''), coalesce(max_attempts, 1), on_crash,
    starts_at, clock_timestamp() + expires_ms * interval '1 ms',
    timeout_ms, max_silent_ms, CASE WHEN waiting_for IS NULL THEN 'AVAILABLE' ELSE 'PENDING' END::q.task_status, waiting_for,
    unique_key, concurrency_scope, concurrency_key, trace, coalesce(payload, 'null')
  FROM given`

export function arrayText(runs: readonly CheckedRun[]): string {
  return `[${runs.map(rowText).join(',')}]`
}

function rowText({ run, payload, id, runAt }: CheckedRun, place: number): string {
  const { task, lane, priority, group, maxAttempts, onCrash, delayMs, expiresInMs, timeoutMs, maxSilentMs } = run
  const { uniqueKey, uniqueForMs, throttle, debounce, concurrency, trace } = run
  // What is undefined is left out, and null in the record.
  const rest = JSON.stringify({
    place,
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
  return `${rest.slice(0, -1)},"payload":${payload}}`
}

/**
 * New runs as one statement with one parameter, whatever their number: an array of JSON objects, in which each payload
 * is the text it already is. Runs without a unique key that are alike and follow each other are one object with an array
 * of payloads: reading 18 columns costs more than inserting a row.
 *
 * The ids are taken while the runs are read, so they rise in the order given and are returned in that order, whichever
 * rows the INSERT returns first. All delays of a statement count from one time, so runs with equal delays are due at
 * equal times, and their ids decide. Unique runs are inserted in the order of their keys, so that two batches wait for
 * each other and cannot deadlock.
 *
 * `enqueue-and-wake` sends the wakes itself, once for the statement and only if a replica is idle, and switches off the
 * trigger that does so for each row of other transactions. It is for transactions of our own: there, the statement and
 * the commit are close together.
 */
import { sql, type CompiledQuery, type RawBuilder } from 'kysely'
import type { Db } from '../connection/db.ts'
import type { RunId } from '../lease.ts'
import { prepared } from '../connection/prepared.ts'
import type { CheckedRun } from './check-new-runs.ts'
import { alikeText, arrayText } from './enqueue-text.ts'
import { wakesForDue, wakesForReady } from './ready-wakes.ts'
import { periodHolder } from './unique-period.ts'

export interface EnqueueRow {
  /**
   * Ids in the order given, with commas, also of runs that were not inserted: every caller's library reads text alike.
   */
  readonly ids: string
  /** Null: all of them. */
  readonly made: string | null
}

/** `wakes`: whether the statement wakes idle replicas; else the trigger does so with the commit. */
export function enqueueStatement(
  runs: readonly CheckedRun[],
  { wakes = false }: { readonly wakes?: boolean } = {},
): CompiledQuery<EnqueueRow> {
  return (wakes ? enqueueAndWake : enqueue)({ runs: alikeText(runs) })
}

/** Like `enqueueStatement`, for batches with unique keys: leaves out runs whose key is taken. */
export function enqueueUniqueStatement(runs: readonly CheckedRun[]): CompiledQuery<EnqueueRow> {
  return enqueueUnique({ runs: arrayText(runs) })
}

/** Ids for runs that are inserted in another order than they were enqueued, and the time from which their delays count. */
export async function takeIds(db: Db, count: number): Promise<{ ids: RunId[]; now: Date }> {
  const { rows } = await sql<{ ids: string; now_ms: string }>`
    SELECT string_agg(nextval('q.task_run_id_seq')::text, ',') AS ids, extract(epoch FROM clock_timestamp()) * 1000 AS now_ms
    FROM generate_series(1, ${count}::int)`.execute(db)
  const [{ ids, now_ms } = { ids: '', now_ms: '0' }] = rows
  return { ids: ids.split(',') as RunId[], now: new Date(Math.floor(Number(now_ms))) }
}

/** The runs as JSON text. */
interface EnqueueValues {
  readonly runs: string
}

const fields = sql`ordinal int, number bigint, task text, lane int, priority smallint, grp text, max_attempts smallint,
    on_crash q.on_crash, delay_ms float8, run_at timestamptz, expires_ms float8, timeout_ms int, max_silent_ms int, waiting_for text,
    unique_key text, concurrency_scope text, concurrency_key text, trace text`

const startsAt = sql`coalesce(g.run_at, (SELECT clock_timestamp()) + coalesce(g.delay_ms, 0) * interval '1 ms')`

const columns = sql`id, task, lane, priority, grp, max_attempts, on_crash, expires_at, timeout_ms, max_silent_ms, status,
    waiting_for, unique_key, concurrency_scope, concurrency_key, trace, run_at, payload`

/** Values of the columns between `id` and `run_at`. */
const values = sql`task, lane, coalesce(priority, 0), coalesce(grp, ''), coalesce(max_attempts, 1), on_crash,
    clock_timestamp() + expires_ms * interval '1 ms', timeout_ms, max_silent_ms,
    CASE WHEN waiting_for IS NULL THEN 'AVAILABLE' ELSE 'PENDING' END::q.task_status,
    waiting_for, unique_key, concurrency_scope, concurrency_key, trace`

const insertAlike = sql`
  INSERT INTO q.task_run (${columns}) OVERRIDING SYSTEM VALUE
  SELECT coalesce(g.number, nextval('q.task_run_id_seq')), ${values}, ${startsAt}, one.payload
  FROM alike g CROSS JOIN LATERAL jsonb_array_elements(g.payloads) AS one(payload)
  RETURNING id`

// Written in SQL: an array in, and the ids that its elements got.
const enqueue = prepared<EnqueueValues, EnqueueRow>(
  'enqueue',
  ({ runs }) => sql<EnqueueRow>`
WITH alike AS MATERIALIZED (SELECT * FROM ${alikeRecords(runs)}), made AS (${insertAlike})
SELECT string_agg(id::text, ',' ORDER BY id) AS ids, NULL AS made FROM made`,
  { keptAnywhere: true },
)

// The trigger reads q.quiet when a row is inserted: it is set as soon as the first record is read.
const enqueueAndWake = prepared<EnqueueValues, EnqueueRow>(
  'enqueue-and-wake',
  ({ runs }) => sql<EnqueueRow>`
WITH alike AS MATERIALIZED (
  SELECT *, (SELECT set_config('q.quiet', 'on', true)) AS quiet FROM ${alikeRecords(runs)}
), made AS (${insertAlike}), ready AS (
  SELECT lane FROM alike WHERE waiting_for IS NULL
), due AS (
  SELECT coalesce(extract(epoch FROM run_at - clock_timestamp()) * 1000, delay_ms) AS in_ms FROM alike WHERE waiting_for = 'time'
), ${wakesForReady(sql`ready`)}, ${wakesForDue(sql`due`)}
SELECT string_agg(id::text, ',' ORDER BY id) AS ids, NULL AS made FROM made LEFT JOIN announced ON true LEFT JOIN announced_due ON true`,
  { keptAnywhere: true },
)

// As above, without the runs whose keys are taken.
const enqueueUnique = prepared<EnqueueValues, EnqueueRow>(
  'enqueue-unique',
  ({ runs }) => sql<EnqueueRow>`
WITH given AS MATERIALIZED (
  SELECT coalesce(g.number, nextval('q.task_run_id_seq')) AS id, ${startsAt} AS starts_at, g.*
  FROM ${recordsOf(runs, sql`, throttle_key text`)}
), made AS (
  INSERT INTO q.task_run (${columns}) OVERRIDING SYSTEM VALUE
  SELECT id, ${values}, starts_at, coalesce(payload, 'null') FROM given
  WHERE coalesce(unique_key, throttle_key) IS NULL
    OR (${periodHolder(sql.ref('given.task'), sql`coalesce(given.unique_key, given.throttle_key)`)}) IS NULL
  ORDER BY task COLLATE "C", unique_key COLLATE "C", ordinal
  ON CONFLICT (task, unique_live) WHERE unique_live IS NOT NULL DO NOTHING
  RETURNING id
)
SELECT string_agg(id::text, ',' ORDER BY ordinal) AS ids,
  coalesce((SELECT string_agg(id::text, ',') FROM made), '') AS made FROM given`,
)

/** Rows `g`, one for each run; `more` columns for statements that need them, because each costs every run a little. */
export function recordsOf(runs: RawBuilder<string>, more: RawBuilder<unknown> = sql``): RawBuilder<unknown> {
  return sql`jsonb_to_recordset(${runs}::text::jsonb) AS g(${fields}, payload jsonb${more})`
}

/** Rows `g`, one for each group of alike runs. */
function alikeRecords(runs: RawBuilder<string>): RawBuilder<unknown> {
  return sql`jsonb_to_recordset(${runs}::text::jsonb) AS g(${fields}, payloads jsonb)`
}

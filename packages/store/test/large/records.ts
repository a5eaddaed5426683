/** What a cluster records beside its runs, each table once: attempts, errors, recoveries, rates, samples, schedules, …. */
import type { DB } from '@q/schema'
import { sql, type Kysely, type RawBuilder } from 'kysely'
import { nodesMax } from './fleet.ts'
import { failedEvery, type Sizes } from './runs.ts'

const errorGroups = 200

/** Rates and gauges end now: they are filled again by every call. */
const recent = new Set(['run_tally', 'queue_sample'])

/** Other tables are filled as a whole, in one statement, if they are empty. */
export async function fillRecords(db: Kysely<DB>, sizes: Sizes, onTable: (table: string) => void): Promise<void> {
  for (const [table, insert] of Object.entries(records(sizes))) {
    if (recent.has(table)) await sql`TRUNCATE ${sql.table(`q.${table}`)}`.execute(db)
    const { rows } = await sql<{ any: boolean }>`SELECT EXISTS (SELECT FROM ${sql.table(`q.${table}`)}) AS any`.execute(
      db,
    )
    if (rows[0]?.any === true) continue
    onTable(table)
    await insert.execute(db)
  }
}

const queues = sql`unnest(ARRAY['default', 'media', 'mail', 'reports', 'ai']) queue`
/** A histogram with its middle at about 100 ms. */
const histogram = sql`'{0,0,0,0,0,0,1,2,4,8,12,16,20,16,12,8,4,2,1,1}'`

function records({ finished }: Sizes): Readonly<Record<string, RawBuilder<unknown>>> {
  const lately = (one: RawBuilder<unknown>, all: number) => sql`now() - ${one} * (interval '30 days' / ${all}::int)`
  return {
    task_attempt: sql`INSERT INTO q.task_attempt (run_id, fence, epoch, attempt, claimed_at, started_at, ended_at, outcome, code, detail, replica_id, fingerprint)
      SELECT id, 1, 1, 1, claimed_at, started_at, finished_at, 'failed', 'TASK_ERROR', 'read ECONNRESET', replica_id, 'error ' || id / ${failedEvery}::int % ${errorGroups}::int
      FROM q.task_run WHERE id <= ${finished}::bigint AND id % ${failedEvery}::int = 0`,
    error_group: sql`INSERT INTO q.error_group (fingerprint, first_seen, last_seen, seen, last_run_id, code, name, message, place, tasks, versions)
      SELECT 'error ' || i, now() - interval '30 days', now() - i * interval '1 minute', 600, ${finished}::bigint - i, 'TASK_ERROR', 'Error',
        'read ECONNRESET in part ' || i, 'load (tasks/load.ts)', ARRAY['task-' || i % 20 + 1], ARRAY['0.1.0'] FROM generate_series(0, ${errorGroups - 1}::int) i`,
    error_tally: sql`INSERT INTO q.error_tally (fingerprint, bucket_at, seen)
      SELECT 'error ' || i, date_trunc('hour', now()) - h * interval '1 hour', 3 FROM generate_series(0, ${errorGroups - 1}::int) i, generate_series(0, 167) h`,
    task_event: sql`INSERT INTO q.task_event (run_id, fence, kind, happened_at, replica_id)
      SELECT i, 1, CASE WHEN i % 10 = 0 THEN 'refused-log' ELSE 'claim-released' END, ${lately(sql`i`, 100_000)}, 'replica-2' FROM generate_series(1, 100000) i`,
    recovery: sql`INSERT INTO q.recovery (run_id, fence, recovered_at, was, became, cause, code, replica_id, recovered_by, reviewed_at, reviewed_by)
      SELECT ${finished}::bigint - i * ${failedEvery}::int, 1, ${lately(sql`i`, 5_000)}, 'RUNNING', 'FAILED', 'presence', 'WORKER_CRASHED', 'replica-' || i % ${nodesMax}::int, 'replica-live',
        CASE WHEN i > 50 THEN now() END, CASE WHEN i > 50 THEN 'ada' END FROM generate_series(1, 5000) i`,
    delivery: sql`INSERT INTO q.delivery (destination, news, subject, run_id, payload, created_at, due_at, delivered_at, attempts, last_error)
      SELECT 'hook', 'run-ended', i::text, i, '{}', ${lately(sql`i`, 100_000)}, NULL, CASE WHEN i > 20 THEN now() END, 1, CASE WHEN i > 20 THEN NULL ELSE '503' END FROM generate_series(1, 100000) i`,
    workflow: sql`INSERT INTO q.workflow (name, status, created_at, finished_at) SELECT 'done', 'SUCCEEDED', at, at FROM generate_series(1, 50000) i
      CROSS JOIN LATERAL (SELECT ${lately(sql`i`, 50_000)} AS at) t`,
    schedule: sql`INSERT INTO q.schedule (name, task, cron, next_tick, last_tick) VALUES ('nightly', 'task-1', '* * * * *', now() + interval '20 days', now())`,
    schedule_tick: sql`INSERT INTO q.schedule_tick (schedule, tick, run_id) SELECT 'nightly', date_trunc('minute', now()) - i * interval '1 minute', i FROM generate_series(1, 43200) i`,
    run_tally: sql`INSERT INTO q.run_tally (bucket_at, width_s, started, succeeded, failed, busy_ms, wait_histogram, duration_histogram, queue, task)
      SELECT CASE w WHEN 60 THEN date_trunc('minute', now()) - n * interval '1 minute' ELSE date_trunc('hour', now()) - n * interval '1 hour' END,
        w, 107, 104, 3, 214000, ${histogram}, ${histogram}, lane.queue, lane.task
      FROM q.lane, (VALUES (60, 1440), (3600, 720)) widths(w, many), generate_series(0, many - 1) n`,
    queue_sample: sql`INSERT INTO q.queue_sample (sampled_at, ready, claimed, running, waiting_time, waiting_concurrency, oldest_ms, at_least, queue)
      SELECT now() - s * interval '15 s', 10000, 0, 320, 2000, 2000, 7200000, true, queue FROM generate_series(0, 5759) s, ${queues}`,
    replica_sample: sql`INSERT INTO q.replica_sample (replica_id, sampled_at, memory_mb, cpu_percent, active_runs, free_slots, completed, failed, health)
      SELECT id, now() - s * interval '1 minute', 400, 70, 8, 0, 25000 - s, 600, 'healthy' FROM q.replica, generate_series(0, 1439) s`,
    beat_gap: sql`INSERT INTO q.beat_gap (replica_id, last_beat, ended_at)
      SELECT id, at, at + interval '20 s' FROM q.replica, generate_series(1, 50) n CROSS JOIN LATERAL (SELECT now() - n * interval '29 minutes' AS at) t`,
    heartbeat_failure: sql`INSERT INTO q.heartbeat_failure (replica_id, failed_at, consecutive, error)
      SELECT 'replica-' || i % ${nodesMax}::int, ${lately(sql`i`, 10_000)}, 1, 'ECONNRESET' FROM generate_series(1, 10000) i`,
    task_log: sql`INSERT INTO q.task_log (run_id, fence, line_no, logged_at, level, line)
      SELECT i, 1, n, now(), 30, 'loaded part ' || n FROM generate_series(${Math.max(1, finished - 20_000)}::bigint, ${finished}::bigint) i, generate_series(1, 10) n`,
    operation: sql`INSERT INTO q.operation (upper_id, looked, changed, finished_at, kind, asked_by, filter)
      SELECT ${finished}::bigint, 100, 100, now(), 'retry', 'ada', '{"task": "task-1"}' FROM generate_series(1, 200)`,
    action: sql`INSERT INTO q.action (acted_at, acted_by, via, what, subject, answer) SELECT ${lately(sql`i`, 20_000)}, 'ada', 'cli', 'retry', i::text, 'retried' FROM generate_series(1, 20000) i`,
  }
}

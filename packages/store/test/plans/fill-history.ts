/** History beside the runs, in proportion to them: attempts, events, recoveries, deliveries, workflows, ticks, tallies, samples. */
import type { DB } from '@q/schema'
import { sql, type Kysely } from 'kysely'
import { planRows } from './plan-rows.ts'

const rows = Math.ceil(planRows / 20)

/** None of it is younger than a day, except tallies and samples. */
export async function fillHistory(db: Kysely<DB>): Promise<void> {
  const each = sql`generate_series(1, ${rows}::int) i`
  const old = sql`now() - interval '1 day' - i * interval '1 ms'`
  await sql`INSERT INTO q.task_attempt (run_id, fence, epoch, attempt, ended_at, outcome, code, replica_id, fingerprint)
    SELECT i, 1, 1, 1, ${old}, 'failed', 'TASK_ERROR', 'replica-1', 'error ' || i % 1000 FROM ${each}`.execute(db)
  await sql`INSERT INTO q.task_event (run_id, fence, kind, happened_at, replica_id)
    SELECT i, 1, CASE WHEN i % 2 = 0 THEN 'refused-log' ELSE 'claim-released' END, ${old}, 'replica-1' FROM ${each}`.execute(
    db,
  )
  await sql`INSERT INTO q.recovery (run_id, fence, recovered_at, was, became, cause, replica_id, recovered_by, reviewed_at)
    SELECT i, 1, ${old}, 'RUNNING', 'FAILED', 'presence', 'replica-' || i % 100, 'other', now() FROM ${each}`.execute(
    db,
  )
  await sql`INSERT INTO q.delivery (destination, news, subject, payload, due_at, delivered_at)
    SELECT 'hook', 'run-ended', i::text, '{}', NULL, now() FROM ${each}`.execute(db)
  await sql`INSERT INTO q.heartbeat_failure (replica_id, failed_at, consecutive, error) SELECT 'replica-1', ${old}, 3, 'x' FROM ${each}`.execute(
    db,
  )
  await sql`INSERT INTO q.workflow (name, status, finished_at) SELECT 'done', 'SUCCEEDED', now() FROM ${each}`.execute(
    db,
  )
  await sql`INSERT INTO q.schedule (name, task, cron, next_tick) VALUES ('nightly', 'wanted', '0 0 * * *', now() + interval '1 hour')`.execute(
    db,
  )
  await sql`INSERT INTO q.schedule_tick (schedule, tick, run_id) SELECT CASE WHEN i % 10 = 0 THEN 'nightly' ELSE 'other' END, ${old}, i FROM ${each}`.execute(
    db,
  )
  await sql`INSERT INTO q.run_tally (bucket_at, width_s, started, succeeded, wait_histogram, duration_histogram, queue, task)
    SELECT date_trunc('minute', now()) - m * interval '1 minute', 60, 1, 1, '{1,2,3,4,5}', '{1,2,3,4,5}', 'default', 'task ' || t
    FROM generate_series(0, 1439) m, generate_series(1, 5) t`.execute(db)
  await sql`INSERT INTO q.queue_sample (sampled_at, ready, claimed, running, waiting_time, waiting_concurrency, queue)
    SELECT now() - s * interval '15 s', 1, 0, 0, 0, 0, 'default' FROM generate_series(0, 5759) s`.execute(db)
  await sql`INSERT INTO q.replica_sample (replica_id, sampled_at, memory_mb, cpu_percent, active_runs, free_slots, completed, failed, health)
    SELECT CASE WHEN i % 10 = 0 THEN 'replica-live' ELSE 'replica-1' END, ${old}, 1, 1, 0, 1, 0, 0, 'healthy' FROM ${each}`.execute(
    db,
  )
  await sql`INSERT INTO q.beat_gap (replica_id, last_beat, ended_at) SELECT 'replica-live', ${old}, ${old} FROM ${each}`.execute(
    db,
  )
}

/** A few of what waits for a person, so that the reads of it have something to find among the history. */
export async function fillOpenItems(db: Kysely<DB>): Promise<void> {
  const each = sql`generate_series(1, 2) i`
  await sql`INSERT INTO q.recovery (run_id, fence, was, became, cause, replica_id, recovered_by)
    SELECT i, 2, 'RUNNING', 'FAILED', 'presence', 'replica-2', 'other' FROM ${each}`.execute(db)
  await sql`INSERT INTO q.delivery (destination, news, subject, payload, due_at, last_error)
    SELECT 'hook', 'run-ended', 'given up ' || i, '{}', NULL, '503' FROM ${each}`.execute(db)
  await sql`INSERT INTO q.workflow (name) SELECT 'running' FROM ${each}`.execute(db)
}

/** Tables that grow with history: no read may scan one of them as a whole. */
export const historyTables = [
  'task_run',
  'task_attempt',
  'task_event',
  'task_log',
  'recovery',
  'delivery',
  'heartbeat_failure',
  'workflow',
  'workflow_step',
  'schedule_tick',
  'run_tally',
  'queue_sample',
  'replica_sample',
  'beat_gap',
] as const

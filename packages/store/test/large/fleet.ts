/** Queues, tasks and 200 nodes. The nodes stay alive for weeks without a heartbeat: no process beats for them. */
import type { DB } from '@q/schema'
import { sql, type Kysely } from 'kysely'

export const nodesMax = 200
export const slotsPerNode = 8

/** Lanes 1 to 20: task i is in queue i % 5. Lane 21 has runs that no node can serve. */
export const lanesServed = 20

const staleMs = 2_000_000_000

export async function fillFleet(db: Kysely<DB>): Promise<void> {
  await sql`INSERT INTO q.lane (id, queue, task) OVERRIDING SYSTEM VALUE
    SELECT i, (ARRAY['default', 'media', 'mail', 'reports', 'ai'])[i % 5 + 1], 'task-' || i FROM generate_series(1, ${lanesServed}::int) i
    UNION ALL SELECT ${lanesServed + 1}, 'gpu', 'task-gpu' ON CONFLICT DO NOTHING`.execute(db)
  await sql`SELECT setval(pg_get_serial_sequence('q.lane', 'id'), (SELECT max(id) FROM q.lane))`.execute(db)
  await sql`INSERT INTO q.task (name, queue, published_by) SELECT task, queue, 'replica-live' FROM q.lane ON CONFLICT DO NOTHING`.execute(
    db,
  )
  await sql`INSERT INTO q.replica (id, name, hostname, pid, version, tasks, slots, preset, level, started_at,
      replica_beat_ms, replica_stale_ms, check_every_ms, claimer_beat_ms, claimer_stale_ms, runner_beat_ms, runner_stale_ms)
    SELECT CASE i WHEN 1 THEN 'replica-live' ELSE 'replica-' || i END, 'eu-' || i, 'host-' || i, 1000 + i, '0.1.0',
      (SELECT array_agg(task) FROM q.lane WHERE id <= ${lanesServed}), ${slotsPerNode}::int, 'relaxed-long', 1000, now() - interval '2 days',
      10000, ${staleMs}::int, 30000, 30000, ${staleMs}::int, 30000, ${staleMs}::int
    FROM generate_series(1, ${nodesMax}::int) i ON CONFLICT DO NOTHING`.execute(db)
  await sql`INSERT INTO q.replica_heartbeat (replica_id, last_heartbeat, uptime_s, memory_mb, cpu_percent, active_runs, free_slots, completed, failed)
    SELECT id, clock_timestamp(), 172800, 300 + num % 200, 50 + num % 40, ${slotsPerNode}::int, 0, 25000, 600 FROM q.replica
    ON CONFLICT (replica_id) DO UPDATE SET last_heartbeat = clock_timestamp()`.execute(db)
  await sql`INSERT INTO q.run_group (queue, grp, weight) SELECT 'default', 'tenant-' || i, 1 + i % 5 FROM generate_series(1, 1000) i
    ON CONFLICT DO NOTHING`.execute(db)
}

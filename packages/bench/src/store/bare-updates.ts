/**
 * The minimum cost of a run on this table: found and updated twice, without lanes, groups, keys, history, heartbeats or
 * waiters. Processor time differs by half between two runs of the benchmark; the cost that the store adds does not.
 */
import { sql } from 'kysely'
import type { StoreBench } from './scenarios.ts'

export async function drainBare({ connection: { db }, batch }: StoreBench): Promise<void> {
  for (;;) {
    // Written in SQL, because they are the baseline.
    const { rows } = await sql<{ id: string; fence: number; payload: string }>`
      WITH picked AS MATERIALIZED (
        SELECT id FROM q.task_run WHERE ready AND lane = 1 AND priority = 0 AND grp = ''
        ORDER BY run_at, id LIMIT ${batch} FOR NO KEY UPDATE SKIP LOCKED
      )
      UPDATE q.task_run SET status = 'RUNNING', fence = fence + 1, attempt = attempt + 1, replica_id = 'bench-replic',
        claimed_at = clock_timestamp(), started_at = clock_timestamp(), updated_at = clock_timestamp()
      WHERE id = ANY(ARRAY(SELECT id FROM picked)) RETURNING id, fence, payload::text AS payload`.execute(db)
    if (rows.length === 0) return
    await sql`
      UPDATE q.task_run r SET status = 'SUCCEEDED', result = '1', finished_at = clock_timestamp(), updated_at = clock_timestamp()
      FROM unnest(${rows.map((row) => row.id)}::bigint[], ${rows.map((row) => row.fence)}::int[]) AS g(id, fence)
      WHERE r.id = g.id AND r.fence = g.fence AND r.status = 'RUNNING'`.execute(db)
  }
}

/** What a person wants to see first: runs by state, tasks, and who is there. No locks. */
import type { DB, TaskState } from '@q/schema'
import { sql, type Kysely } from 'kysely'

export interface Node {
  readonly id: string
  readonly name: string
  readonly hostname: string
  readonly pid: number
  readonly version: string
  readonly slots: number
  readonly activeRuns: number
  readonly completed: number
  readonly failed: number
  readonly health: string
  readonly beatAgeMs: number
  readonly state: 'alive' | 'draining' | 'stale'
}

export async function countRunsByState(db: Kysely<DB>): Promise<{ status: TaskState; runs: number }[]> {
  return db
    .selectFrom('q.task_run')
    .select(['status', sql<number>`count(*)::int`.as('runs')])
    .groupBy('status')
    .orderBy('status')
    .execute()
}

/** Replicas that have not stopped; `stale` is judged by their own thresholds. */
export async function listNodes(db: Kysely<DB>): Promise<Node[]> {
  const beatAgeMs = sql<number>`(extract(epoch FROM clock_timestamp() - h.last_heartbeat) * 1000)::float8`
  return db
    .selectFrom('q.replica as r')
    .innerJoin('q.replica_heartbeat as h', 'h.replica_id', 'r.id')
    .select(['r.id', 'r.name', 'r.hostname', 'r.pid', 'r.version', 'r.slots', 'h.health'])
    .select([
      'h.active_runs as activeRuns',
      sql<number>`h.completed::float8`.as('completed'),
      sql<number>`h.failed::float8`.as('failed'),
    ])
    .select(beatAgeMs.as('beatAgeMs'))
    .select(
      sql<Node['state']>`CASE WHEN ${beatAgeMs} > r.replica_stale_ms THEN 'stale'
        WHEN r.draining_at IS NOT NULL THEN 'draining' ELSE 'alive' END`.as('state'),
    )
    .where('r.stopped_at', 'is', null)
    .orderBy('r.started_at')
    .execute()
}

/**
 * Records writes under a lost lease, which change nothing: one event per claim and kind of write, however often a zombie
 * retries. The events are for people and decide nothing, so an event that cannot be written fails no caller.
 */
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import { columnsOf, type Lease } from '../lease.ts'

export type RefusedKind =
  | 'refused-start'
  | 'refused-beat'
  | 'refused-checkpoint'
  | 'refused-log'
  | 'refused-enqueue'
  | 'refused-settle'

/** Records only leases that existed and are lost: under a fence that the run has had, or under which it ended. */
export async function auditRefusedWrites(
  db: Db,
  kind: RefusedKind,
  leases: readonly Lease[],
  replicaId: string | null = null,
): Promise<void> {
  if (leases.length === 0) return
  const { ids, fences } = columnsOf(leases)
  // Written in SQL: arrays in, rows written in the order of their key.
  const noted = sql`
INSERT INTO q.task_event (run_id, fence, kind, replica_id)
SELECT DISTINCT g.id, g.fence, ${kind}::text, ${replicaId}::text FROM unnest(${ids}::bigint[], ${fences}::int[]) AS g(id, fence)
JOIN q.task_run r ON r.id = g.id AND (r.fence > g.fence OR r.fence = g.fence AND r.finished_at IS NOT NULL) WHERE g.fence > 0
ORDER BY g.id, g.fence
ON CONFLICT DO NOTHING`.execute(db)
  // In a caller's transaction an error must surface: it has undone everything else.
  await (db.isTransaction ? noted : noted.catch(() => {}))
}

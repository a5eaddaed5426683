/**
 * The replica's own heartbeat: upsert with the database's clock, one row per replica, updated in place.
 * The answer carries what the replica must know: whether somebody asked it to drain.
 */
import type { CompiledQuery } from 'kysely'
import type { Db } from '../db.ts'
import { now } from '../clock.ts'

export interface ReplicaVitals {
  readonly health: 'healthy' | 'degraded' | 'unhealthy'
  readonly cpuPercent: number
  readonly memoryMb: number
  readonly activeRuns: number
  readonly freeSlots: number
  readonly completed: number
  readonly failed: number
  readonly uptimeS: number
}

export async function upsertReplicaHeartbeat(
  db: Db,
  replicaId: string,
  vitals: ReplicaVitals,
): Promise<{ draining: boolean }> {
  await db.executeQuery(upsertHeartbeatStatement(db, replicaId, vitals))
  const replica = await db.selectFrom('q.replica').select('draining_at').where('id', '=', replicaId).executeTakeFirst()
  return { draining: (replica?.draining_at ?? null) !== null }
}

export function upsertHeartbeatStatement(db: Db, replicaId: string, vitals: ReplicaVitals): CompiledQuery {
  const row = {
    last_heartbeat: now,
    health: vitals.health,
    cpu_percent: vitals.cpuPercent,
    memory_mb: vitals.memoryMb,
    active_runs: vitals.activeRuns,
    free_slots: vitals.freeSlots,
    completed: vitals.completed,
    failed: vitals.failed,
    uptime_s: vitals.uptimeS,
  }
  return db
    .insertInto('q.replica_heartbeat')
    .values({ replica_id: replicaId, ...row })
    .onConflict((conflict) => conflict.column('replica_id').doUpdateSet(row))
    .compile()
}

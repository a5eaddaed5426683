/** Replicas that hold runs, and how their signs of life grow old. */
import { sql } from 'kysely'
import type { ClaimedRun, RunId } from '@q/store'
import type { Fixture } from './fixture.ts'
import { introduction } from './replica-registration.ts'

export interface Holders {
  holding(name: string, options?: Parameters<Fixture['enqueue']>[1]): Promise<{ id: RunId; claimed: ClaimedRun }>
  /** All signs of life of the replica and its runs are so old; negative: from the future. */
  age(replicaId: string, ms: number): Promise<void>
  /** What the database's clock shows, in ms since 1970. */
  clockMs(): Promise<number>
}

export function holders({ store, db, enqueue, claimOne }: Fixture): Holders {
  return { holding, age, clockMs }

  /** A registered replica that holds one RUNNING run of a task of that name. */
  async function holding(name: string, options: Parameters<Fixture['enqueue']>[1] = {}) {
    await store.registerReplica(introduction(name, name))
    const [id] = await enqueue(name, options)
    return { id: id!, claimed: await claimOne(name, name) }
  }

  async function age(replicaId: string, ms: number): Promise<void> {
    const ago = sql<Date>`clock_timestamp() - ${ms}::float8 * interval '1 ms'`
    await db.updateTable('q.replica').set({ started_at: ago }).where('id', '=', replicaId).execute()
    await db
      .updateTable('q.replica_heartbeat')
      .set({ last_heartbeat: ago })
      .where('replica_id', '=', replicaId)
      .execute()
    await db
      .updateTable('q.task_run')
      .set({ claimed_at: ago, started_at: ago })
      .where('replica_id', '=', replicaId)
      .execute()
    await sql`UPDATE q.task_heartbeat SET sent_at = ${ago} WHERE split_part(sender_id, '/', 1) = ${replicaId}`.execute(
      db,
    )
  }

  async function clockMs(): Promise<number> {
    const now = sql<{ ms: number }>`SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms`
    return (await now.execute(db)).rows[0]!.ms
  }
}

export const stats = {
  health: 'healthy',
  cpuPercent: 1,
  memoryMb: 1,
  activeRuns: 0,
  freeSlots: 1,
  completed: 0,
  failed: 0,
  uptimeS: 1,
} as const

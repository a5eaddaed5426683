/**
 * Registers a replica: its identity, its capabilities, and its own thresholds, by which alone it may be recovered.
 *
 * Its name is for people, so it is unique among live replicas: the requested name, or that name with the first free
 * number. A name is taken while its replica has neither stopped nor exceeded its own threshold. A replica whose row was
 * removed, or that was considered stopped, registers again under the same id.
 */
import { programLevel, type DB } from '@q/schema'
import { sql, type Kysely } from 'kysely'
import { isAlive } from './alive.ts'
import { writeOrder, type CurrentDrain } from './drain.ts'

export interface Thresholds {
  readonly replicaBeatMs: number
  readonly replicaStaleMs: number
  readonly checkEveryMs: number
  readonly claimerBeatMs: number
  readonly claimerStaleMs: number
  readonly runnerBeatMs: number
  readonly runnerStaleMs: number
}

export interface ReplicaRegistration {
  readonly id: string
  readonly name: string
  readonly hostname: string
  readonly pid: number
  readonly version: string
  /** Empty: all queues. */
  readonly queues: readonly string[]
  readonly tasks: readonly string[]
  readonly capabilities: readonly string[]
  /** The address at which others reach it, if they can. */
  readonly endpoint?: string
  readonly slots: number
  readonly preset: string
  readonly onCrash: 'fail' | 'retry'
  readonly thresholds: Thresholds
  /** Whether it recovers the runs of dead replicas; default: true. */
  readonly recovers?: boolean
  /** How long after its session broke the replica may still prove that it is alive; 2.5 s by default. */
  readonly presenceGraceMs?: number
  /** The drain that it follows, if it registers again: the order may have been deleted with its row. */
  readonly draining?: CurrentDrain
}

/** Returns the name it got, and the number of its presence lock. */
export async function registerReplica(
  db: Kysely<DB>,
  replica: ReplicaRegistration,
): Promise<{ name: string; num: number }> {
  return db.transaction().execute(async (trx) => {
    // One at a time: two replicas that start together would both find the name free.
    await sql`SELECT pg_advisory_xact_lock(hashtextextended('q.replica.name', 0))`.execute(trx)
    const taken = await sql<{ name: string }>`
      SELECT n.name FROM q.replica n JOIN q.replica_heartbeat h ON h.replica_id = n.id
      WHERE n.id <> ${replica.id} AND ${isAlive}`.execute(trx)
    const name = firstFree(
      replica.name,
      taken.rows.map((row) => row.name),
    )
    const row = { ...rowOf({ ...replica, name }), level: await programLevel() }
    const { num } = await trx
      .insertInto('q.replica')
      .values(row)
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ ...row, stopped_at: null }))
      .returning('num')
      .executeTakeFirstOrThrow()
    if (replica.draining !== undefined) await writeOrder(trx, replica.id, replica.draining)
    // Its first heartbeat, so that the next replica to register finds the name taken.
    await sql`INSERT INTO q.replica_heartbeat (replica_id, last_heartbeat, free_slots)
      VALUES (${replica.id}, clock_timestamp(), ${replica.slots})
      ON CONFLICT (replica_id) DO UPDATE SET last_heartbeat = excluded.last_heartbeat`.execute(trx)
    return { name, num }
  })
}

function firstFree(requested: string, taken: readonly string[]): string {
  if (!taken.includes(requested)) return requested
  for (let number = 2; number <= taken.length + 1; number++) {
    if (!taken.includes(`${requested}-${number}`)) return `${requested}-${number}`
  }
  return `${requested}-${taken.length + 2}`
}

function rowOf(replica: ReplicaRegistration) {
  const { thresholds } = replica
  return {
    id: replica.id,
    name: replica.name,
    hostname: replica.hostname,
    pid: replica.pid,
    version: replica.version,
    queues: [...replica.queues],
    tasks: [...replica.tasks],
    capabilities: [...replica.capabilities],
    endpoint: replica.endpoint ?? null,
    recovers: replica.recovers ?? true,
    slots: replica.slots,
    preset: replica.preset,
    on_crash: replica.onCrash,
    replica_beat_ms: thresholds.replicaBeatMs,
    replica_stale_ms: thresholds.replicaStaleMs,
    check_every_ms: thresholds.checkEveryMs,
    claimer_beat_ms: thresholds.claimerBeatMs,
    claimer_stale_ms: thresholds.claimerStaleMs,
    runner_beat_ms: thresholds.runnerBeatMs,
    runner_stale_ms: thresholds.runnerStaleMs,
    ...(replica.presenceGraceMs === undefined ? {} : { presence_grace_ms: replica.presenceGraceMs }),
  }
}

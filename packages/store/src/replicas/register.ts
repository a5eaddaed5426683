/**
 * A replica introduces itself: who it is, what it can do, and its own thresholds, by which alone it may be reaped.
 *
 * Its name is for people, so it must be unique among the living: the wish, or the wish with the first free number. A
 * name counts as taken while its bearer has neither stopped nor missed its own staleness threshold. A replica whose row
 * was removed, or that was taken for stopped, introduces itself again under the same id.
 */
import { programLevel, type DB } from '@q/schema'
import { sql, type Kysely } from 'kysely'
import { isAlive } from './alive.ts'
import { writeOrder, type StandingDrain } from './drain.ts'

export interface Thresholds {
  readonly replicaBeatMs: number
  readonly replicaStaleMs: number
  readonly checkEveryMs: number
  readonly claimerBeatMs: number
  readonly claimerStaleMs: number
  readonly runnerBeatMs: number
  readonly runnerStaleMs: number
}

export interface ReplicaIntroduction {
  readonly id: string
  readonly name: string
  readonly hostname: string
  readonly pid: number
  readonly version: string
  /** Empty: all. */
  readonly queues: readonly string[]
  readonly tasks: readonly string[]
  readonly capabilities: readonly string[]
  /** Where others reach it, if they can. */
  readonly endpoint?: string
  readonly slots: number
  readonly preset: string
  readonly onCrash: 'fail' | 'retry'
  readonly thresholds: Thresholds
  /** How long after its session broke it may still show that it lives; 2.5 s unless said. */
  readonly presenceGraceMs?: number
  /** The drain that it follows, if it registers again: the order may have been deleted with its row. */
  readonly draining?: StandingDrain
}

/** Returns the name it got, and the number of its presence lock. */
export async function registerReplica(
  db: Kysely<DB>,
  replica: ReplicaIntroduction,
): Promise<{ name: string; num: number }> {
  return db.transaction().execute(async (trx) => {
    // One at a time, or two replicas that start together would both find the name free.
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
    // Its first sign of life, so that the next one to register sees the name taken.
    await sql`INSERT INTO q.replica_heartbeat (replica_id, last_heartbeat, free_slots)
      VALUES (${replica.id}, clock_timestamp(), ${replica.slots})
      ON CONFLICT (replica_id) DO UPDATE SET last_heartbeat = excluded.last_heartbeat`.execute(trx)
    return { name, num }
  })
}

function firstFree(wish: string, taken: readonly string[]): string {
  if (!taken.includes(wish)) return wish
  for (let number = 2; number <= taken.length + 1; number++) {
    if (!taken.includes(`${wish}-${number}`)) return `${wish}-${number}`
  }
  return `${wish}-${taken.length + 2}`
}

function rowOf(replica: ReplicaIntroduction) {
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

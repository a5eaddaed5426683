/**
 * The real thing the model is held against: one database, a store per replica on connections of its own, and a look at
 * every run as it lies in the database. Emptied before each run of commands.
 */
import { afterAll } from 'vitest'
import { testDatabase } from '@q/testing'
import { connect, createClaimer, createStore, type Claimer, type Connection, type RunId, type Store } from '@q/store'
import type { TaskState } from '@q/schema'
import { Client } from 'pg'
import { introduction } from '../replica-registration.ts'
import { served, type ModelReplica } from './model.ts'

export const minute = 60_000
/** More runs than there ever are. */
export const atMost = 1_000

/** Different thresholds and defaults. All amounts of time are multiples of 15 minutes, thresholds never are. */
export const replicas: readonly ModelReplica[] = [
  { id: 'alpha', onCrash: 'fail', replicaStale: 50, claimerStale: 100, runnerStale: 200, registeredAt: 0, lastBeat: 0 },
  { id: 'bravo', onCrash: 'retry', replicaStale: 50, claimerStale: 20, runnerStale: 20, registeredAt: 0, lastBeat: 0 },
  { id: 'slow', onCrash: 'retry', replicaStale: 110, claimerStale: 100, runnerStale: 80, registeredAt: 0, lastBeat: 0 },
]

/** Each task has a queue of its own name. */
export const tasks = ['render', 'encode', 'draw'] as const
/** What each task says in q.task about the death of a holder; null: it is not published. */
export const taskOnCrash: Readonly<Record<string, 'fail' | 'retry' | null>> = { render: null, encode: 'fail' }
export const scope = 'gpu'

/** A task that a replica publishes in the middle of a run of commands. */
export const lateTask = {
  name: 'draw',
  maxAttempts: 2,
  onCrash: 'retry',
  notice: {
    name: 'draw',
    queue: 'draw',
    options: {
      onCrash: 'retry',
      retry: { attempts: 2 },
      concurrency: { key: '/key', limit: 1, shared: scope },
      unique: { key: '/uniqueKey', forMs: null },
    },
    payloadSchema: null,
  },
} as const

export interface SeenRun {
  readonly id: RunId
  readonly status: TaskState
  readonly waitingFor: string | null
  readonly attempt: number
  readonly crashes: number
  readonly epoch: number
  readonly fence: number
  readonly holder: string | null
  readonly task: string
  readonly key: string | null
  readonly slot: number | null
  readonly uniqueKey: string | null
  readonly cancelRequested: boolean
  readonly checkpoint: number | null
  readonly code: string | null
  readonly result: string | null
  readonly finishedAt: string | null
  readonly history: string[]
  /** Beats that are stored for it. */
  readonly beats: number
}

export interface World {
  /** Of each replica. */
  readonly stores: ReadonlyMap<string, Store>
  readonly connections: ReadonlyMap<string, Connection>
  /** They keep what they know from command to command. */
  readonly claimers: ReadonlyMap<string, Claimer>
  readonly lanes: ReadonlyMap<string, number>
  look(): Promise<SeenRun[]>
  recoveries(): Promise<number>
  /** Time passes, for everybody or for what one replica holds and has sent. */
  age(minutes: number, replicaId?: string): Promise<void>
  /** A person's own SQL. */
  manualSql(sql: string, values: unknown[]): Promise<void>
  empty(): Promise<void>
}

export async function world(): Promise<World> {
  const database = await testDatabase()
  const client = new Client({ connectionString: database.url })
  await client.connect()
  const connections = new Map(replicas.map(({ id }) => [id, connect(database.url, { purpose: 'control' })]))
  const stores = new Map([...connections].map(([id, { db }]) => [id, createStore(db)]))
  const claimers = new Map<string, Claimer>()
  const [first] = stores.values()
  for (const replica of replicas) await first?.registerReplica(introduce(replica))
  await first?.publishTasks(served.by, [published('encode')])
  const lanes = new Map<string, number>()
  let emptied = 0
  for (const task of tasks) lanes.set(task, (await first?.internLane({ queue: task, task })) ?? 0)
  afterAll(async () => {
    for (const connection of connections.values()) await connection.close()
    await client.end()
    await database.drop()
  })
  return {
    stores,
    connections,
    claimers,
    lanes,
    look: async () => (await client.query<SeenRun>({ name: 'look', text: lookAtAll })).rows,
    recoveries: async () => {
      const { rows } = await client.query<{ n: number }>('SELECT count(*)::int AS n FROM q.recovery')
      return rows[0]?.n ?? 0
    },
    age: async (minutes, replicaId = null as never) => void (await client.query(ageAll, [minutes, replicaId])),
    manualSql: async (sql, values) => void (await client.query(sql, values)),
    async empty() {
      for (const [number, { id }] of replicas.entries()) {
        // Every other replica finds each look slow, and claims from where it saw the oldest run.
        const cursors = number % 2 === 0 ? {} : { lastMs: () => Number.POSITIVE_INFINITY }
        claimers.set(id, createClaimer({ replicaId: id, tasks, queues: [], cursors }))
      }
      await client.query(emptied++ % truncateEvery === 0 ? `${truncate}${emptyAll}` : emptyAll)
    },
  }
}

function published(name: string) {
  return { name, queue: name, options: { onCrash: taskOnCrash[name] ?? null }, payloadSchema: null }
}

function introduce({ id, onCrash, replicaStale, claimerStale, runnerStale }: ModelReplica) {
  const { thresholds, ...rest } = introduction(id, id)
  const own = {
    replicaStaleMs: replicaStale * minute,
    claimerStaleMs: claimerStale * minute,
    runnerStaleMs: runnerStale * minute,
  }
  return { ...rest, tasks: id === served.by ? served.tasks : [], onCrash, thresholds: { ...thresholds, ...own } }
}

const lookAtAll = `
SELECT r.id, r.status, r.waiting_for AS "waitingFor", r.attempt, r.crash_count AS crashes, r.epoch, r.fence, r.replica_id AS holder,
  r.task, r.concurrency_key AS key, r.concurrency_slot AS slot, r.unique_key AS "uniqueKey",
  r.cancel_requested_at IS NOT NULL AS "cancelRequested", (r.checkpoint ->> 'at')::int AS checkpoint, r.result ->> 'code' AS code,
  r.result::text AS result, r.finished_at::text AS "finishedAt",
  ARRAY(SELECT a.outcome FROM q.task_attempt a WHERE a.run_id = r.id ORDER BY a.fence) AS history,
  (SELECT count(*)::int FROM q.task_heartbeat h WHERE h.run_id = r.id) AS beats
FROM q.task_run r ORDER BY r.id`

/** Ended runs are left alone: their times may not change. */
const ageAll = `
WITH ago AS MATERIALIZED (SELECT $1 * interval '1 minute' AS long, $2::text AS who), runs AS (
  UPDATE q.task_run r SET run_at = run_at - CASE WHEN who IS NULL THEN long ELSE interval '0' END,
    expires_at = expires_at - CASE WHEN who IS NULL THEN long ELSE interval '0' END,
    claimed_at = claimed_at - long, started_at = started_at - long, updated_at = updated_at - long
  FROM ago WHERE finished_at IS NULL AND (who IS NULL OR r.replica_id = who)
), beats AS (
  UPDATE q.task_heartbeat SET sent_at = sent_at - long FROM ago WHERE who IS NULL OR split_part(sender_id, '/', 1) = who
), periods AS (
  UPDATE q.unique_period SET until = until - long FROM ago WHERE who IS NULL
), replicas AS (
  UPDATE q.replica SET started_at = started_at - long FROM ago WHERE who IS NULL OR id = who
)
UPDATE q.replica_heartbeat SET last_heartbeat = last_heartbeat - long FROM ago WHERE who IS NULL OR replica_id = who`

/** Deleting a few rows is much faster than truncating, until the dead ones are many. */
const truncateEvery = 25
const truncate = 'TRUNCATE q.task_run, q.task_attempt, q.task_heartbeat, q.task_event, q.recovery, q.unique_period;'
const emptyAll = `
DELETE FROM q.task_run; DELETE FROM q.task_attempt; DELETE FROM q.task_heartbeat; DELETE FROM q.recovery;
DELETE FROM q.unique_period; DELETE FROM q.concurrency_limit; DELETE FROM q.queue; DELETE FROM q.task WHERE name = 'draw';
UPDATE q.replica SET started_at = clock_timestamp(); UPDATE q.replica_heartbeat SET last_heartbeat = clock_timestamp()`

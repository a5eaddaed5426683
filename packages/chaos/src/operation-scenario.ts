/**
 * One operation retries many failed runs while the executing replica is killed, each time at a different point. The
 * retried runs fail again, and others fail after the request: the operation must retry neither.
 */
import { sql } from 'kysely'
import { connect, createStore, type Connection, type Operation, type Store } from '@q/store'
import { until } from './observations.ts'
import { startReplica, type ReplicaProcess } from './processes.ts'

export interface OperationOptions {
  readonly runs: number
  readonly kills: number
}

export interface OperationResult {
  readonly operation: Operation
  /** The number of retried runs at each kill. */
  readonly changedAtKills: readonly number[]
  /** Counts of runs by epoch: of runs that had failed at the request, and of runs that failed later. */
  readonly epochs: Readonly<Record<string, number>>
  readonly tookMs: number
}

const laterFailures = 100
const task = 'step'

export async function operationScenario(
  databaseUrl: string,
  { runs, kills }: OperationOptions,
  onKill: (changed: number) => void = () => {},
): Promise<OperationResult> {
  const { db, close } = connect(databaseUrl, { purpose: 'pool' })
  const store = createStore(db)
  const env = { DATABASE_URL: databaseUrl, Q_PRESET: 'default', Q_THREADS: '2' }
  let replicas: ReplicaProcess[] = []
  try {
    replicas = [await startReplica(env), await startReplica(env)]
    await addFailed(db, store, runs, 'before')
    const begunMs = performance.now()
    const { id } = await store.requestOperation({ kind: 'retry', filter: { task }, by: 'chaos' })
    await addFailed(db, store, laterFailures, 'after')
    const changedAtKills: number[] = []
    for (let kill = 1; kill <= kills; kill++) {
      const { victim, changed } = await holderAfter(store, id, replicas, (runs * kill) / (kills + 1))
      victim.kill('SIGKILL')
      await victim.exited
      changedAtKills.push(changed)
      onKill(changed)
      replicas = [...replicas.filter((replica) => replica !== victim), await startReplica(env)]
    }
    await until(async () => (await store.getOperation(id))?.finishedAt != null, 'the operation ends')
    const tookMs = performance.now() - begunMs
    await until(async () => (await openRuns(db)) === 0, 'the retried runs end')
    const operation = (await store.getOperation(id)) as Operation
    return { operation, changedAtKills, epochs: await epochsOf(db), tookMs }
  } finally {
    for (const replica of replicas) replica.kill('SIGKILL')
    await Promise.all(replicas.map((replica) => replica.exited))
    await close()
  }
}

/** Returns the executing replica once the operation has changed at least this many runs. */
async function holderAfter(store: Store, id: string, replicas: readonly ReplicaProcess[], changedMin: number) {
  let changed = 0
  let victim: ReplicaProcess | undefined
  await until(async () => {
    const operation = await store.getOperation(id)
    victim = replicas.find((replica) => replica.id === operation?.leasedBy)
    changed = operation?.changed ?? 0
    return victim !== undefined && changed >= changedMin
  }, 'a replica executes the operation')
  return { victim: victim as ReplicaProcess, changed }
}

type Db = Connection['db']

/** They begin and fail in one transaction, so that no replica executes them before the operation retries them. */
async function addFailed(db: Db, store: Store, count: number, when: 'before' | 'after'): Promise<void> {
  const lane = await store.internLane({ queue: 'default', task })
  const payload = JSON.stringify({ fails: true, when })
  await db.transaction().execute(async (trx) => {
    await sql`INSERT INTO q.task_run (task, lane, payload)
      SELECT ${task}, ${lane}::int, ${payload}::jsonb FROM generate_series(1, ${count}::int)`.execute(trx)
    await sql`UPDATE q.task_run SET status = 'FAILED', finished_at = clock_timestamp(), result = '{"code":"TASK_ERROR"}'
      WHERE task = ${task} AND payload = ${payload}::jsonb AND epoch = 1 AND status = 'AVAILABLE'`.execute(trx)
  })
}

async function openRuns(db: Db): Promise<number> {
  const { rows } = await sql<{ open: number }>`
    SELECT count(*)::int AS open FROM q.task_run WHERE task = ${task} AND status <> 'FAILED'`.execute(db)
  return rows[0]?.open ?? 0
}

async function epochsOf(db: Db): Promise<Record<string, number>> {
  const { rows } = await sql<{ state: string; runs: number }>`
    SELECT (payload->>'when') || ' ' || epoch AS state, count(*)::int AS runs FROM q.task_run WHERE task = ${task} GROUP BY 1
    ORDER BY 1`.execute(db)
  return Object.fromEntries(rows.map(({ state, runs }) => [state, runs]))
}

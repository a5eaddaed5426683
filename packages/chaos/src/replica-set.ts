/** Replicas on a database of their own. Disposal kills the replicas, and drops the database. */
import { queue, type Queue } from '@q/client'
import { connect, createStore, type Db, type Store } from '@q/store'
import { testDatabase } from '@q/testing'
import { startReplica, type ReplicaProcess } from './processes.ts'
import type * as tasks from './tasks.ts'

export interface ReplicaSet extends AsyncDisposable {
  readonly db: Db
  readonly store: Store
  readonly q: Queue<typeof tasks>
  /** Every replica that was started, including killed ones. */
  readonly replicas: readonly ReplicaProcess[]
  /** Starts one more. */
  start(): Promise<ReplicaProcess>
}

export async function startReplicaSet(count: number, env: Record<string, string>): Promise<ReplicaSet> {
  await using opened = new AsyncDisposableStack()
  const database = await testDatabase()
  opened.defer(() => database.drop())
  const { db, close } = connect(database.url, { purpose: 'pool' })
  opened.defer(close)
  const q = queue<typeof tasks>(database.url)
  opened.defer(() => q.close())
  const replicas: ReplicaProcess[] = []
  opened.defer(async () => {
    for (const replica of replicas) replica.kill('SIGKILL')
    await Promise.all(replicas.map((replica) => replica.exited))
  })
  const start = async () => {
    const replica = await startReplica({ DATABASE_URL: database.url, ...env })
    replicas.push(replica)
    return replica
  }
  for (let started = 0; started < count; started++) await start()
  const disposal = opened.move()
  return { db, store: createStore(db), q, replicas, start, [Symbol.asyncDispose]: () => disposal.disposeAsync() }
}

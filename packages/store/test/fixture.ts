/** A store on a database of its own, and the few steps that many laws begin with. */
import { afterAll } from 'vitest'
import { testDatabase } from '@q/testing'
import { connect, createStore, type ClaimedRun, type Lease, type NewRun, type RunId, type Store } from '@q/store'
import type { DB } from '@q/schema'
import type { Kysely } from 'kysely'

export interface Fixture {
  readonly url: string
  readonly db: Kysely<DB>
  readonly store: Store
  /** Another process's view: connections of its own. */
  another(): Store
  enqueue(task: string, options?: Partial<NewRun> & { count?: number; group?: string }): Promise<RunId[]>
  claim(task: string, limit?: number, replicaId?: string): Promise<ClaimedRun[]>
  claimOne(task: string, replicaId?: string): Promise<ClaimedRun>
  row(id: RunId): Promise<Awaited<ReturnType<typeof rowOf>>>
}

export async function fixture(): Promise<Fixture> {
  const database = await testDatabase()
  const connections = [connect(database.url, { purpose: 'pool' })]
  const db = connections[0]!.db
  const store = createStore(db)
  afterAll(async () => {
    await Promise.all(connections.map((connection) => connection.close()))
    await database.drop()
  })
  const claim: Fixture['claim'] = (task, limit = 1, replicaId = 'replica-aaaa') =>
    store.claimAvailableTaskRuns({ replicaId, tasks: [task], queues: [], limit })
  return {
    url: database.url,
    db,
    store,
    claim,
    another() {
      const connection = connect(database.url, { purpose: 'control' })
      connections.push(connection)
      return createStore(connection.db)
    },
    async enqueue(task, { count = 1, group, ...options } = {}) {
      const lane = await store.internLane({ queue: 'default', task })
      const runs = await store.enqueueTaskRuns(
        Array.from({ length: count }, () => ({ task, lane, payload: {}, ...options })),
      )
      const ids = runs.map((run) => run.id)
      if (group !== undefined) await db.updateTable('q.task_run').set({ grp: group }).where('id', 'in', ids).execute()
      return ids
    },
    async claimOne(task, replicaId) {
      const [claimed] = await claim(task, 1, replicaId)
      if (claimed === undefined) throw new Error(`nothing of ${task} to claim`)
      return claimed
    },
    row: (id) => rowOf(db, id),
  }
}

export function leaseOf({ runId, fence }: ClaimedRun): Lease {
  return { runId, fence }
}

export const by = { hostname: 'host', pid: 1, thread: 0 }

function rowOf(db: Kysely<DB>, id: RunId) {
  return db.selectFrom('q.task_run').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
}

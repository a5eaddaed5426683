/** Replicas that come, fall silent and leave, as the database knows them, and the claims they would make. */
import type { ClaimedRun, RunId } from '@q/store'
import type { Fixture } from './fixture.ts'
import { introduction } from './replica-registration.ts'

export interface Fleet {
  /** Its name is its id; unless said it knows every task that was published. */
  join(
    id: string,
    can?: { queues?: string[]; tasks?: string[]; capabilities?: string[]; endpoint?: string },
  ): Promise<void>
  /** Its last heartbeat is old. */
  silence(id: string): Promise<void>
  /** No replica is left. */
  disband(): Promise<void>
  /** `by` knows them from now on. */
  publish(by: string, ...tasks: string[]): Promise<void>
  /** What it takes if it has room for everything. */
  claimAs(id: string): Promise<ClaimedRun[]>
  /** A run in a queue of its own choice. */
  enqueueIn(lane: { queue: string; task: string; requires?: string[] }): Promise<RunId>
}

export function fleetOf({ db, store }: Fixture): Fleet {
  return {
    async join(id, { tasks, ...can } = {}) {
      const published = (await store.publishedTasks()).map(({ name }) => name)
      await store.registerReplica({ ...introduction(id, id), tasks: tasks ?? published, ...can })
    },
    async silence(id) {
      const longAgo = { last_heartbeat: new Date(0) }
      await db.updateTable('q.replica_heartbeat').set(longAgo).where('replica_id', '=', id).execute()
    },
    async disband() {
      await db.deleteFrom('q.replica_heartbeat').execute()
      await db.deleteFrom('q.replica').execute()
    },
    async publish(by, ...tasks) {
      const notices = tasks.map((name) => ({ name, queue: 'default', options: {}, payloadSchema: null }))
      await store.publishTasks(by, notices)
      const { tasks: known } = await db
        .selectFrom('q.replica')
        .select('tasks')
        .where('id', '=', by)
        .executeTakeFirstOrThrow()
      await db
        .updateTable('q.replica')
        .set({ tasks: [...known, ...tasks] })
        .where('id', '=', by)
        .execute()
    },
    async claimAs(id) {
      const replica = await db.selectFrom('q.replica').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
      const { queues, tasks, capabilities } = replica
      return store.claimAvailableTaskRuns({ replicaId: id, tasks, queues, capabilities, limit: 1_000 })
    },
    async enqueueIn({ task, ...name }) {
      const lane = await store.internLane({ task, ...name })
      const [run] = await store.enqueueTaskRuns([{ task, lane, payload: {} }])
      return run!.id
    },
  }
}

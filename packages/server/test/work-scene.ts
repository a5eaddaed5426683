/** Workers over HTTP for tests: they define their tasks, claim runs and write under a lease. */
import { sql } from 'kysely'
import type { RunId } from '@q/store'
import type { serverScene } from './scene.ts'

export interface Lease {
  readonly runId: RunId
  readonly fence: number
}

export function workScene(scene: Awaited<ReturnType<typeof serverScene>>) {
  const { store, db, tokens } = scene

  const work = (method: string, path: string, body?: object, token = tokens.work) =>
    scene.ask(method, path, { token, ...(body && { body }) })

  let workers = 0

  /** A worker with a task of its own. */
  function newWorker() {
    const workerId = `w${++workers}`
    const task = `task-${workers}`
    const replicaId = `agents:${workerId}`
    return {
      workerId,
      task,
      replicaId,
      claim: (more: object = {}) => work('POST', '/api/claims', { workerId, tasks: [task], ...more }),
      write: (verb: string, { runId, fence }: Lease, more: object = {}, token = tokens.work) =>
        work('POST', `/api/runs/${runId}/${verb}`, { workerId, fence, ...more }, token),
      /** It has been silent for longer than its own threshold. */
      async silence(): Promise<void> {
        await sql`UPDATE q.replica_heartbeat SET last_heartbeat = last_heartbeat - interval '1 hour' WHERE replica_id = ${replicaId}`.execute(
          db,
        )
        await sql`UPDATE q.task_run SET claimed_at = claimed_at - interval '1 hour', started_at = started_at - interval '1 hour'
          WHERE replica_id = ${replicaId}`.execute(db)
      },
    }
  }

  /** A worker that has claimed the only run of its task. */
  async function busyWorker({ options = {}, more = {} }: { options?: object; more?: object } = {}) {
    const worker = newWorker()
    const { task } = worker
    const lane = await store.internLane({ queue: 'default', task })
    await store.publishTasks('test', [{ name: task, queue: 'default', options, payloadSchema: null }])
    await store.enqueueTaskRuns([{ task, lane, payload: {}, maxAttempts: 2 }])
    const { data } = await worker.claim(more)
    return { ...worker, data, run: data.runs[0] as Lease }
  }

  async function rowOf({ runId }: Lease) {
    return db.selectFrom('q.task_run').selectAll().where('id', '=', runId).executeTakeFirstOrThrow()
  }

  return { work, newWorker, busyWorker, rowOf }
}

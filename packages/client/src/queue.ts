/**
 * What a producer holds: enqueue typed tasks, look at runs, await results. Loads no task code and no Piscina:
 * `queue<typeof tasks>(url)` needs the tasks' types only. This file puts the parts together; verbs.ts has the contracts.
 */
import { createStore, type Connection, type NewRun } from '@q/store'
import { defaultQueue } from '@q/task'
import { whileOpen } from './closed.ts'
import { connectionOf, type Database } from './database.ts'
import { createEars } from './ears.ts'
import { createEnqueue } from './enqueue.ts'
import { createExplain, explaining } from './explain.ts'
import { createHandle, runIdOf } from './handle.ts'
import { createPublished, type Published } from './published.ts'
import { createSchedules } from './schedules.ts'
import type { AnyTasks, Queue } from './verbs.ts'
import { createWaits, runsToWaitFor } from './waits.ts'
import { workflowsToWaitFor } from './workflow/handle.ts'
import { workflowVerbs } from './workflow/verbs.ts'

export interface QueueOptions<Tasks> {
  /**
   * The definitions themselves (`import * as tasks`), for a producer that may load their code: payloads are checked by their
   * own validators, and what replicas have published is not asked for.
   */
  readonly tasks?: Tasks
}

/** `database`: a URL, or a `Pool` or `Client` of `pg` that stays yours. With a client, waiting for results is polling. */
export function queue<Tasks = AnyTasks>(
  database: Database | undefined,
  options: QueueOptions<Tasks> = {},
): Queue<Tasks> {
  const connection = connectionOf(database)
  let closed = false
  const isClosed = () => closed
  const explain = createExplain(connection.origin)
  // Enqueue and waits handle the errors of the database first, and explain them afterwards.
  const raw = whileOpen(createStore(connection.db), isClosed)
  const store = explaining(raw, explain)
  const ears = createEars(connection.origin)
  const waits = createWaits({ ears, explain }, runsToWaitFor(raw))
  const workflowWaits = createWaits({ ears, explain }, workflowsToWaitFor(raw))
  const published = whileOpen(publishedOn(connection, options.tasks ?? {}), isClosed)
  // On a client of the caller's, which may have a transaction open, the database wakes replicas with its commit.
  const wakesAtCommit = connection.isInTransaction !== undefined
  const insert = (runs: readonly NewRun[]) => raw.enqueueTaskRuns(runs, { wakesAtCommit })
  const enqueue = createEnqueue({ insert, published, explain })
  const handles = { store, waits }
  const schedules = createSchedules<AnyTasks>({
    store,
    async enqueue(task, payload, rest) {
      return createHandle(handles, (await enqueue.one({ task, payload, options: rest }, undefined)).id)
    },
  })
  const verbs: Queue<AnyTasks> = {
    ...schedules,
    setGroupWeight: ({ queue: queueName = defaultQueue, group }, weight) =>
      store.setGroupWeight({ queue: queueName, group }, weight),
    async enqueue(task, payload, { tx, ...rest } = {}) {
      const run = await enqueue.one({ task, payload, options: rest }, tx)
      return createHandle(handles, run.id, run.duplicate)
    },
    async enqueueMany(calls, { tx } = {}) {
      const asked = calls.map(([task, payload, rest = {}]) => ({ task, payload, options: rest }))
      const runs = await enqueue.many(asked, tx)
      return runs.map((run) => createHandle(handles, run.id, run.duplicate)) as never
    },
    cancel: async (run) => createHandle(handles, runIdOf(run)).cancel(),
    retry: async (run) => store.retryTaskRun(runIdOf(run)),
    get: async (run) => (await store.getTaskRuns([runIdOf(run)]))[0],
    list: (filter, page) => store.listTaskRuns(filter, page),
    handle: (runId) => createHandle(handles, runIdOf(runId)),
    ...workflowVerbs({ store, published, explain, waits: workflowWaits }),
    async close() {
      waits.close()
      workflowWaits.close()
      await ears.close()
      closed = true
      await connection.close()
    },
  }
  return verbs as unknown as Queue<Tasks>
}

/** On a client whose owner has a transaction open, a lane that is new is undone with it: so nothing is remembered then. */
function publishedOn(connection: Connection, definitions: object): Published {
  const remembering = createPublished(connection, definitions)
  return {
    find(task, within) {
      const mayBeUndone = connection.isInTransaction?.() ?? false
      return (mayBeUndone ? createPublished(connection, definitions) : remembering).find(task, within)
    },
  }
}

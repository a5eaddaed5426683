/**
 * `queue()`: the producer's entry point, which enqueues typed tasks, reads runs and waits for results. It loads no task code
 * and no Piscina: `queue<typeof tasks>(url)` needs only the types. This file wires the parts; verbs.ts has the contracts.
 */
import { createStore, type Connection, type NewRun } from '@q/store'
import { defaultQueue } from '@q/task'
import { rejectWhenClosed } from './closed-guard.ts'
import { connectionOf, type Database } from './database.ts'
import { createCompletionListener } from './completion-listener.ts'
import { createEnqueue } from './enqueue.ts'
import { createExplain, explaining } from './explain.ts'
import { createHandle, runIdOf } from './handle.ts'
import { createTaskRouting, type TaskRouting } from './task-routing.ts'
import { createSchedules } from './schedules.ts'
import type { AnyTasks, Queue } from './verbs.ts'
import { createWaits, runsToWaitFor } from './waits.ts'
import { workflowsToWaitFor } from './workflow/handle.ts'
import { clientWorkflowVerbs } from './workflow/verbs.ts'

export interface QueueOptions<Tasks> {
  /**
   * The task definitions (`import * as tasks`), for a producer that can load their code: their own validators check
   * payloads, and the client does not read what replicas have published.
   */
  readonly tasks?: Tasks
}

/** `database`: a URL, or a `pg` `Pool` or `Client`, which `close()` leaves open. With a client, waits poll. */
export function queue<Tasks = AnyTasks>(
  database: Database | undefined,
  options: QueueOptions<Tasks> = {},
): Queue<Tasks> {
  const connection = connectionOf(database)
  let closed = false
  const isClosed = () => closed
  const explain = createExplain(connection.origin)
  // Enqueue and waits handle database errors themselves before they explain them.
  const raw = rejectWhenClosed(createStore(connection.db), isClosed)
  const store = explaining(raw, explain)
  const listener = createCompletionListener(connection.origin)
  const waits = createWaits({ listener, explain }, runsToWaitFor(raw))
  const workflowWaits = createWaits({ listener, explain }, workflowsToWaitFor(raw))
  const routing = rejectWhenClosed(routingOn(connection, options.tasks ?? {}), isClosed)
  const { isInTransaction } = connection
  const insert = (runs: readonly NewRun[]) => raw.enqueueTaskRuns(runs, { isInTransaction })
  const enqueue = createEnqueue({ insert, routing, explain })
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
    ...clientWorkflowVerbs({ store, routing, explain, waits: workflowWaits, isInTransaction }),
    async close() {
      waits.close()
      workflowWaits.close()
      await listener.close()
      closed = true
      await connection.close()
    },
  }
  return verbs as unknown as Queue<Tasks>
}

/** A rollback on the caller's client would undo a new lane, so nothing is cached while its transaction is open. */
function routingOn(connection: Connection, definitions: object): TaskRouting {
  const remembering = createTaskRouting(connection, definitions)
  return {
    routeOf(task, within) {
      const mayBeUndone = connection.isInTransaction?.() ?? false
      return (mayBeUndone ? createTaskRouting(connection, definitions) : remembering).routeOf(task, within)
    },
  }
}

/**
 * What a producer holds: enqueue typed tasks, look at runs, await results. Loads no task code and no Piscina:
 * `queue<typeof tasks>(url)` needs the tasks' types only.
 */
import { ExplainedError } from '@q/schema'
import { asRunId, connect, createStore, type RunId, type RunView } from '@q/store'
import { defaultQueue, runSettings } from '@q/task'
import type { PayloadOf, ResultOf, TaskName, TasksOf } from '@q/task'
import { createHandle, type RunHandle } from './handle.ts'
import { createPublished } from './published.ts'
import { settingsOf, type EnqueueOptions } from './run-options.ts'
import { createSchedules, type Schedules } from './schedules.ts'
import { createWaits } from './waits.ts'
import { createWakes } from './wakes.ts'
import { withWindow } from './windows.ts'

export interface Queue<Tasks> extends Schedules<Tasks> {
  /** Durable when it resolves. */
  enqueue<Name extends TaskName<Tasks>>(
    task: Name,
    payload: PayloadOf<TasksOf<Tasks>[Name]>,
    options?: EnqueueOptions,
  ): Promise<RunHandle<Awaited<ResultOf<TasksOf<Tasks>[Name]>>>>
  /** A run by its id, or undefined if there is none. */
  get(runId: string): Promise<RunView | undefined>
  /** A handle for a run enqueued elsewhere. */
  handle(runId: string): RunHandle<unknown>
  /** How many shares of its queue a group gets, 1 to 1000; 1 unless set. Counts from the next claim on. */
  setGroupWeight(group: { readonly queue?: string; readonly group: string }, weight: number): Promise<void>
  close(): Promise<void>
}

export function queue<Tasks>(databaseUrl: string | undefined): Queue<Tasks> {
  if (databaseUrl === undefined || databaseUrl === '') throw noDatabase()
  const connection = connect(databaseUrl, { purpose: 'pool' })
  const store = createStore(connection.db)
  const destinations = createPublished(store)
  const wakes = createWakes(store)
  const waits = createWaits({ store, databaseUrl })
  async function enqueue(task: string, payload: unknown, options: EnqueueOptions = {}): Promise<RunHandle<never>> {
    const settings = settingsOf(options)
    const { lane, queueName, options: published } = await destinations.find(task)
    const own = runSettings(task, withWindow(published, options), payload)
    const [run] = await store.enqueueTaskRuns([{ task, lane, payload, ...own, ...settings }])
    if (run === undefined) throw new Error('The database accepted a run and named none.')
    if (run.status === 'AVAILABLE') wakes.send(queueName)
    return createHandle({ store, waits }, run.id, run.duplicate)
  }
  return {
    ...createSchedules<Tasks>({ store, enqueue }),
    enqueue,
    setGroupWeight: ({ queue: queueName = defaultQueue, group }, weight) =>
      store.setGroupWeight({ queue: queueName, group }, weight),
    async get(runId) {
      return (await store.getTaskRuns([runIdOf(runId)]))[0]
    },
    handle: (runId) => createHandle({ store, waits }, runIdOf(runId)),
    async close() {
      await waits.close()
      await wakes.settled()
      await connection.close()
    },
  }
}

function runIdOf(text: string): RunId {
  const id = asRunId(text)
  if (id !== undefined) return id
  throw new ExplainedError({
    code: 'RUN_ID_INVALID',
    what: `"${text}" is not the id of a run.`,
    why: 'Ids are positive whole numbers.',
    fix: 'Use the id that enqueue returned.',
  })
}

function noDatabase(): ExplainedError {
  return new ExplainedError({
    code: 'DATABASE_URL_MISSING',
    what: 'queue() was given no database.',
    why: 'Its argument is undefined or empty: is DATABASE_URL set?',
    fix: 'Pass postgresql://user:password@host:5432/database.',
  })
}

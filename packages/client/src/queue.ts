/**
 * What a producer holds: enqueue typed tasks, look at runs, await results. Loads no task code and no Piscina:
 * `queue<typeof tasks>(url)` needs the tasks' types only.
 */
import { ExplainedError } from '@q/schema'
import { asRunId, connect, createStore, enqueueTaskRuns, type RunId, type RunView } from '@q/store'
import { durationMs, runSettings } from '@q/task'
import type { Duration, PayloadOf, ResultOf, TaskName, TasksOf } from '@q/task'
import { createHandle, type RunHandle } from './handle.ts'
import { createPublished } from './published.ts'
import { storeIn, type TransactionHandle } from './transaction.ts'
import { createWaits } from './waits.ts'
import { createWakes } from './wakes.ts'

export interface EnqueueOptions {
  /** Your own transaction (pg, Kysely, Drizzle, postgres.js, Knex, Prisma): the run is there when it commits. */
  readonly tx?: TransactionHandle
  /** Not before this much time has passed: `'5m'`. */
  readonly delay?: Duration
  /** Lower numbers first; default 0. */
  readonly priority?: number
}

export interface Queue<Tasks> {
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
  close(): Promise<void>
}

export function queue<Tasks>(databaseUrl: string | undefined): Queue<Tasks> {
  if (databaseUrl === undefined || databaseUrl === '') throw noDatabase()
  const connection = connect(databaseUrl, { purpose: 'pool' })
  const store = createStore(connection.db)
  const destinations = createPublished(store)
  const wakes = createWakes(store)
  const waits = createWaits({ store, databaseUrl })
  return {
    async enqueue(task, payload, options = {}) {
      const trx = options.tx === undefined ? undefined : storeIn(options.tx)
      const delayMs = options.delay === undefined ? undefined : durationMs(options.delay)
      const { lane, queueName, options: published } = await destinations.find(task)
      const [run] = await enqueueTaskRuns(trx ?? connection.db, [
        {
          task,
          lane,
          payload,
          ...runSettings(task, published, payload),
          ...(options.priority === undefined ? {} : { priority: checkedPriority(options.priority) }),
          ...(delayMs === undefined ? {} : { delayMs }),
        },
      ])
      if (run === undefined) throw new Error('The database accepted a run and named none.')
      if (trx === undefined && run.status === 'AVAILABLE') wakes.send(queueName)
      return createHandle({ store, waits }, run.id)
    },
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

function checkedPriority(priority: number): number {
  if (Number.isInteger(priority) && Math.abs(priority) <= 32_767) return priority
  throw new ExplainedError({
    code: 'PRIORITY_INVALID',
    what: `${priority} is not a priority.`,
    why: 'A priority is a whole number from -32767 to 32767; lower numbers run first.',
    fix: 'Use 0 for most runs and small numbers around it.',
  })
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

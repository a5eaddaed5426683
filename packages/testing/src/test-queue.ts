/**
 * A queue with its own database, for one test or one test file. The code under test sees a normal queue; the test also
 * controls when runs are executed (`drain`) and when time passes (`travel`).
 *
 *     await using q = await testQueue({ tasks })
 */
import { queue, type Queue } from '@q/client'
import { openInlineReplica, type InlineReplica } from '@q/runner/inline'
import { ExplainedError } from '@q/schema'
import { connect, createStore, type RunId } from '@q/store'
import { durationMs, type Duration, type JsonView, type PayloadOf, type TaskName, type TasksOf } from '@q/task'
import { drain, type DrainResult, type DrainOptions } from './drain.ts'
import { enqueuedRuns, type StoredRun } from './enqueued.ts'
import { openTestCalendar } from './test-calendar.ts'
import { testDatabase } from './test-database.ts'
import { travel } from './travel.ts'

/** Carries the types of the tasks for matchers. It does not exist at run time. */
export declare const tasksOf: unique symbol

export interface TestQueueOptions<Tasks> {
  /** The task module: `import * as tasks from './tasks.ts'`. Without it runs can be enqueued but not executed. */
  readonly tasks?: Tasks
  /** The start of the calendar that drives schedules. Default: Monday, 1 January 2024, 00:00 UTC. */
  readonly startsAt?: Date
}

export interface TestQueue<Tasks> extends Queue<Tasks>, AsyncDisposable {
  readonly [tasksOf]: Tasks
  /** The URL of the database, for code that opens its own queue. */
  readonly url: string
  /** Executes ready runs in this process until none is left. */
  drain(options?: DrainOptions): Promise<DrainResult>
  /** Lets time pass: `'2h'`. The next drain executes what has become due. */
  travel(by: Duration): Promise<void>
  /** Simulates a replica that starts the next run of this task and dies. A drain recovers the run once enough time has passed. */
  abandon(task: TaskName<Tasks>): Promise<RunId>
  /** Every run that was enqueued, oldest first. */
  enqueued(): Promise<StoredRun[]>
  enqueued<Name extends TaskName<Tasks>>(task: Name): Promise<StoredRun<JsonView<PayloadOf<TasksOf<Tasks>[Name]>>>[]>
  /** Removes the database. */
  close(): Promise<void>
}

export async function testQueue<Tasks extends object>(
  options: TestQueueOptions<Tasks> = {},
): Promise<TestQueue<Tasks>> {
  await using opened = new AsyncDisposableStack()
  const { url } = opened.use(await testDatabase())
  const connection = connect(url, { purpose: 'pool' })
  opened.defer(() => connection.close())
  const store = createStore(connection.db)
  const { tasks } = options
  const calendar = await openTestCalendar(connection, options.startsAt)
  const replica =
    tasks === undefined
      ? undefined
      : await openInlineReplica({ store, tasks, databaseUrl: url, home: 'given to testQueue()' })
  const q = queue<Tasks>(url)
  opened.defer(() => q.close())
  const kept = opened.move()
  const close = () => kept.disposeAsync()
  let draining = false
  const verbs: Omit<TestQueue<Tasks>, typeof tasksOf> = {
    ...q,
    url,
    async drain(drainOptions) {
      if (draining) throw underWay()
      draining = true
      try {
        return await drain({ store, replica: known(replica, 'drain()'), calendar: calendar.read() }, drainOptions)
      } finally {
        draining = false
      }
    },
    async travel(by) {
      await travel(url, by, { calendarBegan: calendar.began })
      calendar.advance(durationMs(by))
    },
    schedules: async () => (await q.schedules()).map(calendar.show),
    async abandon(task) {
      const claimed = await known(replica, 'abandon()').abandonNext(task)
      if (claimed === undefined) throw nothingReady(task)
      return claimed.runId
    },
    enqueued: (task?: string) => enqueuedRuns(connection, task) as Promise<never>,
    close,
    [Symbol.asyncDispose]: close,
  }
  return verbs as TestQueue<Tasks>
}

function known(replica: InlineReplica | undefined, verb: string): InlineReplica {
  if (replica !== undefined) return replica
  throw new ExplainedError({
    code: 'TEST_TASKS_MISSING',
    what: `${verb} has no tasks to execute.`,
    why: 'testQueue() was called without tasks. Their types are enough to enqueue, but not to execute.',
    fix: "Pass the module: import * as tasks from './tasks.ts', then testQueue({ tasks }).",
  })
}

function underWay(): ExplainedError {
  return new ExplainedError({
    code: 'DRAIN_UNDER_WAY',
    what: 'drain() was called while another drain() of the same queue was running.',
    why: 'Runs are executed one after the other. The first call was not awaited, or a task called drain().',
    fix: 'Await each drain(). A task only enqueues; the drain that executes it also executes its runs.',
  })
}

function nothingReady(task: string): ExplainedError {
  return new ExplainedError({
    code: 'NOTHING_READY',
    what: `No run of ${task} can be started now.`,
    why: 'None was enqueued, or all of them have ended or are waiting for their time or their concurrency key.',
    fix: 'Enqueue one first, and travel() until it is due.',
  })
}

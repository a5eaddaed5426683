/**
 * A queue with a database of its own, for one test or one test file. To the code under test it is the queue it knows;
 * the test has, in addition, a replica that works when it is told to, and time that passes when it is told to.
 *
 *     await using q = await testQueue({ tasks })
 */
import { queue, type Queue } from '@q/client'
import { openInlineReplica, type InlineReplica } from '@q/runner/inline'
import { ExplainedError } from '@q/schema'
import { connect, createStore, type RunId } from '@q/store'
import { durationMs, type Duration, type JsonView, type PayloadOf, type TaskName, type TasksOf } from '@q/task'
import { drain, type Drained, type DrainOptions } from './drain.ts'
import { enqueuedRuns, type EnqueuedRun } from './enqueued.ts'
import { openTestCalendar } from './test-calendar.ts'
import { testDatabase } from './test-database.ts'
import { travel } from './travel.ts'

/** By which a matcher knows the tasks of a queue. There is no such member at run time. */
export declare const tasksOf: unique symbol

export interface TestQueueOptions<Tasks> {
  /** The module itself: `import * as tasks from './tasks.ts'`. Without it nothing can be executed, only enqueued. */
  readonly tasks?: Tasks
  /** What the calendar shows at first by which schedules tick. Default: Monday, 1 January 2024, 00:00 UTC. */
  readonly startsAt?: Date
}

export interface TestQueue<Tasks> extends Queue<Tasks>, AsyncDisposable {
  readonly [tasksOf]: Tasks
  /** Of the database, for code that opens a queue of its own. */
  readonly url: string
  /** Executes everything that is ready, in this process, until nothing is. */
  drain(options?: DrainOptions): Promise<Drained>
  /** Time passes: `'2h'`. What is due by then is executed by the next drain. */
  travel(by: Duration): Promise<void>
  /** A replica starts the next run of this task and dies; it is recovered by a drain, once enough time has passed. */
  abandon(task: TaskName<Tasks>): Promise<RunId>
  /** All that was ever enqueued, by whomsoever, oldest first. */
  enqueued(): Promise<EnqueuedRun[]>
  enqueued<Name extends TaskName<Tasks>>(task: Name): Promise<EnqueuedRun<JsonView<PayloadOf<TasksOf<Tasks>[Name]>>>[]>
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
    async drain(wish) {
      if (draining) throw underWay()
      draining = true
      try {
        return await drain({ store, replica: known(replica, 'drain()'), calendar: calendar.read() }, wish)
      } finally {
        draining = false
      }
    },
    async travel(by) {
      await travel(url, by, { calendarBegan: calendar.began })
      calendar.turn(durationMs(by))
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
    what: `${verb} has no tasks to work with.`,
    why: 'testQueue() was given none; their types alone are enough to enqueue, not to execute.',
    fix: "Write: import * as tasks from './tasks.ts', and testQueue({ tasks }).",
  })
}

function underWay(): ExplainedError {
  return new ExplainedError({
    code: 'DRAIN_UNDER_WAY',
    what: 'drain() was called while another drain() of the same queue has not ended.',
    why: 'Runs are executed one after the other: somebody did not await the first one, or a task called it.',
    fix: 'Await each drain(); a task enqueues, and leaves the rest to the drain that runs it.',
  })
}

function nothingReady(task: string): ExplainedError {
  return new ExplainedError({
    code: 'NOTHING_READY',
    what: `No run of ${task} can be started now.`,
    why: 'None was enqueued, or all of them wait for their time or for each other, or have ended.',
    fix: 'Enqueue one before, and travel() until it is due.',
  })
}

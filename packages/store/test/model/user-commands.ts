/** Decisions of people: cancel, retry, pause, limits, and manual SQL. */
import * as fc from 'fast-check'
import { isTerminal } from '@q/schema'
import { command, often, pick, same, storeOf, type Command } from './command.ts'
import { type Model, type ModelRun } from './model.ts'
import { blockedKeys, fill, gatedKeys } from './model-keys.ts'
import { leave } from './model-transitions.ts'
import { scope, tasks } from './world.ts'

const numbers = fc.nat(60)
const someone = 'alpha'

export const peopleCommands: fc.Arbitrary<Command>[] = [
  numbers.map((number) =>
    command({
      name: `cancel ${number}`,
      when: (model) => model.runs.size > 0,
      run: async (model, real) => {
        const run = pick([...model.runs.values()], number)!
        const answer = isTerminal(run.status) ? 'already-ended' : run.status === 'RUNNING' ? 'requested' : 'cancelled'
        same(await storeOf(real, someone).cancelTaskRuns([run.id]), [answer])
        if (answer === 'requested') run.cancelRequested = true
        if (answer === 'cancelled') {
          leave(model, [{ run, next: 'CANCELLED', outcome: 'cancelled', code: 'TASK_CANCELLED' }])
        }
      },
    }),
  ),
  numbers.map((number) =>
    command({
      name: `manual retry ${number}`,
      when: (model) => model.runs.size > 0,
      run: async (model, real) => {
        const ended = [...model.runs.values()].filter((run) => isTerminal(run.status))
        const run = pick(ended.length > 0 ? ended : [...model.runs.values()], number)!
        const answer = !isTerminal(run.status) ? 'not-ended' : hasRival(model, run) ? 'conflict' : 'retried'
        same(await storeOf(real, someone).retryTaskRun(run.id), answer)
        if (answer === 'retried') reopen(model, run)
      },
    }),
  ),
  ...often(
    3,
    fc.constantFrom(1, 2, 3).map((limit) =>
      command({
        name: `limit ${limit}`,
        run: async (model, real) => {
          await storeOf(real, someone).setConcurrencyLimit(scope, limit)
          model.limit = limit
        },
      }),
    ),
  ),
  fc.tuple(fc.constantFrom(...tasks), fc.boolean()).map(([queue, pause]) =>
    command({
      name: `${pause ? 'pause' : 'resume'} ${queue}`,
      run: async (model, real) => {
        if (pause) await storeOf(real, someone).pauseQueue(queue, 'ada')
        else await storeOf(real, someone).resumeQueue(queue)
        if (pause) model.paused.add(queue)
        else model.paused.delete(queue)
        const keys = pause ? blockedKeys(model) : gatedKeys(model, ({ task }) => task === queue)
        for (const key of keys) fill(model, key)
      },
    }),
  ),
  numbers.map((number) =>
    command({
      name: `set RUNNING manually ${number}`,
      when: (model) => available(model).length > 0,
      run: async (model, real) => {
        const run = pick(available(model), number)!
        const holder = 'fake-replica-id'
        await real.manualSql(`UPDATE q.task_run SET status='RUNNING', replica_id=$2 WHERE id=$1`, [run.id, holder])
        Object.assign(run, { status: 'RUNNING', holder })
      },
    }),
  ),
]

function available(model: Model): ModelRun[] {
  return [...model.runs.values()].filter((run) => run.status === 'AVAILABLE')
}

/** Another live run of its task has its unique key. */
function hasRival(model: Model, run: ModelRun): boolean {
  return [...model.runs.values()].some(
    (other) =>
      run.uniqueKey !== null &&
      other.uniqueKey === run.uniqueKey &&
      other.task === run.task &&
      !isTerminal(other.status),
  )
}

function reopen(model: Model, run: ModelRun): void {
  if (run.status === 'SUCCEEDED') run.history.push('succeeded')
  const gate = run.asked !== null ? 'task' : run.key !== null ? 'concurrency' : null
  Object.assign(run, {
    status: gate === null ? 'AVAILABLE' : 'PENDING',
    waitingFor: gate,
    runAt: model.now,
    epoch: run.epoch + 1,
    attempt: 0,
    crashes: 0,
    holder: null,
    claimedAt: null,
    startedAt: null,
    expiresAt: null,
    endedUnder: null,
    cancelRequested: false,
    code: null,
  })
  if (run.key !== null) fill(model, run.key)
}

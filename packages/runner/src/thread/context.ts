/** What a task's function is given: made for each run from its order, its pulse and the line to the main thread. */
import { checkJson, problemsText } from '@q/schema/json'
import { durationMs, RequestRefused, type ChildRunOptions, type TaskContext } from '@q/task'
import { orderKey, type RunOrder } from '../protocol.ts'
import { openCheckpoints } from './checkpoints.ts'
import type { MainLine } from './main-line.ts'
import type { WorkerPulse } from './pulse.ts'
import { createTaskLog } from './task-log.ts'

export function createContext(order: RunOrder, pulse: WorkerPulse, line: Pick<MainLine, 'say' | 'ask'>): TaskContext {
  const key = orderKey(order)
  const { runId, fence, attempt, epoch } = order
  const checkpoints = openCheckpoints(order.checkpoint, (state) => line.ask(key, { verb: 'checkpoint', state }))
  const log = createTaskLog((written) => {
    pulse.sign()
    line.say({ key, kind: 'log', line: written })
  })
  const context = {
    runId,
    attempt,
    idempotencyKey: `${runId}-${epoch}`,
    lease: Object.freeze({ runId, fence }),
    signal: pulse.signal,
    heartbeat: pulse.heartbeat,
    progress: pulse.heartbeat,
    log: Object.freeze(log),
    ...checkpoints,
    async enqueue(task: string, payload: unknown, { delay, priority }: ChildRunOptions = {}) {
      const id = await line.ask(key, {
        verb: 'enqueue',
        task,
        payload: payloadText(task, payload),
        delayMs: delay === undefined ? null : durationMs(delay),
        priority: priority ?? null,
      })
      return { id }
    },
  }
  // Code that logs its whole context must not log the password.
  Object.defineProperty(context, 'databaseUrl', { value: order.databaseUrl, enumerable: false })
  return Object.freeze(context as typeof context & Pick<TaskContext, 'databaseUrl'>)
}

function payloadText(task: string, payload: unknown): string {
  const checked = checkJson(payload)
  if (checked.ok) return checked.text
  throw new RequestRefused({
    code: 'PAYLOAD_NOT_JSON',
    what: `The payload for ${task} cannot be stored; nothing was enqueued.`,
    why: `${problemsText(checked.problems)}.`,
    fix: 'Pass plain data, at most 1 MiB as JSON.',
  })
}

/**
 * What every worker thread runs: loads the task modules once, then executes one order after the other.
 * A run's story here: find the task, check the payload, call the code, put what came of it into plain data.
 */
import { workerData } from 'node:worker_threads'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { TaskContext } from '@q/task'
import type { Description, Order, RunOrder, RunReport, WorkerSetup } from '../protocol.ts'
import { describe } from './describe.ts'
import { reportReturn, reportThrow } from './plain-data.ts'
import { openPulse, type WorkerPulse } from './pulse.ts'
import { loadTasks } from './registry.ts'

const setup = workerData as WorkerSetup
const registry = await loadTasks(setup.taskModules)

export default async function obey(order: Order): Promise<Description | RunReport> {
  return order.kind === 'describe' ? describe(registry) : run(order)
}

async function run(order: RunOrder): Promise<RunReport> {
  const task = registry.tasks.get(order.task)
  if (task === undefined) {
    return { ended: 'failed', code: 'UNKNOWN_TASK', detail: unknownTask(order.task) }
  }
  using pulse = openPulse(setup.pulse, order.slot)
  try {
    const checked = await checkPayload(task.options.input, JSON.parse(order.payload))
    if ('problem' in checked) return { ended: 'failed', code: 'INVALID_PAYLOAD', detail: checked.problem }
    const value = await task.run(checked.payload as never, contextOf(order, pulse))
    return reportReturn(value)
  } catch (error) {
    return pulse.aborted() ? { ended: 'aborted' } : reportThrow(error)
  }
}

function unknownTask(name: string): string {
  const reasons = registry.problems.map((problem) => `${problem.what} ${problem.why}`).join(' ')
  return `This thread does not know the task "${name}". ${reasons}`.trimEnd()
}

async function checkPayload(
  input: StandardSchemaV1 | undefined,
  payload: unknown,
): Promise<{ payload: unknown } | { problem: string }> {
  if (input === undefined) return { payload }
  const checked = await input['~standard'].validate(payload)
  if (checked.issues === undefined) return { payload: checked.value }
  return { problem: checked.issues.map((issue) => `${pointerOf(issue)}: ${issue.message}`).join('; ') }
}

/** Where in the payload, as a JSON pointer. */
function pointerOf(issue: StandardSchemaV1.Issue): string {
  const keys = (issue.path ?? []).map((part) => String(typeof part === 'object' ? part.key : part))
  return keys.length === 0 ? 'payload' : `/${keys.join('/')}`
}

function contextOf(order: RunOrder, pulse: WorkerPulse): TaskContext {
  return Object.freeze({
    runId: order.runId,
    attempt: order.attempt,
    idempotencyKey: `${order.runId}-${order.epoch}`,
    lease: Object.freeze({ runId: order.runId, fence: order.fence }),
    signal: pulse.signal,
    heartbeat: pulse.heartbeat,
  })
}

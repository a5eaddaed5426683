/**
 * What every worker thread runs: loads the task modules once, then executes one order after the other.
 * A run's story here: find the task, check the payload, call the code, put what came of it into plain data.
 */
import { workerData } from 'node:worker_threads'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { orderKey } from '../protocol.ts'
import type { Description, Order, Reported, RunOrder, RunReport, WorkerSetup } from '../protocol.ts'
import { createContext } from './context.ts'
import { describe } from './describe.ts'
import { openMainLine } from './main-line.ts'
import { reportReturn, reportThrow } from './plain-data.ts'
import { openPulse } from './pulse.ts'
import { loadTasks } from './registry.ts'
import { catchStrayErrors } from './stray-errors.ts'

const setup = workerData as WorkerSetup
const line = openMainLine()
const registry = await loadTasks(setup.taskModules)
const strayErrors = catchStrayErrors(line)

export default async function obey(order: Order): Promise<Description | Reported> {
  if (order.kind === 'describe') return describe(registry)
  const report = await strayErrors.within(order, () => run(order))
  return { report, said: line.saidOf(orderKey(order)) }
}

async function run(order: RunOrder): Promise<RunReport> {
  const task = registry.tasks.get(order.task)
  if (task === undefined) {
    return { ended: 'failed', code: 'UNKNOWN_TASK', detail: unknownTask(order.task), again: 'never' }
  }
  using pulse = openPulse(setup.pulse, order.slot)
  try {
    const checked = await checkPayload(task.options.input, JSON.parse(order.payload))
    if ('problem' in checked)
      return { ended: 'failed', code: 'INVALID_PAYLOAD', detail: checked.problem, again: 'never' }
    // Told to stop while it was on its way here: code that never began need not be stopped.
    if (pulse.aborted()) return { ended: 'aborted' }
    const value = await task.run(checked.payload as never, createContext(order, pulse, line))
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

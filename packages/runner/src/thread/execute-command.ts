/**
 * Executes a run in the thread of its code: finds the task, validates the payload, calls the code and turns the result or
 * error into plain data. The thread is a worker thread (entry.ts), or that of a test (inline/).
 */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { TaskContext } from '@q/task'
import type { RunCommand, RunReport } from '../protocol/messages.ts'
import { createContext } from './context.ts'
import type { MainThreadChannel } from './main-thread-channel.ts'
import { detailText, reportReturn, reportThrow } from './plain-data.ts'
import type { RunSlot } from './run-slot.ts'
import type { Registry } from './registry.ts'

export interface RunDeps {
  readonly registry: Registry
  readonly channel: MainThreadChannel
  /** Opened only for a task that is known; closed when its code has ended. */
  readonly openSlot: () => RunSlot
  /** Called with the context before the validator and the function of the task. */
  readonly began?: (context: TaskContext) => void
}

export async function executeCommand(
  { registry, channel, openSlot, began }: RunDeps,
  command: RunCommand,
): Promise<RunReport> {
  const task = registry.tasks.get(command.task)
  if (task === undefined) {
    const detail = detailText(unknownTask(registry, command.task))
    return { ended: 'failed', code: 'UNKNOWN_TASK', detail, again: 'never' }
  }
  using slot = openSlot()
  try {
    const context = createContext(command, slot, channel)
    began?.(context)
    const checked = await checkPayload(task.options.input, JSON.parse(command.payload))
    if ('problem' in checked)
      return { ended: 'failed', code: 'INVALID_PAYLOAD', detail: detailText(checked.problem), again: 'never' }
    // A stop was requested before the code began, so there is nothing to stop.
    const reason = slot.stopReason()
    if (reason !== undefined) return { ended: 'aborted', reason }
    const report = reportReturn(await task.run(checked.payload as never, context))
    if (report.ended === 'returned' && report.repaired.length > 0)
      context.log.warn({ places: report.repaired }, 'Replaced values in the result that JSON cannot represent.')
    return report
  } catch (error) {
    const reason = slot.stopReason()
    return reason === undefined ? reportThrow(error) : { ended: 'aborted', reason }
  }
}

function unknownTask({ problems }: Registry, name: string): string {
  const reasons = problems.map((problem) => `${problem.what} ${problem.why}`).join(' ')
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

/** The location of a problem in the payload, as a JSON pointer. */
function pointerOf(issue: StandardSchemaV1.Issue): string {
  const keys = (issue.path ?? []).map((part) => String(typeof part === 'object' ? part.key : part))
  return keys.length === 0 ? 'payload' : `/${keys.join('/')}`
}

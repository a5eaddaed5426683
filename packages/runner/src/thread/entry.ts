/** The entry of every worker thread: loads the task modules once, then executes the runs it receives (serve.ts, execute-command.ts). */
import { workerData } from 'node:worker_threads'
import type { TaskContext } from '@q/task'
import { isTracing, traceAttempt, traceRun } from '@q/task/tracing'
import { boundOutput } from '../output/bounded-output.ts'
import type { Description, RunCommand, RunReport, ThreadJob, WorkerSetup } from '../protocol/messages.ts'
import { slotMemoryAt, stopReasonOf } from '../protocol/slot-layout.ts'
import { ringOf } from '../protocol/ring-layout.ts'
import { captureConsole } from './capture-console.ts'
import { createCurrentRuns } from './current-run.ts'
import { describe } from './describe.ts'
import { createThreadChannel } from './main-thread-channel.ts'
import { createThreadSlot } from './run-slot.ts'
import { reportThrow } from './plain-data.ts'
import { loadTasks } from './registry.ts'
import { executeCommand } from './execute-command.ts'
import { serve } from './serve.ts'
import { catchUncaughtErrors } from './uncaught-errors.ts'

const { taskModules, slotMemory: memory } = workerData as WorkerSetup
for (const stream of [process.stdout, process.stderr]) boundOutput(stream)
const channel = createThreadChannel()
const runs = createCurrentRuns()
let ownSlot = 0
captureConsole(runs)
catchUncaughtErrors(channel, runs, ({ seq }) => stopReasonOf(slotMemoryAt(memory, ownSlot), seq) !== undefined)
const registry = await loadTasks(taskModules)
/** Whether a task module has registered an SDK. */
const tracing = isTracing()

export default async function work(job: ThreadJob): Promise<Description> {
  if (job.kind === 'describe') return describe(registry)
  const { port, slot } = job
  ownSlot = slot
  const threadSlot = createThreadSlot(memory, slot)
  return serve({
    port,
    slot,
    memory,
    channel,
    threadSlot,
    ring: ringOf(job.ring),
    traceRuns: ({ endedRuns }) => void Promise.allSettled(endedRuns.map(traceRun)),
    execute: (command, openSlot) =>
      runs.within(command, (run) => {
        const began = (context: TaskContext) => void (run.context = context)
        const execute = () => executeCommand({ registry, channel, began, openSlot }, command)
        return tracing ? traced(command, execute) : execute()
      }),
  })
}

/** An SDK calls code of the user, which may throw: that ends the run only if its own code has not begun. */
async function traced(command: RunCommand, execute: () => Promise<RunReport>): Promise<RunReport> {
  let report: RunReport | undefined
  const executeOnce = async () => (report = await execute())
  try {
    return await traceAttempt(command, executeOnce, codeOf)
  } catch (error) {
    return report ?? reportThrow(error)
  }
}

function codeOf(report: RunReport): string | undefined {
  return report.ended === 'failed' || report.ended === 'crashed' ? report.code : undefined
}

/** What every worker thread runs: loads the task modules once, then executes the runs it is served (serve.ts, run-order.ts). */
import { workerData } from 'node:worker_threads'
import type { TaskContext } from '@q/task'
import { boundOutput } from '../bounded-output.ts'
import type { Description, ThreadJob, WorkerSetup } from '../protocol.ts'
import { pulseSlot, stopReasonOf } from '../pulse-layout.ts'
import { ringOf } from '../ring-layout.ts'
import { captureConsole } from './capture-console.ts'
import { createCurrentRuns } from './current-run.ts'
import { describe } from './describe.ts'
import { createThreadLine } from './main-line.ts'
import { createThreadPulse } from './pulse.ts'
import { loadTasks } from './registry.ts'
import { runOrder } from './run-order.ts'
import { serve } from './serve.ts'
import { catchStrayErrors } from './stray-errors.ts'

const { taskModules, pulse: memory } = workerData as WorkerSetup
for (const stream of [process.stdout, process.stderr]) boundOutput(stream)
const line = createThreadLine()
const runs = createCurrentRuns()
let ownSlot = 0
captureConsole(runs)
catchStrayErrors(line, runs, ({ seq }) => stopReasonOf(pulseSlot(memory, ownSlot), seq) !== undefined)
const registry = await loadTasks(taskModules)

export default async function work(job: ThreadJob): Promise<Description> {
  if (job.kind === 'describe') return describe(registry)
  const { port, slot } = job
  ownSlot = slot
  const pulse = createThreadPulse(memory, slot)
  return serve({
    port,
    slot,
    memory,
    line,
    pulse,
    ring: ringOf(job.ring),
    execute: (order, openPulse) =>
      runs.within(order, (run) => {
        const began = (context: TaskContext) => void (run.context = context)
        return runOrder({ registry, line, began, openPulse }, order)
      }),
  })
}

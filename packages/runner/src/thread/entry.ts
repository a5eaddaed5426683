/** What every worker thread runs: loads the task modules once, then executes one order after the other (run-order.ts). */
import { workerData } from 'node:worker_threads'
import type { TaskContext } from '@q/task'
import { boundOutput } from '../bounded-output.ts'
import { orderKey } from '../protocol.ts'
import type { Description, Order, Reported, RunOrder, WorkerSetup } from '../protocol.ts'
import { pulseSlot, word } from '../pulse-layout.ts'
import { captureConsole } from './capture-console.ts'
import { createCurrentRuns } from './current-run.ts'
import { describe } from './describe.ts'
import { openMainLine } from './main-line.ts'
import { openPulse } from './pulse.ts'
import { loadTasks } from './registry.ts'
import { runOrder } from './run-order.ts'
import { catchStrayErrors } from './stray-errors.ts'

const setup = workerData as WorkerSetup
for (const stream of [process.stdout, process.stderr]) boundOutput(stream)
const line = openMainLine()
const isStopped = ({ slot }: RunOrder) => Atomics.load(pulseSlot(setup.pulse, slot).words, word.abort) !== 0
const runs = createCurrentRuns()
captureConsole(runs)
catchStrayErrors(line, runs, isStopped)
const registry = await loadTasks(setup.taskModules)

export default async function obey(order: Order): Promise<Description | Reported> {
  if (order.kind === 'describe') return describe(registry)
  const report = await runs.within(order, (run) => {
    const began = ({ log }: TaskContext) => void (run.log = log)
    return runOrder({ registry, line, began, openPulse: () => openPulse(setup.pulse, order.slot) }, order)
  })
  return { report, said: line.saidOf(orderKey(order)) }
}

/** What every worker thread runs: loads the task modules once, then executes one order after the other (run-order.ts). */
import { workerData } from 'node:worker_threads'
import { boundOutput } from '../bounded-output.ts'
import { orderKey } from '../protocol.ts'
import type { Description, Order, Reported, RunOrder, WorkerSetup } from '../protocol.ts'
import { pulseSlot, word } from '../pulse-layout.ts'
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
const strayErrors = catchStrayErrors(line, isStopped)
const registry = await loadTasks(setup.taskModules)

export default async function obey(order: Order): Promise<Description | Reported> {
  if (order.kind === 'describe') return describe(registry)
  const deps = { registry, line, openPulse: () => openPulse(setup.pulse, order.slot) }
  const report = await strayErrors.within(order, () => runOrder(deps, order))
  return { report, said: line.saidOf(orderKey(order)) }
}

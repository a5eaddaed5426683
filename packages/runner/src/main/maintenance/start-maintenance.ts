/** Starts a loop for each maintenance job; a request for an operation wakes the one that executes operations. */
import type { Store } from '@q/store'
import type { RunnerConfig } from '../../settings/config.ts'
import type { StartLoop } from '../loop.ts'
import { createJobLoop, type JobLoopDeps } from './job-loop.ts'
import type { ConnectedSignals } from '../signals.ts'
import { maintenanceJobs } from './maintenance-jobs.ts'
import { operationsTick } from './operations.ts'

export interface MaintenanceDeps extends JobLoopDeps {
  readonly store: Store
  readonly config: RunnerConfig
  readonly startLoop: StartLoop
  readonly signals: Pick<ConnectedSignals, 'connect'>
}

export function startMaintenance(deps: MaintenanceDeps): { stop(): Promise<unknown> } {
  const { store, config, observe, startLoop } = deps
  const loops = maintenanceJobs(store, config, observe).map((job) => startLoop(job.name, createJobLoop(deps, job).tick))
  const operations = startLoop('operations', () => operationsTick(deps))
  deps.signals.connect({ operationRequested: operations.wake })
  return { stop: () => Promise.all([...loops, operations].map((loop) => loop.stop())) }
}

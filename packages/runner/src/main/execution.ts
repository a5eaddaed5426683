/** How this replica executes runs: in batches on its threads (dispatch/), or one in a slot for itself (execute/). */
import type { Store } from '@q/store'
import type { TaskDescription } from '../protocol/messages.ts'
import type { RunnerConfig } from '../settings/config.ts'
import type { ExchangeBuffer } from './claim/exchange-buffer.ts'
import type { FindRoute } from './claim/task-routing.ts'
import { createDispatch, type Dispatch } from './dispatch/dispatch.ts'
import { createStartAhead } from './dispatch/start-ahead.ts'
import { createThreadSlots, createThreadState } from './dispatch/thread-state.ts'
import type { Observe } from './events.ts'
import { createContextRequests } from './execute/context-requests.ts'
import type { ExecuteDeps } from './execute/execute.ts'
import { executeAlone } from './execute/execute-alone.ts'
import { createSettlements } from './execute/settle.ts'
import { createStepInputs } from './execute/step-inputs.ts'
import { optionsOf as optionsOfTasks } from './execute/task-catalog.ts'
import { createTaskLogs } from './execute/task-logs.ts'
import type { Executors } from './executors/start-executors.ts'
import type { FollowedDrain } from './followed-drain.ts'
import type { Host } from './identity.ts'
import type { HeldRuns } from './liveness/held-runs.ts'
import { noEvidenceMsMax } from './liveness/run-limits.ts'
import type { RunMonitors } from './liveness/run-monitors.ts'
import type { Signals } from './signals.ts'
import type { ProcessStats } from './stats/process-stats.ts'
import type { RunCounts } from './stats/run-counts.ts'

export interface ExecutionDeps {
  readonly config: RunnerConfig
  readonly tasks: readonly TaskDescription[]
  readonly host: Host
  readonly databaseUrl: string
  readonly store: Store
  readonly executors: Executors
  readonly runMonitors: RunMonitors
  readonly heldRuns: HeldRuns
  readonly exchangeBuffer: ExchangeBuffer
  readonly processStats: ProcessStats
  readonly counts: RunCounts
  /** Finds the queue and options of runs that this replica enqueues. */
  readonly routeOf: FindRoute
  readonly followed: Pick<FollowedDrain, 'onDeadline'>
  /** Aborts when the replica has left. */
  readonly hasLeft: AbortSignal
  readonly signals: Signals
  readonly observe: Observe
  readonly nowMs: () => number
}

export function createExecution(deps: ExecutionDeps): Dispatch {
  const { config, executors, runMonitors, heldRuns, exchangeBuffer, processStats, signals } = deps
  const threads = executors.threads.feeds.map(createThreadState)
  const slots = createThreadSlots(threads)
  const execution: ExecuteDeps = { ...runDeps(deps), slots, executors }
  const dispatch = createDispatch({
    threads,
    slots,
    runMonitors,
    startAhead: createStartAhead({ ...config, optionsOf: execution.optionsOf }),
    heldRuns,
    exchangeBuffer,
    execution: { ...execution, threads: executors.threads },
    executeAlone: (run, slot) => void executeAlone({ execution, heldRuns, processStats, signals }, run, slot),
    processStats,
    signals,
  })
  runMonitors.openBefore(() => dispatch.openMonitors())
  return dispatch
}

/** Dependencies of every run, in a batch or in a slot for itself. */
function runDeps(deps: ExecutionDeps): Omit<ExecuteDeps, 'slots' | 'executors'> {
  const { config, store, observe, signals, routeOf, hasLeft, databaseUrl, runMonitors, host, nowMs } = deps
  return {
    store,
    observe,
    databaseUrl,
    runMonitors,
    host,
    nowMs,
    hasLeft,
    settlements: createSettlements(store, deps.exchangeBuffer),
    stepInputs: createStepInputs(store),
    requests: createContextRequests({ store, observe, routeOf, onEnqueued: signals.runsReady }),
    logs: createTaskLogs(store, observe, hasLeft),
    optionsOf: optionsOfTasks(deps.tasks),
    limits: { ...config.preset, noEvidenceMs: noEvidenceMsMax(config.preset.thresholds) },
    stopGraceMs: config.stopGraceMs,
    onDeadline: deps.followed.onDeadline,
    counts: deps.counts,
    dueIn: signals.dueIn,
  }
}

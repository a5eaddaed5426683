/**
 * Executes one run that has a slot for itself, from claimed to settled: a suspect, a run in a child process, a step of
 * a workflow. All other runs go to their thread in batches (dispatch.ts).
 *
 * Invariant: the outcome is recorded only when the code can no longer act. Until then the run stays RUNNING, gets
 * heartbeats, and keeps its slot and its concurrency key.
 */
import type { ClaimedRun } from '@q/store'
import type { RunReport } from '../../protocol/messages.ts'
import { sharedClockMs } from '../../protocol/slot-layout.ts'
import { recordOutcome, policyOf, type RecordDeps } from './record-outcome.ts'
import type { RunMonitor } from '../liveness/run-monitor.ts'
import type { RunMonitors } from '../liveness/run-monitors.ts'
import type { ContextRequests } from './context-requests.ts'
import { commandOf } from './run-command.ts'
import type { Slots } from '../dispatch/slots.ts'
import type { StepInputs } from './step-inputs.ts'
import { terminateAfterGrace } from './stop-grace.ts'
import { retryUntilStored } from './retry-until-stored.ts'
import { messageHandler, type Executor } from '../executors/executor.ts'

export interface ExecuteDeps extends RecordDeps {
  readonly slots: Slots
  readonly executors: Readonly<Record<'threads' | 'processes', Executor>>
  readonly runMonitors: RunMonitors
  readonly requests: ContextRequests
  readonly stepInputs: StepInputs
  /** For tasks with `database: true`. */
  readonly databaseUrl: string | undefined
  readonly stopGraceMs: number
  readonly nowMs: () => number
}

export async function executeRun(deps: ExecuteDeps, claimed: ClaimedRun, slot: number): Promise<void> {
  const { runId, fence, task, attempt } = claimed
  const begunMs = deps.nowMs()
  const isolation = isSuspect(claimed) ? 'process' : deps.optionsOf(task).isolation
  const facts = { lease: { runId, fence }, task, isolation, ...policyOf(deps, claimed) }
  const monitor = deps.runMonitors.open(facts, slot, begunMs)
  deps.counts.started(claimed)
  deps.observe({ type: 'run-started', runId, task, attempt, thread: slot })
  try {
    const ready = await filled(deps, claimed, monitor)
    const report = 'ended' in ready ? ready : await runUntilStopped(deps, ready, monitor)
    const beganAtMs = monitor.beganAtMs()
    const tookMs = beganAtMs === null ? deps.nowMs() - begunMs : sharedClockMs() - beganAtMs
    await recordOutcome(deps, claimed, { report, monitor, slot, tookMs })
  } finally {
    monitor.close()
    deps.slots.release(slot)
  }
}

/** Whether the run needs a slot for itself. */
export function isExclusive({ optionsOf }: Pick<RecordDeps, 'optionsOf'>, run: ClaimedRun): boolean {
  return run.step || isSuspect(run) || optionsOf(run.task).isolation === 'process'
}

/** Whether its replica, thread or child died while it ran: in a process of its own it cannot harm other runs. */
function isSuspect(claimed: ClaimedRun): boolean {
  return claimed.crashCount > 0
}

/** Fills in the results that a step needs. A step without them, or stopped before it has them, gets a report instead. */
async function filled(deps: ExecuteDeps, claimed: ClaimedRun, monitor: RunMonitor): Promise<ClaimedRun | RunReport> {
  if (!claimed.step) return claimed
  const payload = await retryUntilStored(deps.observe, () => deps.stepInputs(claimed), monitor.signal).catch(
    (error: unknown) => {
      if (!monitor.signal.aborted) throw error
    },
  )
  if (payload === undefined || monitor.signal.aborted) return { ended: 'aborted' }
  if (typeof payload === 'string') return { ...claimed, payload }
  return { ended: 'failed', code: 'INVALID_PAYLOAD', detail: `${payload.message} ${payload.why}`, again: 'never' }
}

async function runUntilStopped(deps: ExecuteDeps, claimed: ClaimedRun, monitor: RunMonitor): Promise<RunReport> {
  const terminate = new AbortController()
  const ended = terminateAfterGrace(monitor, deps.stopGraceMs, () => terminate.abort())
  const executor = deps.executors[monitor.facts.isolation === 'process' ? 'processes' : 'threads']
  const running = executor.run(commandOf(deps, claimed, monitor.seq), {
    monitor,
    terminate: terminate.signal,
    onMessage: messageHandler(deps, monitor),
  })
  monitor.measureBy(running.measure)
  return running.report.finally(ended)
}

/**
 * One run that has a slot for itself, from claimed to settled: a suspect, a run in a child process, a step of a workflow.
 * All other runs go to their thread in batches (dispatch.ts).
 *
 * Its outcome is recorded only when its code can really act no more: until then the run stays RUNNING, is beaten for, and
 * keeps its slot and its concurrency key.
 */
import type { ClaimedRun } from '@q/store'
import type { RunReport } from '../protocol.ts'
import { sharedClockMs } from '../pulse-layout.ts'
import { conclude, policyOf, type ConcludeDeps } from './conclude.ts'
import type { Pulse, PulseBoard } from './pulse-board.ts'
import type { Requests } from './requests.ts'
import { orderOf } from './run-order.ts'
import type { Slots } from './slots.ts'
import type { StepInputs } from './step-inputs.ts'
import { terminateAfterGrace } from './stop-grace.ts'
import { untilReached } from './until-reached.ts'
import { hearing, type Workplace } from './workplace.ts'

export interface ExecuteDeps extends ConcludeDeps {
  readonly slots: Slots
  readonly workplaces: Readonly<Record<'threads' | 'processes', Workplace>>
  readonly pulseBoard: PulseBoard
  readonly requests: Requests
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
  const pulse = deps.pulseBoard.open(facts, slot, begunMs)
  deps.observe({ type: 'run-started', runId, task, attempt, thread: slot })
  try {
    const ready = await filled(deps, claimed, pulse)
    const report = 'ended' in ready ? ready : await runUntilStopped(deps, ready, pulse)
    const beganAtMs = pulse.beganAtMs()
    const tookMs = beganAtMs === null ? deps.nowMs() - begunMs : sharedClockMs() - beganAtMs
    await conclude(deps, claimed, { report, pulse, slot, tookMs })
  } finally {
    pulse.close()
    deps.slots.giveBack(slot)
  }
}

/** Whether the run needs a slot for itself. */
export function isExclusive({ optionsOf }: Pick<ConcludeDeps, 'optionsOf'>, run: ClaimedRun): boolean {
  return run.step || isSuspect(run) || optionsOf(run.task).isolation === 'process'
}

/** It was running when its replica, thread or child died: it harms nobody in a process of its own. */
function isSuspect(claimed: ClaimedRun): boolean {
  return claimed.crashCount > 0
}

/** A step is started with the results it needs. Stopped before it has them, or without them, it is sent nowhere. */
async function filled(deps: ExecuteDeps, claimed: ClaimedRun, pulse: Pulse): Promise<ClaimedRun | RunReport> {
  if (!claimed.step) return claimed
  const payload = await untilReached(deps.observe, () => deps.stepInputs(claimed), pulse.signal).catch(
    (error: unknown) => {
      if (!pulse.signal.aborted) throw error
    },
  )
  if (payload === undefined || pulse.signal.aborted) return { ended: 'aborted' }
  if (typeof payload === 'string') return { ...claimed, payload }
  return { ended: 'failed', code: 'INVALID_PAYLOAD', detail: `${payload.message} ${payload.why}`, again: 'never' }
}

async function runUntilStopped(deps: ExecuteDeps, claimed: ClaimedRun, pulse: Pulse): Promise<RunReport> {
  const terminate = new AbortController()
  const ended = terminateAfterGrace(pulse, deps.stopGraceMs, () => terminate.abort())
  const place = deps.workplaces[pulse.facts.isolation === 'process' ? 'processes' : 'threads']
  const running = place.run(orderOf(deps, claimed, pulse.seq), {
    pulse,
    terminate: terminate.signal,
    hear: hearing(deps, pulse),
  })
  pulse.measureBy(running.measure)
  return running.report.finally(ended)
}

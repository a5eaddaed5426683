/**
 * One run, from claimed to settled. The only file that sees a whole life.
 *
 * A run that is told to stop first has a moment to stop itself (its heartbeat throws, its signal aborts); then its
 * thread is terminated, or its child killed. Its outcome is recorded only when its code can really act no more: until
 * then the run stays RUNNING, is beaten for, and keeps its slot and its concurrency key. What becomes of it is ends.ts.
 */
import type { ClaimedRun, OnDeadline, Outcome, Settlement } from '@q/store'
import type { OptionData } from '@q/task'
import { ownFrame } from '../own-frame.ts'
import type { RunOrder, RunReport } from '../protocol.ts'
import type { AbortReason } from '../pulse-layout.ts'
import { endOf, type End, type Policy } from './ends.ts'
import { fencedGraceMs } from './fence-bound.ts'
import { pause } from './loop.ts'
import type { Pulse, PulseBoard } from './pulse-board.ts'
import type { Requests } from './requests.ts'
import { giveBack, settle, snooze, type SettleDeps } from './settle.ts'
import type { Slots } from './slots.ts'
import type { StepInputs } from './step-inputs.ts'
import type { TaskLogs } from './task-logs.ts'
import { untilReached } from './until-reached.ts'
import type { Hear, Workplace } from './workplace.ts'

export interface ExecuteDeps extends SettleDeps {
  readonly slots: Slots
  readonly workplaces: Readonly<Record<'threads' | 'processes', Workplace>>
  readonly pulseBoard: PulseBoard
  readonly requests: Requests
  readonly stepInputs: StepInputs
  readonly logs: TaskLogs
  readonly host: { readonly hostname: string; readonly pid: number }
  readonly optionsOf: (task: string) => OptionData
  /** For tasks with `database: true`. */
  readonly databaseUrl: string | undefined
  /** For runs and tasks that set none. */
  readonly limits: Pick<Policy, 'timeoutMs' | 'maxSilentMs' | 'noEvidenceMs'>
  readonly stopGraceMs: number
  /** What happens to a run that a drain stops. */
  readonly onDeadline: () => OnDeadline
  readonly nowMs: () => number
  readonly count: (status: Outcome['status']) => void
  /** A run waits for its time again and is due in `inMs` milliseconds at the earliest. */
  readonly dueIn: (inMs: number) => void
}

export async function executeRun(deps: ExecuteDeps, claimed: ClaimedRun, slot: number): Promise<void> {
  const { runId, fence, task, attempt } = claimed
  const begunMs = deps.nowMs()
  const options = deps.optionsOf(task)
  const policy = policyOf(deps, claimed, options)
  const isolation = isSuspect(claimed) ? 'process' : options.isolation
  const pulse = deps.pulseBoard.open({ lease: { runId, fence }, task, isolation, ...policy }, slot, begunMs)
  deps.observe({ type: 'run-started', runId, task, attempt, thread: slot })
  try {
    const ready = await filled(deps, claimed, pulse)
    const report = 'ended' in ready ? ready : await runUntilStopped(deps, ready, pulse)
    pulse.codeEnded()
    if (hasFencedItself(report, pulse)) deps.observe({ type: 'fenced', runIds: [runId] })
    await deps.logs.written(pulse.lease)
    const end = endOf(report, pulse.stopReason, { ...policy, onDeadline: deps.onDeadline() })
    await conclude(deps, claimed, end, { slot, tookMs: Math.round(deps.nowMs() - begunMs) })
  } finally {
    pulse.close()
    deps.slots.giveBack(slot)
  }
}

/** Whether its thread or child stopped it, because this main thread did not in time. */
function hasFencedItself(report: RunReport, { stopReason }: Pulse): boolean {
  return stopReason === undefined && report.ended === 'aborted' && report.reason === 'cut off from the database'
}

/** The run's own limits, else its task's, as this replica knows it, else the replica's. */
function policyOf(deps: ExecuteDeps, claimed: ClaimedRun, options: OptionData): Policy {
  return {
    onCrash: claimed.onCrash,
    retry: options.retry,
    timeoutMs: claimed.timeoutMs ?? options.timeoutMs ?? deps.limits.timeoutMs,
    maxSilentMs: claimed.maxSilentMs ?? options.maxSilentMs ?? deps.limits.maxSilentMs,
    noEvidenceMs: deps.limits.noEvidenceMs,
  }
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
  const { runId, fence, epoch, attempt, task, payload, checkpoint } = claimed
  const databaseUrl = deps.optionsOf(task).database ? deps.databaseUrl : undefined
  const order: RunOrder = {
    kind: 'run',
    runId,
    fence,
    epoch,
    attempt,
    task,
    payload,
    checkpoint,
    slot: pulse.slot,
    ...(databaseUrl === undefined ? {} : { databaseUrl }),
  }
  const terminate = new AbortController()
  const ended = new AbortController()
  const over = AbortSignal.any([ended.signal, pulse.outOfTime])
  pulse.signal.addEventListener('abort', () => {
    // Once it has ended by itself nobody is to be ended: its thread or child may have the next run already.
    void graceOf(pulse, deps.stopGraceMs, over).then(() => ended.signal.aborted || terminate.abort())
  })
  const place = deps.workplaces[pulse.facts.isolation === 'process' ? 'processes' : 'threads']
  const running = place.run(order, { pulse, terminate: terminate.signal, hear: hearing(deps, pulse) })
  pulse.measureBy(running.measure)
  return running.report.finally(() => ended.abort())
}

/** What the code says while it runs. */
function hearing({ logs, requests }: ExecuteDeps, pulse: Pulse): Hear {
  return (said, reply) => {
    if (said.kind === 'log') logs.add(pulse.facts.task, { ...said.line, lease: pulse.lease })
    if (said.kind === 'ask') void requests(pulse, said.id, said.ask).then(reply)
  }
}

/** Somebody waits for these to be gone; code that has not even noticed by then is not going to clean up. */
const unnoticedMs: Partial<Record<AbortReason, number>> = { cancelled: 500, 'lease lost': 500 }

async function graceOf(pulse: Pulse, usualMs: number, over: AbortSignal): Promise<void> {
  const { stopReason: reason } = pulse
  // Others may start it, or what waits for it, soon: it is gone before that.
  const graceMs = reason === 'cut off from the database' ? Math.min(usualMs, fencedGraceMs) : usualMs
  const firstMs = Math.min(graceMs, (reason && unnoticedMs[reason]) ?? graceMs)
  await pause(firstMs, over)
  if (pulse.noticed()) await pause(graceMs - firstMs, over)
}

interface Place {
  readonly slot: number
  readonly tookMs: number
}

async function conclude(deps: ExecuteDeps, claimed: ClaimedRun, end: End, place: Place): Promise<void> {
  const { runId, fence, task } = claimed
  const lease = { runId, fence }
  const by = { ...deps.host, thread: place.slot }
  switch (end.kind) {
    case 'nothing':
      return deps.observe({ type: 'lease-lost', runId, task })
    case 'give-back':
      return giveBack(deps, lease, by)
    case 'snooze':
      if ((await snooze(deps, lease, end.afterMs)) === 'lease-lost')
        return deps.observe({ type: 'lease-lost', runId, task })
      deps.dueIn(end.afterMs)
      return deps.observe({
        type: 'run-retried',
        runId,
        task,
        tookMs: place.tookMs,
        detail: 'It asked to be called later.',
      })
    case 'settle':
      return recordEnd(deps, claimed, { lease, outcome: end.outcome, by }, place.tookMs)
  }
}

/** The shortest delay of a retry: the store doubles it with every attempt and adds jitter. */
function leastDelayMs(outcome: Outcome): number {
  const { delayMs = 0, delayMsMax } = (outcome.status === 'FAILED' ? outcome.retry : undefined) ?? {}
  return delayMsMax === undefined ? delayMs : Math.min(delayMs, delayMsMax) * 0.75
}

async function recordEnd(
  deps: ExecuteDeps,
  { runId, task, gated }: ClaimedRun,
  settlement: Settlement,
  tookMs: number,
): Promise<void> {
  const { answer, outcome } = await settle(deps, settlement, !gated)
  if (answer === 'lease-lost') return deps.observe({ type: 'lease-lost', runId, task })
  const { status } = outcome
  const at = status === 'FAILED' && outcome.stack !== undefined ? ownFrame(outcome.stack) : undefined
  const why =
    status === 'SUCCEEDED' ? {} : { code: outcome.code, detail: outcome.detail, ...(at === undefined ? {} : { at }) }
  if (answer === 'retried') {
    deps.dueIn(leastDelayMs(outcome))
    return deps.observe({ type: 'run-retried', runId, task, tookMs, ...why })
  }
  deps.count(status)
  deps.observe({ type: 'run-ended', runId, task, status, tookMs, ...why })
}

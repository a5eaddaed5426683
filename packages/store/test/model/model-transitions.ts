/** Transitions out of a state in the model, with their effects on counts, history and concurrency keys. */
import { isTerminal, type TaskState } from '@q/schema'
import { fill, makeLive, waiting } from './model-keys.ts'
import type { Model, ModelRun } from './model.ts'
import { taskOnCrash } from './world.ts'

/** Starts after crashes that `onCrash: 'retry'` allows (spec §4). */
const crashesMax = 3

export interface Departure {
  readonly run: ModelRun
  readonly next: TaskState
  /** For the history, if the run was RUNNING and did not succeed. */
  readonly outcome: string
  readonly code?: string
  readonly delay?: number
  readonly refund?: boolean
  readonly crashed?: boolean
  /** Its own holder says so. */
  readonly byHolder?: boolean
}

/**
 * Runs leave the state they are in, together. Each slot goes to the next run that waits for it and can start, unless some
 * run of the key sits above the limit. Keys whose slots were not handed on, and keys of runs that are AVAILABLE again,
 * are filled afterwards.
 */
export function leave(model: Model, plans: readonly Departure[]): void {
  const departures = plans.map(cancelledInstead)
  const freed = departures
    .filter(({ run, next }) => next !== 'AVAILABLE' && run.slot !== null)
    .map(({ run }) => ({ key: run.key ?? '', slot: run.slot ?? 0, above: isAnyAbove(model, run.key) }))
    .toSorted((a, b) => a.slot - b.slot)
  for (const departure of departures) depart(model, departure)
  const again = departures.filter(({ run, next }) => next === 'AVAILABLE' && run.slot !== null)
  const open = new Set<string>(again.flatMap(({ run }) => run.key ?? []))
  for (const { key, slot, above } of freed) {
    const [successor] = above || slot > model.limit ? [] : waiting(model, key)
    if (successor === undefined) open.add(key)
    else makeLive(successor, slot)
  }
  for (const key of open) fill(model, key)
}

/** After a limit was lowered. */
function isAnyAbove(model: Model, key: string | null): boolean {
  return [...model.runs.values()].some((run) => run.key === key && (run.slot ?? 0) > model.limit)
}

/** Whose cancelling was requested is not started again. */
function cancelledInstead(plan: Departure): Departure {
  if (!plan.run.cancelRequested || isTerminal(plan.next)) return plan
  const outcome = plan.crashed === true ? plan.outcome : 'cancelled'
  return { ...plan, next: 'CANCELLED', outcome, code: 'TASK_CANCELLED', byHolder: plan.crashed !== true }
}

function depart(model: Model, departure: Departure): void {
  const { run, next, outcome, code = null, delay = 0, refund = false, crashed = false, byHolder = false } = departure
  const wasRunning = run.status === 'RUNNING'
  if (wasRunning && next !== 'SUCCEEDED') run.history.push(outcome)
  if (wasRunning && refund) run.attempt -= 1
  if (crashed) run.crashes += 1
  run.endedUnder = byHolder && isTerminal(next) ? run.lease : null
  run.lease = null
  run.beatAt = null
  run.status = next
  run.waitingFor = next === 'PENDING' ? 'time' : null
  if (next !== 'AVAILABLE') run.slot = null
  if (next === 'PENDING') run.runAt = model.now + delay
  if (isTerminal(next)) {
    run.code = code
    return
  }
  Object.assign(run, { holder: null, claimedAt: null, startedAt: null, cancelRequested: false })
}

/** A held run whose holder is taken for dead. */
export function crash(model: Model, run: ModelRun): Departure {
  const onCrash = run.onCrash ?? taskOnCrash[run.task] ?? model.replicas.get(run.holder ?? '')?.onCrash ?? 'fail'
  if (run.status === 'CLAIMED') return { run, next: 'AVAILABLE', outcome: 'released' }
  const again = onCrash === 'retry' && run.crashes < crashesMax
  const code = onCrash === 'retry' ? 'POISONED' : 'WORKER_CRASHED'
  return { run, next: again ? 'AVAILABLE' : 'FAILED', outcome: 'crashed', code, crashed: true }
}

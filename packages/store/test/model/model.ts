/**
 * What the store should do, said a second time and without SQL: plain records, and the rules of spec §3, §4, §6 and §7.
 *
 * Two things are followed rather than foretold, because the store is free to choose them: ids and fences (only that a
 * claim's is higher than every earlier one of its run), and which runs a claim takes (claim-commands.ts judges it).
 * Time is the model's own, in minutes; the database's rows are aged by the same amounts, so that real time, which
 * passes in milliseconds, never decides anything.
 */
import { isTerminal, type TaskState } from '@q/schema'
import type { RunId, StaleRun } from '@q/store'
import { taskOnCrash } from './world.ts'

export interface ModelRun {
  readonly id: RunId
  readonly task: string
  readonly priority: number
  maxAttempts: number
  onCrash: 'fail' | 'retry' | null
  uniqueKey: string | null
  key: string | null
  /** Not null while it has not passed the gate `task`: the keys that it gets from its task. */
  asked: { readonly key: string | null; readonly uniqueKey: string | null } | null
  status: TaskState
  waitingFor: 'task' | 'time' | 'concurrency' | null
  runAt: number
  expiresAt: number | null
  /** Place in its concurrency key while it is live. */
  slot: number | null
  attempt: number
  crashes: number
  epoch: number
  /** As last seen. */
  fence: number
  holder: string | null
  /** The valid fence; null: no holder may write. */
  lease: number | null
  /** The fence under which its own holder ended it: telling so again is no loss. */
  endedUnder: number | null
  claimedAt: number | null
  startedAt: number | null
  beatAt: number | null
  cancelRequested: boolean
  checkpoint: number | null
  code: string | null
  /** Outcomes of ended attempts; a success is only in the run until a manual retry. */
  history: string[]
}

export interface ModelReplica {
  readonly id: string
  readonly onCrash: 'fail' | 'retry'
  readonly replicaStale: number
  readonly claimerStale: number
  readonly runnerStale: number
  registeredAt: number
  lastBeat: number
}

/** Every lease that was ever given out, and to whom. */
export interface GivenLease {
  readonly runId: RunId
  readonly fence: number
  readonly replicaId: string
}

/** One replica serves a task that is published, and one that is going to be; no replica serves or publishes the third. */
export const served = { tasks: ['encode', 'draw'], by: 'alpha' } as const

export interface Model {
  now: number
  readonly runs: Map<RunId, ModelRun>
  readonly replicas: Map<string, ModelReplica>
  readonly leases: GivenLease[]
  readonly paused: Set<string>
  /** Whether the task that is published late has been. */
  published: boolean
  /** Unique keys that were taken for a time, by task and key. */
  readonly periods: Map<string, { readonly runId: RunId; readonly until: number }>
  limit: number
  /** What a reaper has seen and not acted upon yet. */
  seen: readonly StaleRun[]
  recoveries: number
}

/** Starts after crashes that `onCrash: 'retry'` allows (spec §4). */
const crashesMax = 3

export function newModel(replicas: readonly ModelReplica[]): Model {
  const fresh = replicas.map((replica) => [replica.id, { ...replica, registeredAt: 0, lastBeat: 0 }] as const)
  return {
    now: 0,
    runs: new Map(),
    replicas: new Map(fresh),
    leases: [],
    paused: new Set(),
    published: false,
    periods: new Map(),
    limit: 1,
    seen: [],
    recoveries: 0,
  }
}

export function runOf(model: Model, id: RunId): ModelRun {
  const run = model.runs.get(id)
  if (run === undefined) throw new Error(`The store named run ${id}, which no command enqueued.`)
  return run
}

export function isHeld(run: ModelRun): boolean {
  return run.status === 'CLAIMED' || run.status === 'RUNNING'
}

/** Replicas that hold something now. */
export function holders(model: Model): string[] {
  const ids = [...model.runs.values()].filter(isHeld).map((run) => run.holder)
  return [...model.replicas.keys()].filter((id) => ids.includes(id))
}

export function isLate(model: Model, run: ModelRun): boolean {
  return run.expiresAt !== null && run.expiresAt <= model.now
}

/** Whose unique key it is: for its period, whatever became of the run; else while the run has not ended. */
export function keyOwner(model: Model, task: string, uniqueKey: string | null): ModelRun | undefined {
  if (uniqueKey === null) return undefined
  const period = model.periods.get(`${task} ${uniqueKey}`)
  if (period !== undefined && period.until > model.now) return runOf(model, period.runId)
  return [...model.runs.values()].find(
    (run) => run.task === task && run.uniqueKey === uniqueKey && !isTerminal(run.status),
  )
}

/** Does the lease still count, for a run in this state? */
export function counts(model: Model, lease: GivenLease, status?: TaskState): boolean {
  const run = runOf(model, lease.runId)
  return run.lease === lease.fence && (status === undefined ? isHeld(run) : run.status === status)
}

export function isStale(model: Model, run: ModelRun): boolean {
  if (!isHeld(run)) return false
  const replica = model.replicas.get(run.holder ?? '')
  if (replica === undefined) return true // never alive
  const own = Math.max(run.beatAt ?? -Infinity, run.claimedAt ?? -Infinity, run.startedAt ?? -Infinity)
  const theirs = Math.max(
    replica.lastBeat,
    replica.registeredAt,
    run.claimedAt ?? -Infinity,
    run.startedAt ?? -Infinity,
  )
  const ownThreshold = run.status === 'CLAIMED' ? replica.claimerStale : replica.runnerStale
  return model.now - theirs > replica.replicaStale || model.now - own > ownThreshold
}

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

/**
 * Slots of a key that no held run has go to the most urgent of the other runs that can start; among equals a run keeps its
 * slot. Runs that cannot start, or are less urgent, wait again. Returns the runs that got a slot, the lowest slots first.
 */
export function fill(model: Model, key: string): RunId[] {
  const live = [...model.runs.values()].filter((run) => run.key === key && run.slot !== null)
  const [held, ready] = [live.filter(isHeld), live.filter((run) => !isHeld(run))]
  const room = Math.max(0, model.limit - held.length)
  const urgency = (run: ModelRun) => (rankOf(model, run) ?? Infinity) * 1_000 + run.priority
  const contest = [...ready.filter((run) => canStart(model, run)).toSorted(byAge), ...waiting(model, key)].toSorted(
    (a, b) => urgency(a) - urgency(b),
  )
  const successors = contest.slice(0, room).filter((run) => run.slot === null)
  const beaten = successors.length === 0 ? [] : contest.slice(room).filter((run) => run.slot !== null)
  for (const run of [...ready.filter((one) => !canStart(model, one)), ...beaten]) {
    Object.assign(run, { status: 'PENDING', waitingFor: 'concurrency', slot: null })
  }
  const taken = live.flatMap((run) => run.slot ?? [])
  const free = Array.from({ length: model.limit }, (_, index) => index + 1).filter((slot) => !taken.includes(slot))
  successors.forEach((successor, index) => makeLive(successor, free[index] ?? 0))
  return successors.map((successor) => successor.id)
}

/** Fills every key that runs wait for, or that a run holds which cannot start. Returns the runs that got a slot. */
export function sweepKeys(model: Model): RunId[] {
  const keys = new Set([...gatedKeys(model), ...blockedKeys(model)])
  return [...keys].flatMap((key) => fill(model, key))
}

/** Runs that can start: by their replicas, by priority, then by the order of enqueue. */
function waiting(model: Model, key: string): ModelRun[] {
  return [...model.runs.values()]
    .filter((run) => run.key === key && run.waitingFor === 'concurrency' && canStart(model, run))
    .toSorted((a, b) => rankOf(model, a)! - rankOf(model, b)! || a.priority - b.priority || byAge(a, b))
}

function byAge(a: ModelRun, b: ModelRun): number {
  return Number(BigInt(a.id) - BigInt(b.id))
}

export function canStart(model: Model, run: ModelRun): boolean {
  return rankOf(model, run) !== undefined
}

/** 0: a live replica serves its task; 1: no replica has published it; undefined: it cannot start. */
function rankOf(model: Model, { task }: ModelRun): 0 | 1 | undefined {
  if (model.paused.has(task)) return undefined
  if (!served.tasks.some((name) => name === task)) return 1
  const server = model.replicas.get(served.by)
  return server !== undefined && model.now - server.lastBeat < server.replicaStale ? 0 : undefined
}

/** Keys of AVAILABLE runs that cannot start. */
export function blockedKeys(model: Model): string[] {
  const blocked = [...model.runs.values()].filter((run) => run.status === 'AVAILABLE' && !canStart(model, run))
  return [...new Set(blocked.flatMap((run) => run.key ?? []))]
}

/** Keys that runs wait for. */
export function gatedKeys(model: Model, isOfInterest: (run: ModelRun) => boolean = () => true): string[] {
  const gated = [...model.runs.values()].filter((run) => run.waitingFor === 'concurrency' && isOfInterest(run))
  return [...new Set(gated.flatMap((run) => run.key ?? []))]
}

function makeLive(run: ModelRun, slot: number): void {
  Object.assign(run, { status: 'AVAILABLE', waitingFor: null, slot })
}

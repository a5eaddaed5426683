/**
 * The model of the store, without SQL: plain records and the rules of spec §3, §4, §6 and §7.
 *
 * The model does not predict two things, because the store is free to choose them: ids and fences (it checks that each
 * claim's fence is higher than every earlier one of its run), and which runs a claim takes (claim-commands.ts checks them).
 * Time is the model's own, in minutes; the database's rows are aged by the same amounts, so that real time, which
 * passes in milliseconds, never decides anything.
 */
import { isTerminal, type TaskState } from '@q/schema'
import type { RunId, StaleRun } from '@q/store'

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

/** The slots of concurrency keys in the model: which runs hold them, and which get free ones. */
import type { RunId } from '@q/store'
import { isHeld, served, type Model, type ModelRun } from './model.ts'

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
export function waiting(model: Model, key: string): ModelRun[] {
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

export function makeLive(run: ModelRun, slot: number): void {
  Object.assign(run, { status: 'AVAILABLE', waitingFor: null, slot })
}

/**
 * Decides which runs are served next: weighted round robin over queues, then over the groups of a queue, then over its
 * tasks. Pure.
 *
 * Each queue, group and task has its own virtual clock, which advances by 1/weight when it is served; the one furthest
 * behind is next. A queue, group or task that was absent continues at the present time and does not catch up on missed
 * turns. The caller keeps the state, so a replica that claims one run at a time is as fair as one that claims a
 * hundred.
 */

import type { Cursor } from './claim-cursors.ts'

/** Runs that are ready in one lane, of one priority and one group. */
export interface Candidate {
  readonly lane: number
  readonly task: string
  readonly queue: string
  readonly priority: number
  readonly group: string
  /** The weight of the group within its queue. */
  readonly weight: number
  /** Where a claim begins; undefined: at the beginning (claim-cursors.ts). */
  readonly from?: Cursor
}

export interface Quota extends Candidate {
  readonly runs: number
  /** The turns of its runs, counted over all quotas of a claim; undefined: it is the only quota. */
  readonly positions?: readonly number[]
}

/** How far each queue, group and lane has been served, by its parent. */
export type FairShares = Map<string, Map<string, number>>

/** The parent of the queues. No queue has this name. */
const allQueues = ''

export function createFairShares(): FairShares {
  return new Map()
}

/** Whether there is room for one more run of the task; if so, takes it. */
export type Fits = (task: string) => boolean

/**
 * Returns at most `limit` runs in all, all of the best priority present; `weights` are those of queues, 1 by default.
 * If the next run in turn does not fit, no later run is taken instead: short runs do not overtake a long one.
 */
export function quotasOf(
  shares: FairShares,
  candidates: readonly Candidate[],
  limit: number,
  weights: Readonly<Record<string, number>> = {},
  fits: Fits = () => true,
): Quota[] {
  const best = candidates.reduce((least, { priority }) => Math.min(least, priority), Number.POSITIVE_INFINITY)
  const first = candidates.filter((candidate) => candidate.priority === best)
  if (first.length === 1)
    return first
      .map((candidate) => ({ ...candidate, runs: countThatFit(candidate, limit, fits) }))
      .filter(({ runs }) => runs > 0)
  const queues = levelOf(shares, allQueues, first, (candidate) => candidate.queue, {
    weightOf: ({ queue }) => (Object.hasOwn(weights, queue) ? weights[queue] : undefined) ?? 1,
    below: (queue, ofQueue) =>
      levelOf(shares, queue, ofQueue, (candidate) => candidate.group, {
        weightOf: ({ weight }) => weight,
        below: (group, ofGroup) =>
          levelOf(shares, `${queue}\0${group}`, ofGroup, (candidate) => String(candidate.lane)),
      }),
  })
  const positions = new Map<Candidate, number[]>()
  for (let position = 0; position < limit && first.length > 0; position++) {
    const candidate = queues.next(fits)
    if (candidate === undefined) break
    const ofCandidate = positions.get(candidate)
    if (ofCandidate === undefined) positions.set(candidate, [position])
    else ofCandidate.push(position)
  }
  queues.save()
  return [...positions].map(([candidate, ofCandidate]) => ({
    ...candidate,
    runs: ofCandidate.length,
    positions: ofCandidate,
  }))
}

function countThatFit({ task }: Candidate, limit: number, fits: Fits): number {
  let runs = 0
  while (runs < limit && fits(task)) runs++
  return runs
}

/** Orders the runs of a claim by turn: a claim of a hundred is as fair as a hundred claims of one. */
export function inFairOrder<Row extends Pick<Candidate, 'lane' | 'priority' | 'group'>>(
  quotas: readonly Quota[],
  rows: readonly Row[],
): readonly Row[] {
  if (quotas.length < 2) return rows
  const next = new Map(quotas.map((quota) => [candidateKey(quota), { positions: quota.positions ?? [], at: 0 }]))
  const positionOf = (row: Row): number => {
    const candidate = next.get(candidateKey(row))
    return candidate?.positions[candidate.at++] ?? Number.POSITIVE_INFINITY
  }
  const placed = rows.map((row) => ({ row, position: positionOf(row) }))
  return placed.toSorted((a, b) => a.position - b.position).map(({ row }) => row)
}

export function candidateKey({ lane, priority, group }: Pick<Candidate, 'lane' | 'priority' | 'group'>): string {
  return `${lane} ${priority} ${group}`
}

interface Level {
  /** Returns the next quota in turn; undefined if it does not fit, in which case it was not served. */
  next(fits: Fits): Candidate | undefined
  /** Stores how far each queue, group or task has been served. */
  save(): void
}

interface Share {
  readonly name: string
  readonly step: number
  readonly below: Level
  clock: number
}

interface LevelRules {
  readonly weightOf: (candidate: Candidate) => number
  readonly below: (name: string, candidates: readonly Candidate[]) => Level
}

const lowest: LevelRules = {
  weightOf: () => 1,
  below: (_, [candidate]) => ({
    next: (fits) => (candidate !== undefined && fits(candidate.task) ? candidate : undefined),
    save: () => {},
  }),
}

/** Among equals it serves the first one given: candidates are ordered by age. */
function levelOf(
  shares: FairShares,
  parent: string,
  candidates: readonly Candidate[],
  nameOf: (candidate: Candidate) => string,
  { weightOf, below }: LevelRules = lowest,
): Level {
  const stored = shares.get(parent) ?? new Map<string, number>()
  const parts = [...Map.groupBy(candidates, nameOf)]
  const clocks = parts.flatMap(([name]) => stored.get(name) ?? [])
  // If none has a stored clock, all begin at the latest stored one, so that none has turns to catch up on.
  const known = clocks.length > 0 ? clocks : [[...stored.values()].reduce((last, clock) => Math.max(last, clock), 0)]
  const present = known.reduce((earliest, clock) => Math.min(earliest, clock))
  const children = parts.map(([name, ofPart]): Share => ({
    name,
    step: 1 / ofPart.reduce((most, candidate) => Math.max(most, weightOf(candidate)), 1),
    below: below(name, ofPart),
    clock: stored.get(name) ?? present,
  }))
  return {
    next(fits) {
      const served = children.reduce((first, child) => (child.clock < first.clock ? child : first))
      const candidate = served.below.next(fits)
      if (candidate !== undefined) served.clock += served.step
      return candidate
    },
    save() {
      const now = children.reduce((earliest, { clock }) => Math.min(earliest, clock), Number.POSITIVE_INFINITY)
      // Keeps the clock of an absent one that is ahead, until the others have caught up.
      const away = [...stored].filter(([, clock]) => clock > now)
      shares.set(parent, new Map([...away, ...children.map(({ name, clock }): [string, number] => [name, clock])]))
      for (const child of children) child.below.save()
      for (const [name, clock] of stored)
        if (clock <= now && !parts.some(([part]) => part === name)) removeShare(shares, parent, name)
    },
  }
}

/** Removes the clocks below an absent one that is not ahead; otherwise they would be kept forever. */
function removeShare(shares: FairShares, parent: string, name: string): void {
  shares.delete(parent === allQueues ? name : `${parent}\0${name}`)
}

/**
 * One source and its viewers. It reads only while there are viewers, once for all of them. After a slow read it waits
 * longer, so that watching costs the database at most 2 % of a core. A read that did not reach the database costs it
 * nothing, so that viewers learn soon that it is back.
 */
import { isExplained } from '@q/schema'
import type { Following, Source } from './source.ts'

export interface TopicProblem {
  /** Begin of the first read that failed. */
  readonly since: Date
  readonly error: unknown
}

export interface LiveTopic<Viewer extends Following> {
  readonly source: Source
  readonly revision: number
  /** Set if the last read failed. */
  readonly problem: TopicProblem | undefined
  add(viewer: Viewer): void
  /** The number of remaining viewers. */
  remove(viewer: Viewer): number
  lookNow(): void
}

/** The shortest pause after a read, as a multiple of its duration. */
const restFactor = 50
const restMsMax = 15_000

export function createTopic<Viewer extends Following>(
  source: Source,
  onChange: (viewers: Iterable<Viewer>) => void,
): LiveTopic<Viewer> {
  const viewers = new Set<Viewer>()
  let revision = 0
  let problem: TopicProblem | undefined
  let timer: NodeJS.Timeout | undefined
  let isLooking = false
  let isAskedAgain = false

  async function round(): Promise<void> {
    if (isLooking) return void (isAskedAgain = true)
    clearTimeout(timer)
    isLooking = true
    isAskedAgain = false
    const began = performance.now()
    await look()
    isLooking = false
    if (viewers.size === 0) return
    const restMs = isAway(problem) ? 0 : Math.min((performance.now() - began) * restFactor, restMsMax)
    timer = setTimeout(() => void round(), isAskedAgain ? 0 : Math.max(source.everyMs, restMs))
  }

  async function look(): Promise<void> {
    const begun = new Date()
    try {
      // The first read counts as a change even if it finds nothing, so that viewers learn that there is nothing.
      const isChanged = (await source.look(revision + 1, viewers)) || revision === 0
      const isBack = problem !== undefined
      problem = undefined
      if (isChanged) revision += 1
      if (isChanged || isBack) onChange(viewers)
    } catch (error) {
      problem = { since: problem?.since ?? begun, error }
      onChange(viewers)
    }
  }

  return {
    source,
    get revision() {
      return revision
    },
    get problem() {
      return problem
    },
    add(viewer) {
      viewers.add(viewer)
      void round()
    },
    remove(viewer) {
      viewers.delete(viewer)
      if (viewers.size === 0) clearTimeout(timer)
      return viewers.size
    },
    lookNow: () => void round(),
  }
}

/** Whether the read failed before the database had work with it. Time limits and locks are no such reasons. */
function isAway(problem: TopicProblem | undefined): boolean {
  return problem !== undefined && isExplained(problem.error) && awayCodes.has(problem.error.code)
}

const awayCodes: ReadonlySet<string> = new Set([
  'DATABASE_UNREACHABLE',
  'DATABASE_CONNECTION_LOST',
  'DATABASE_STARTING',
  'DATABASE_FULL',
])

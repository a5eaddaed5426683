/**
 * Limits writes to a repository: 300 in any hour, 30 in any minute, at least one second apart. GitHub blocks accounts
 * that write more than 500 comments an hour or 80 a minute, and also counts writes from its web pages. A third of the
 * limits is reserved for recoveries. The times of writes are stored in the state that all destinations share, because
 * several destinations may write to one repository and any replica may send the next report.
 */
import type { SharedState } from '../../sender.ts'
import { type Repository, repositoryName } from '../issue.ts'

export type Urgency = 'recovery' | 'other'

export interface WriteLimit {
  /** How long `writes` writes have to wait, not counting the second between two of them. 0: they can begin. */
  waitMs(repository: Repository, writes: number, urgency: Urgency): Promise<number>
  /** Waits until the last write was a second ago, and records another one. */
  next(repository: Repository): Promise<void>
}

interface Limit {
  readonly writes: number
  readonly inMs: number
}

const spacingMs = 1000
const limits: Readonly<Record<Urgency, readonly Limit[]>> = {
  recovery: [
    { writes: 300, inMs: 3_600_000 },
    { writes: 30, inMs: 60_000 },
  ],
  other: [
    { writes: 200, inMs: 3_600_000 },
    { writes: 20, inMs: 60_000 },
  ],
}
const remembered = 300

export interface WriteLimitPorts {
  readonly shared: SharedState
  /** Where the repository is: another server may have one of the same name. */
  readonly apiUrl: string
  readonly nowMs: () => number
  readonly pause: (ms: number) => Promise<void>
}

export function writeLimit({ shared, apiUrl, nowMs, pause }: WriteLimitPorts): WriteLimit {
  const keyOf = (repository: Repository): string => `writes/${apiUrl}/${repositoryName(repository)}`
  /** Times after now come from a replica whose clock is ahead. */
  const timesIn = (stored: string | undefined): readonly number[] =>
    (JSON.parse(stored ?? '[]') as readonly number[]).map((time) => Math.min(time, nowMs()))
  return {
    async waitMs(repository, writes, urgency) {
      const times = timesIn(await shared.get(keyOf(repository)))
      return Math.max(0, ...limits[urgency].map((limit) => freeAtMs(times, writes, limit) - nowMs()))
    },
    async next(repository) {
      const key = keyOf(repository)
      for (;;) {
        const stored = await shared.get(key)
        const times = timesIn(stored)
        const freeInMs = (times.at(-1) ?? Number.NEGATIVE_INFINITY) + spacingMs - nowMs()
        if (freeInMs > 0) await pause(freeInMs)
        const to = JSON.stringify([...times, nowMs()].slice(-remembered))
        // Another sender may have written during the pause: then this write waits for a second after that one.
        if (await shared.replace(key, { from: stored, to })) return
      }
    },
  }
}

/** The time at which enough earlier writes have left the window for `writes` more to fit. */
function freeAtMs(times: readonly number[], writes: number, limit: Limit): number {
  const leaving = times[times.length - (limit.writes - writes) - 1]
  return leaving === undefined ? Number.NEGATIVE_INFINITY : leaving + limit.inMs
}

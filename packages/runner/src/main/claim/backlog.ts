/**
 * Tracks whether more runs are ready than this replica has taken, and decides when to send the next exchange. The cost
 * of an exchange hardly depends on the number of runs it carries. So while there is a backlog, the replica waits until
 * a thread is about to run out of work or enough runs have ended, but for at most half of the time for which threads
 * have work.
 */
import type { RunnerConfig } from '../../settings/config.ts'

export interface Backlog {
  /** Whether runs were still ready after the last exchange. */
  isSeen(): boolean
  /** Whether runs may be handed to busy threads: not if the last claimed runs need a slot each. */
  allowsStartAhead(): boolean
  sent(nowMs: number): void
  record(answer: BacklogAnswer, nowMs: number): void
  /**
   * The time until the next exchange; 0: now. `leftMs`: until each thread runs out of work. `ends`: how many successes
   * wait to be written.
   */
  exchangeInMs(nowMs: number, leftMs: readonly number[], ends: number): number
  readonly lingerMs: number
}

export interface BacklogAnswer {
  /** Whether more runs are known to be ready. */
  readonly more: boolean
  /** The number of claimed runs. */
  readonly claimed: number
  /** Whether one of them needs a slot for itself. */
  readonly exclusive: boolean
}

const endsMax = 256
const lingerMsMin = 15
const reserveMsMin = 4
const meanOver = 8

export function createBacklog({ startAheadMs }: Pick<RunnerConfig, 'startAheadMs'>): Backlog {
  const lingerMs = Math.max(lingerMsMin, startAheadMs / 2)
  let seen = false
  let exclusive = false
  let sentMs = Number.NEGATIVE_INFINITY
  let roundTripMs = 0
  return {
    lingerMs,
    isSeen: () => seen,
    allowsStartAhead: () => seen && !exclusive,
    sent(nowMs) {
      sentMs = nowMs
    },
    record(answer, nowMs) {
      seen = answer.more
      if (answer.claimed > 0) exclusive = answer.exclusive
      roundTripMs += (nowMs - sentMs - roundTripMs) / meanOver
    },
    exchangeInMs(nowMs, leftMs, ends) {
      if (ends >= endsMax) return 0
      const reserveMs = Math.max(reserveMsMin, 2 * roundTripMs)
      const dryMs = Math.min(...leftMs) - reserveMs
      const lastCallMs = sentMs + Math.max(lingerMs, 2 * roundTripMs) - nowMs
      // One exchange for all threads that run out of work at about the same time.
      const togetherMs = Math.max(...leftMs.filter((ms) => ms <= roundTripMs / 4), 0)
      return Math.max(0, togetherMs, Math.min(dryMs, lastCallMs))
    },
  }
}

/**
 * Whether more runs are ready than this replica has taken, and when the next exchange with the database is worth its
 * price. The cost of an exchange hardly depends on how many runs it carries. So while there is a backlog the replica waits
 * until a thread is about to run dry, or until enough has ended, or for a short time at most.
 */
import type { TurnAnswer } from '@q/store'

export interface Backlog {
  /** Whether the last exchange got all it asked for, and more is ready. */
  isSeen(): boolean
  /** Whether runs may be started ahead of it: not if the last ones need a slot each. */
  allowsStartAhead(): boolean
  sent(nowMs: number): void
  /** `exclusive`: whether it brought a run that needs a slot for itself. */
  learn(answer: Pick<TurnAnswer, 'more' | 'claimed'>, nowMs: number, exclusive: boolean): void
  /** 0: now. `leftMs`: until each thread has nothing left to do. `ends`: successes that wait to be written. */
  exchangeInMs(nowMs: number, leftMs: readonly number[], ends: number): number
  readonly lingerMs: number
}

const endsMax = 256
const lingerMs = 15
const reserveMsMin = 4
const meanOver = 8

export function createBacklog(): Backlog {
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
    learn({ more, claimed }, nowMs, isExclusive) {
      seen = more
      if (claimed.length > 0) exclusive = isExclusive
      roundTripMs += (nowMs - sentMs - roundTripMs) / meanOver
    },
    exchangeInMs(nowMs, leftMs, ends) {
      if (ends >= endsMax) return 0
      const reserveMs = Math.max(reserveMsMin, 2 * roundTripMs)
      const dryMs = Math.min(...leftMs) - reserveMs
      const lastCallMs = sentMs + Math.max(lingerMs, 2 * roundTripMs) - nowMs
      // One exchange for all threads that run dry at about the same time, not one after the other.
      const togetherMs = Math.max(...leftMs.filter((ms) => ms <= roundTripMs / 4), 0)
      return Math.max(0, togetherMs, Math.min(dryMs, lastCallMs))
    },
  }
}

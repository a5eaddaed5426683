/** Counts and times the exchanges with the database, and the runs that they claimed, for metrics. In memory. */
import { countTime } from '@q/store'

export interface ExchangeMeter {
  exchanged(tookMs: number, claimed: number): void
  read(): ExchangeStats
}

export interface ExchangeStats {
  readonly claimed: number
  readonly tookMs: number
  /** Counts per bucket of the store's histograms. */
  readonly times: readonly number[]
}

export function createExchangeMeter(): ExchangeMeter {
  const times: number[] = []
  let claimed = 0
  let sumMs = 0
  return {
    exchanged(tookMs, runs) {
      claimed += runs
      sumMs += tookMs
      countTime(times, tookMs)
    },
    read: () => ({ claimed, tookMs: sumMs, times }),
  }
}

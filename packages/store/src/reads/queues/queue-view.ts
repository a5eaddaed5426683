/** A queue as shown to people: its backlog and its rates. */
import type { Bounded } from '../bounded.ts'
import type { WaitingCounts } from './waiting-counts.ts'

export interface QueueView {
  readonly queue: string
  /** AVAILABLE runs. */
  readonly ready: Bounded
  readonly claimed: number
  readonly running: number
  /** PENDING runs, by gate. */
  readonly waiting: WaitingCounts
  /** Age of the oldest AVAILABLE run; null: there is none. */
  readonly oldestReadyMs: number | null
  readonly paused: boolean
  readonly pausedBy: string | null
  readonly pausedAt: Date | null
  readonly pauseReason: string | null
  /** Rates of the last five complete minutes; null: nothing was recorded. */
  readonly rates: QueueRates | null
  /** Tasks with an AVAILABLE run that no live node serves. */
  readonly unserved: readonly string[]
}

export interface QueueRates {
  readonly startedPerS: number
  readonly succeededPerS: number
  readonly failedPerS: number
  readonly retriedPerS: number
  /** Time from due to started, only of first starts. */
  readonly waitP50Ms: number | null
  readonly waitP95Ms: number | null
  readonly durationP50Ms: number | null
  readonly durationP95Ms: number | null
  /** Change of the backlog over the last ten minutes; null: not enough samples. */
  readonly growthPerS: number | null
}

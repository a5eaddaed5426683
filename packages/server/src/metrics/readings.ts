/** Values of metrics: plain numbers by the name of the metric (metric-table.ts). */
export type Readings = Readonly<Record<string, readonly Reading[]>>

export type Reading = NumberReading | TimesReading

export interface NumberReading {
  readonly labels?: Readonly<Record<string, string>>
  readonly value: number
}

/** A histogram of times, as the store counts them (`countTime`). */
export interface TimesReading {
  readonly labels?: Readonly<Record<string, string>>
  /** Counts per bucket. */
  readonly counts: readonly number[]
  readonly sumMs: number
}

/** The counts and measurements of a replica, for metrics. Computed on each read; costs nothing otherwise. */
import type { RunTally } from '@q/store'
import type { Slots } from '../dispatch/slots.ts'
import type { ThreadPool } from '../executors/thread-pool.ts'
import type { ExchangeStats, ExchangeMeter } from './exchange-meter.ts'
import type { Health } from './health.ts'
import type { ProcessStats } from './process-stats.ts'
import type { RunCounts } from './run-counts.ts'

export interface RunnerStats {
  /** Since the start, by queue and task. */
  readonly runs: readonly RunTally[]
  readonly slots: { readonly busy: number; readonly total: number }
  readonly health: Health
  readonly exchanges: ExchangeStats
  /** By slot; undefined: its thread is being replaced. Begins at 0 with every new thread. */
  readonly threadsCpuMs: readonly (number | undefined)[]
}

export interface RunnerStatsDeps {
  readonly counts: Pick<RunCounts, 'totals'>
  readonly slots: Slots
  readonly processStats: Pick<ProcessStats, 'health'>
  readonly exchangeMeter: ExchangeMeter
  readonly threads: Pick<ThreadPool, 'feeds' | 'measure'>
}

export function createRunnerStats({
  counts,
  slots,
  processStats,
  exchangeMeter,
  threads,
}: RunnerStatsDeps): () => RunnerStats {
  return () => ({
    runs: counts.totals(),
    slots: { busy: slots.busy(), total: slots.total },
    health: processStats.health(),
    exchanges: exchangeMeter.read(),
    threadsCpuMs: threads.feeds.map(({ slot }) => threads.measure(slot)?.cpuMs),
  })
}

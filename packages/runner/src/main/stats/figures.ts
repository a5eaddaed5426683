/** The figures of a replica, for metrics. They are computed on each read and cost nothing otherwise. */
import type { RunTally } from '@q/store'
import type { Slots } from '../dispatch/slots.ts'
import type { ThreadPool } from '../executors/thread-pool.ts'
import type { ExchangeFigures, ExchangeMeter } from './exchange-meter.ts'
import type { Health } from './health.ts'
import type { ProcessStats } from './process-stats.ts'
import type { RunCounts } from './run-counts.ts'

export interface RunnerFigures {
  /** Since the start, by queue and task. */
  readonly runs: readonly RunTally[]
  readonly slots: { readonly busy: number; readonly total: number }
  readonly health: Health
  readonly exchanges: ExchangeFigures
  /** By slot; undefined: its thread is being replaced. Begins at 0 with every new thread. */
  readonly threadsCpuMs: readonly (number | undefined)[]
}

export interface FiguresDeps {
  readonly counts: Pick<RunCounts, 'totals'>
  readonly slots: Slots
  readonly processStats: Pick<ProcessStats, 'health'>
  readonly exchangeMeter: ExchangeMeter
  readonly threads: Pick<ThreadPool, 'feeds' | 'measure'>
}

export function createFigures({
  counts,
  slots,
  processStats,
  exchangeMeter,
  threads,
}: FiguresDeps): () => RunnerFigures {
  return () => ({
    runs: counts.totals(),
    slots: { busy: slots.busy(), total: slots.total },
    health: processStats.health(),
    exchanges: exchangeMeter.read(),
    threadsCpuMs: threads.feeds.map(({ slot }) => threads.measure(slot)?.cpuMs),
  })
}

/** Counts the runs that this replica recovered. A count may be lost; it never makes a recovery fail. */
import type { RunId, Store } from '@q/store'
import type { RunCounts } from './run-counts.ts'

export type CountRecovered = (ids: readonly RunId[]) => Promise<void>

export function createRecoveryCounter(
  store: Pick<Store, 'recoveredRuns'>,
  counts: Pick<RunCounts, 'recovered'>,
): CountRecovered {
  const count = async (ids: readonly RunId[]) => {
    for (const run of await store.recoveredRuns(ids)) counts.recovered(run)
  }
  return (ids) => count(ids).catch(() => {})
}

/** The outcomes of the runs of the demo. */
import type { RunId, Store } from '@q/store'

export interface Outcomes {
  /** Acknowledged runs that are not in the database. */
  readonly lost: number
  readonly byStatus: ReadonlyMap<string, number>
  /** Ends other than a success, by code. */
  readonly byCode: ReadonlyMap<string, number>
}

const readMax = 500

export async function outcomesOf(store: Store, runIds: readonly string[]): Promise<Outcomes> {
  const byStatus = new Map<string, number>()
  const byCode = new Map<string, number>()
  let found = 0
  for (let first = 0; first < runIds.length; first += readMax) {
    const runs = await store.getTaskRuns(runIds.slice(first, first + readMax) as RunId[])
    found += runs.length
    for (const { status, result } of runs) {
      raise(byStatus, status)
      if (status !== 'SUCCEEDED' && result !== null) raise(byCode, (result as { code: string }).code)
    }
  }
  return { lost: runIds.length - found, byStatus, byCode }
}

function raise(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

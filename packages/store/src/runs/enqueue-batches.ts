/** Splits a batch into parts, one per statement. A jsonb array holds 256 MB, which is up to eight times its text. */
import type { CheckedRun } from './check-new-runs.ts'

const atOnce = { runsMax: 1_000, charsMax: 16_777_216 }

export function enqueueBatchesOf(runs: readonly CheckedRun[]): CheckedRun[][] {
  const batches: CheckedRun[][] = []
  let room = 0
  for (const run of runs) {
    const batch = batches.at(-1)
    if (batch !== undefined && batch.length < atOnce.runsMax && run.payload.length <= room) batch.push(run)
    else {
      batches.push([run])
      room = atOnce.charsMax
    }
    room -= run.payload.length
  }
  return batches
}

/** A batch in parts that one statement each is given. A jsonb array holds 256 MB, which is up to eight times its text. */
import type { CheckedRun } from './check-new-runs.ts'

const atOnce = { runsMax: 1_000, charsMax: 16_777_216 }

export function partsOf(runs: readonly CheckedRun[]): CheckedRun[][] {
  const parts: CheckedRun[][] = []
  let room = 0
  for (const run of runs) {
    const part = parts.at(-1)
    if (part !== undefined && part.length < atOnce.runsMax && run.payload.length <= room) part.push(run)
    else {
      parts.push([run])
      room = atOnce.charsMax
    }
    room -= run.payload.length
  }
  return parts
}

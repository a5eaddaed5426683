/**
 * Follows the log of one run once for all viewers. Each frame names the line before its first: a viewer that has not
 * seen that line fetches the lines in between. A viewer that is too far behind gets only the position, not the lines.
 */
import type { LogCursor, RunId, Store } from '@q/store'
import type { Frames } from '../api/events.ts'
import type { Sent } from '../http/route-call.ts'
import type { Source } from './source.ts'

type Line = Sent<Frames['log']['lines'][number]>

interface Portion {
  readonly revision: number
  readonly after: LogCursor | null
  readonly lines: readonly Line[]
  readonly size: number
}

const keptMax = 65_536

export function logSource(runId: RunId, begin: LogCursor | null, reads: Store): Source {
  let portions: Portion[] = []
  let place = begin
  return {
    name: 'log',
    id: runId,
    everyMs: 1_000,
    async look(revision) {
      const { lines } = await reads.readTaskLogs(runId, place === null ? {} : { after: place })
      const last = lines.at(-1)
      if (last === undefined) return false
      portions.push({ revision, after: place, lines, size: JSON.stringify(lines).length })
      place = { fence: last.fence, lineNo: last.lineNo }
      portions = newest(portions)
      return true
    },
    framesSince(revision) {
      const lacking = portions.filter((portion) => portion.revision > revision)
      const [first] = lacking
      // Without new lines, the place: a viewer that knows fewer lines than the first one has to fetch them.
      const after = first === undefined ? place : first.after
      const dropped = lacking.reduce((sum, { size }) => sum + size, 0) > keptMax
      const lines = dropped ? [] : lacking.flatMap((portion) => portion.lines)
      return [{ event: 'log', data: { runId, after, lines, next: place, dropped } }]
    },
  }
}

/** The last portion is always kept. */
function newest(portions: readonly Portion[]): Portion[] {
  let size = 0
  const tooOld = portions.findLastIndex((portion) => (size += portion.size) > keptMax)
  return portions.slice(Math.min(tooOld + 1, portions.length - 1))
}

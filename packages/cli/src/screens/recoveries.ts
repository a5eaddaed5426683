/** Runs that were recovered from dead nodes, one line each. Pure. */
import type { RecoveryView } from '@q/store'
import type { Look } from '../frame/terminal.ts'
import { ago, shortDuration } from '../words/ages.ts'
import { styled } from '../words/style.ts'
import { table, type Column } from '../words/table.ts'

export function recoveriesTable(look: Look, recoveries: readonly RecoveryView[], now: Date = new Date()): string {
  const columns: readonly Column<RecoveryView>[] = [
    { heading: 'RUN', cell: ({ runId }) => runId, align: 'right' },
    { heading: 'TASK', cell: ({ task }) => task ?? '', shrink: 8 },
    { heading: 'WHEN', cell: ({ at }) => ago(at, now), align: 'right' },
    { heading: 'WAS', cell: ({ was }) => was, drop: 4 },
    { heading: 'BECAME', cell: (recovery) => becameOf(look, recovery) },
    { heading: 'FROM', cell: ({ replicaName, replicaId }) => replicaName ?? replicaId, shrink: 8 },
    {
      heading: 'CAUSE',
      cell: ({ cause, beatAgeMs }) => (beatAgeMs === null ? cause : `${cause}, silent ${shortDuration(beatAgeMs)}`),
      shrink: 12,
      drop: 3,
    },
    { heading: 'BY', cell: ({ recoveredByName, recoveredBy }) => recoveredByName ?? recoveredBy, shrink: 8, drop: 5 },
    { heading: 'REVIEW', cell: (recovery) => reviewOf(look, recovery), drop: 2 },
  ]
  return table(look, columns, recoveries)
}

function becameOf(look: Look, { became, code }: RecoveryView): string {
  const text = code === null ? became : `${became} ${code}`
  return became === 'FAILED' ? styled(look, 'red', text) : text
}

function reviewOf(look: Look, { needsReview, reviewedBy, reviewedAt }: RecoveryView): string {
  if (reviewedAt !== null) return `by ${reviewedBy ?? '?'}`
  return needsReview ? styled(look, 'yellow', 'to review') : ''
}

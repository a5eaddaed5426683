/** Held runs whose holders gave no sign of life, one line each. Pure. */
import type { StaleRun } from '@q/store'
import type { Look } from '../frame/terminal.ts'
import { shortDuration } from '../words/ages.ts'
import { runStateText } from '../words/states.ts'
import { table } from '../words/table.ts'

export function staleTable(look: Look, runs: readonly StaleRun[]): string {
  return table<StaleRun>(
    look,
    [
      { heading: 'RUN', cell: ({ id }) => id, align: 'right' },
      { heading: 'STATE', cell: ({ status }) => runStateText(look, { status }) },
      { heading: 'HELD BY', cell: ({ name, replicaId }) => name ?? replicaId, shrink: 8 },
      { heading: 'HOST', cell: ({ hostname }) => hostname ?? '', shrink: 8, drop: 2 },
      { heading: 'EVIDENCE', cell: ({ cause }) => cause },
      {
        heading: 'SILENT',
        cell: ({ beatAgeMs }) => (beatAgeMs === null ? 'always' : shortDuration(beatAgeMs)),
        align: 'right',
        drop: 1,
      },
    ],
    runs,
  )
}

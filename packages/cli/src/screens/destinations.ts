/** The table of destinations. */
import type { DestinationView } from '@q/store'
import type { Look } from '../frame/terminal.ts'
import { ago } from '../words/ages.ts'
import { countText } from '../words/counts.ts'
import { styled } from '../words/style.ts'
import { table } from '../words/table.ts'

export function destinationsTable(look: Look, destinations: readonly DestinationView[]): string {
  return table<DestinationView>(
    look,
    [
      { heading: 'NAME', cell: ({ name }) => name, shrink: 11 },
      { heading: 'KIND', cell: ({ kind }) => kind },
      { heading: 'REPORTS', cell: ({ reports }) => reports.join(', '), shrink: 12, drop: 2 },
      { heading: 'STATE', cell: (destination) => stateOf(look, destination) },
      { heading: 'WAITING', cell: ({ waiting }) => bounded(waiting), align: 'right' },
      { heading: 'GIVEN UP', cell: ({ givenUp }) => bounded(givenUp), align: 'right' },
      { heading: 'SENDER', cell: ({ sender }) => sender ?? '', drop: 3 },
      { heading: 'LAST ERROR', cell: ({ lastError }) => lastError ?? '', shrink: 12, drop: 1 },
    ],
    destinations,
  )
}

function stateOf(look: Look, { pausedAt, lastError }: DestinationView): string {
  if (pausedAt !== null) return styled(look, 'yellow', `paused ${ago(pausedAt)}`)
  return lastError === null ? styled(look, 'green', 'sending') : styled(look, 'red', 'failing')
}

function bounded({ count: seen, atLeast }: DestinationView['waiting']): string {
  return `${countText(seen)}${atLeast ? '+' : ''}`
}

/** Operations on many runs, one line each, and one as a text. Pure. */
import type { Operation } from '@q/store'
import type { Look } from '../frame/terminal.ts'
import { ago, long } from '../words/ages.ts'
import { countText } from '../words/counts.ts'
import { styled } from '../words/style.ts'
import { table } from '../words/table.ts'

export function operationsTable(look: Look, operations: readonly Operation[], now: Date = new Date()): string {
  return table<Operation>(
    look,
    [
      { heading: 'ID', cell: ({ id }) => id, align: 'right' },
      { heading: 'KIND', cell: ({ kind }) => kind },
      { heading: 'STATE', cell: ({ state }) => (state === 'done' ? styled(look, 'green', state) : state) },
      { heading: 'LOOKED', cell: ({ looked }) => countText(looked), align: 'right', drop: 3 },
      { heading: 'CHANGED', cell: ({ changed }) => countText(changed), align: 'right' },
      { heading: 'ASKED', cell: ({ askedAt }) => ago(askedAt, now), align: 'right' },
      { heading: 'BY', cell: ({ askedBy }) => askedBy, shrink: 8, drop: 2 },
      { heading: 'FILTER', cell: ({ filter }) => filterText(filter), shrink: 12, drop: 1 },
    ],
    operations,
  )
}

export function operationText(_look: Look, operation: Operation, now: Date = new Date()): string {
  const { id, kind, state, looked, changed, answers, askedAt, finishedAt, askedBy, filter } = operation
  const took = long((finishedAt ?? now).getTime() - askedAt.getTime())
  const tally = Object.entries(answers).map(([answer, runs]) => `${countText(runs)} ${answer}`)
  return [
    `Operation ${id} (${kind}) ${state === 'done' ? `is done after ${took}` : `is ${state}, ${took} after ${askedBy} asked`}: ${countText(looked)} checked, ${countText(changed)} changed${tally.length === 0 ? '' : ` (${tally.join(', ')})`}.`,
    `  filter  ${filterText(filter)}`,
  ].join('\n')
}

function filterText(filter: unknown): string {
  if (typeof filter !== 'object' || filter === null) return ''
  const parts = Object.entries(filter).map(
    ([name, value]) => `${name} ${Array.isArray(value) ? value.join(',') : String(value)}`,
  )
  return parts.length === 0 ? 'every run' : parts.join(', ')
}

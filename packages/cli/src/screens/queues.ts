/** The queues, one line each, and one queue in detail. Pure. */
import type { Bounded, ContendedKey, QueueDetail, QueueView } from '@q/store'
import type { Look } from '../frame/terminal.ts'
import { shortDuration } from '../words/ages.ts'
import { boundedText, countText, rateText, sum } from '../words/counts.ts'
import { styled } from '../words/style.ts'
import { table, type Column } from '../words/table.ts'

export function queuesTable(look: Look, queues: readonly QueueView[], now: Date = new Date()): string {
  const columns: readonly Column<QueueView>[] = [
    { heading: 'QUEUE', cell: ({ queue }) => queue, shrink: 8 },
    { heading: 'READY', cell: ({ ready }) => boundedText(ready), align: 'right' },
    {
      heading: 'OLDEST',
      cell: ({ oldestReadyMs }) => (oldestReadyMs === null ? '-' : shortDuration(oldestReadyMs)),
      align: 'right',
    },
    { heading: 'RUNNING', cell: ({ running, claimed }) => countText(running + claimed), align: 'right' },
    { heading: 'WAITING', cell: ({ waiting }) => waitingText(waiting), shrink: 16, drop: 3 },
    { heading: 'WAIT p50/p95', cell: waitOf, align: 'right', drop: 4 },
    { heading: 'DONE/s', cell: ({ rates }) => rateText(rates?.succeededPerS), align: 'right', drop: 2 },
    { heading: 'FAIL/s', cell: ({ rates }) => failRate(look, rates?.failedPerS), align: 'right', drop: 5 },
    { heading: 'STATE', cell: (queue) => stateOf(look, queue, now), shrink: 20, drop: 1 },
  ]
  return table(look, columns, queues)
}

export function queueScreen(look: Look, queue: QueueDetail, now: Date = new Date()): string {
  const { tasks, groups, keys } = queue
  return [
    queuesTable(look, [queue], now),
    ...(queue.pauseReason === null ? [] : [`\npaused because: ${queue.pauseReason}`]),
    ...(tasks.length === 0 ? [] : ['', tasksTable(look, tasks)]),
    ...(groups.length === 0 ? [] : ['', groupsTable(look, groups)]),
    ...(keys.length === 0 ? [] : ['', keysTable(look, keys)]),
  ].join('\n')
}

function keysTable(look: Look, keys: readonly ContendedKey[]): string {
  return table<ContendedKey>(
    look,
    [
      { heading: 'KEY', cell: ({ key }) => key, shrink: 12 },
      { heading: 'SCOPE', cell: ({ scope }) => scope, shrink: 8, drop: 2 },
      { heading: 'LIMIT', cell: ({ limit }) => countText(limit), align: 'right' },
      { heading: 'WAITING', cell: ({ waiting }) => boundedText(waiting), align: 'right' },
      { heading: 'HELD BY', cell: ({ holders }) => holdersText(holders), shrink: 12, drop: 1 },
    ],
    keys,
  )
}

function tasksTable(look: Look, tasks: QueueDetail['tasks']): string {
  return table<QueueDetail['tasks'][number]>(
    look,
    [
      { heading: 'TASK', cell: ({ task }) => task, shrink: 12 },
      { heading: 'READY', cell: ({ ready }) => boundedText(ready), align: 'right' },
      {
        heading: 'NODES',
        cell: ({ nodes }) => (nodes === 0 ? styled(look, 'red', 'none') : countText(nodes)),
        align: 'right',
      },
    ],
    tasks,
  )
}

function groupsTable(look: Look, groups: QueueDetail['groups']): string {
  return table<QueueDetail['groups'][number]>(
    look,
    [
      { heading: 'GROUP', cell: ({ group }) => (group === '' ? '(none)' : group), shrink: 12 },
      { heading: 'WEIGHT', cell: ({ weight }) => countText(weight), align: 'right' },
      { heading: 'READY', cell: ({ ready }) => boundedText(ready), align: 'right' },
    ],
    groups,
  )
}

function holdersText(holders: ContendedKey['holders']): string {
  return holders
    .map(
      ({ runId, status, name, replicaId }) =>
        `${runId} ${status}${(name ?? replicaId) === null ? '' : ` on ${name ?? replicaId}`}`,
    )
    .join(', ')
}

/** The number of waiting runs per gate. */
function waitingText(waiting: QueueView['waiting']): string {
  const gates = Object.entries(waiting).filter((gate): gate is [string, Bounded] => gate[1].count > 0)
  if (gates.length === 0) return '-'
  const named = gates.map(([gate, runs]) => `${boundedText(runs)} ${gate}`)
  return gates.length === 1
    ? named.join('')
    : `${boundedText(sum(gates.map(([, runs]) => runs)))} (${named.join(', ')})`
}

function waitOf({ rates }: QueueView): string {
  if (rates === null || rates.waitP50Ms === null) return ''
  return `${shortDuration(rates.waitP50Ms)}/${rates.waitP95Ms === null ? '-' : shortDuration(rates.waitP95Ms)}`
}

function failRate(look: Look, perSecond: number | undefined): string {
  return perSecond !== undefined && perSecond > 0 ? styled(look, 'red', rateText(perSecond)) : rateText(perSecond)
}

function stateOf(look: Look, { paused, pausedAt, pausedBy, unserved }: QueueView, now: Date): string {
  if (paused) {
    const since = pausedAt === null ? '' : ` ${shortDuration(now.getTime() - pausedAt.getTime())}`
    return styled(look, 'yellow', `paused${since}${pausedBy === null ? '' : ` by ${pausedBy}`}`)
  }
  return unserved.length === 0 ? 'open' : styled(look, 'red', `no node for ${unserved.join(', ')}`)
}

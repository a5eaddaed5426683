/** The screen of `q top` as lines: totals, queues, nodes with slot bars, running runs, what needs a person, keys. Pure. */
import { stripVTControlCharacters } from 'node:util'
import type { Node, QueueView, RunSummary } from '@q/store'
import type { Look } from '../frame/terminal.ts'
import { attentionLines, headLines } from '../screens/status.ts'
import { moment, shortDuration } from '../words/ages.ts'
import { boundedText, countText, rateText } from '../words/counts.ts'
import { slotBar } from '../words/slot-bar.ts'
import { sparkline } from '../words/sparkline.ts'
import { nodeStateText, runStateText } from '../words/states.ts'
import { cut, styled, widthOf } from '../words/style.ts'
import { table, type Column } from '../words/table.ts'
import { isLiving } from '../screens/nodes.ts'
import type { TopFacts } from './facts.ts'
import { shownNodes, shownQueues, shownRuns, type Pane, type TopView } from './view.ts'

/** `rows` 0: no limit. */
export function topLines(look: Look, rows: number, facts: TopFacts, view: TopView): string[] {
  const head = headOf(look, facts, view)
  const attention = attentionOf(look, rows, facts)
  const foot = rows === 0 ? [] : [footOf(look, view)]
  const room = rows === 0 ? Number.POSITIVE_INFINITY : rows - head.length - attention.length - foot.length - 3
  const panes = panesOf(look, facts, view, room)
  const lines = [...head, '', ...panes, '', ...attention]
  const filled =
    rows === 0
      ? lines
      : [...lines.slice(0, rows - 1), ...Array.from({ length: Math.max(0, rows - 1 - lines.length) }, () => '')]
  return [...filled, ...foot].map((line) => (look.columns === 0 ? line : fitted(look, line)))
}

/** Whole items, because a sentence without its command does not help. */
function attentionOf(look: Look, rows: number, facts: TopFacts): string[] {
  const [title = [], ...items] = attentionLines(look, facts.attention).map((text) => text.split('\n'))
  const most = rows === 0 ? Number.POSITIVE_INFINITY : Math.max(attentionLinesMin, Math.floor(rows / 4))
  const shown: string[][] = []
  for (const item of items) {
    const used = [...shown, item].flat().length + (shown.length + 1 < items.length ? 1 : 0)
    if (used > most && shown.length > 0) break
    shown.push(item)
  }
  const left = items.length - shown.length
  return [...title, ...shown.flat(), ...(left === 0 ? [] : [`   … ${left} more: q status`])]
}

const attentionLinesMin = 4

function headOf(look: Look, facts: TopFacts, view: TopView): string[] {
  const [, ...totals] = headLines(look, { place: '', version: '' }, facts.overview)
  const frozen = view.frozen ? styled(look, 'yellow', '  frozen') : ''
  const filter = view.filter === '' ? '' : `  filter: ${view.filter}`
  return [
    `${styled(look, 'bold', 'q top')}  ${facts.place}  ${moment(facts.at, facts.at)}${frozen}${filter}`,
    ...totals,
  ]
}

/** Each pane gets its share; unused lines go to the other panes, the selected one first. */
function panesOf(look: Look, facts: TopFacts, view: TopView, room: number): string[] {
  const all: Readonly<Record<Pane, readonly string[]>> = {
    queues: queueLines(look, facts, view),
    nodes: nodeLines(look, facts, view),
    runs: runLines(look, facts, view),
  }
  const shares = sharesOf(all, view.pane, room)
  return (['queues', 'nodes', 'runs'] as const).flatMap((pane, index) => [
    ...(index === 0 ? [] : ['']),
    ...windowOf(look, all[pane], {
      share: shares[pane],
      selected: view.pane === pane ? view.selected[pane] : undefined,
    }),
  ])
}

function sharesOf(all: Readonly<Record<Pane, readonly string[]>>, chosen: Pane, room: number): Record<Pane, number> {
  const shares = { queues: 0, nodes: 0, runs: 0 }
  const order = [chosen, ...(['queues', 'nodes', 'runs'] as const).filter((pane) => pane !== chosen)]
  let left = room
  // Each pane gets a heading and two lines, then they share the remaining lines.
  for (const pane of order) {
    shares[pane] = Math.min(all[pane].length, 3)
    left -= shares[pane]
  }
  for (const pane of order) {
    const more = Math.max(0, Math.min(left, all[pane].length - shares[pane]))
    shares[pane] += more
    left -= more
  }
  return shares
}

function windowOf(
  look: Look,
  lines: readonly string[],
  { share, selected }: { share: number; selected: number | undefined },
): string[] {
  const [heading = '', ...rest] = lines
  const size = Math.max(0, share - 1)
  const first = Math.max(0, Math.min((selected ?? 0) - Math.floor(size / 2), rest.length - size))
  return [
    heading,
    ...rest
      .slice(first, first + size)
      .map((line, index) => (first + index === selected && look.columns > 0 ? marked(look, line) : line)),
  ]
}

function marked(look: Look, line: string): string {
  const room = look.columns - 2
  const padded = line + ' '.repeat(Math.max(0, look.columns - widthOf(line)))
  return look.colour
    ? styled(look, 'inverse', cut(stripVTControlCharacters(padded), look.columns, look))
    : `${cut(line, room, look)}${' '.repeat(Math.max(0, room - widthOf(line)))} <`
}

function queueLines(look: Look, facts: TopFacts, view: TopView): string[] {
  const columns: readonly Column<QueueView>[] = [
    { heading: '1 QUEUE', cell: ({ queue }) => queue, shrink: 10 },
    { heading: 'READY', cell: ({ ready }) => boundedText(ready), align: 'right' },
    {
      heading: 'OLDEST',
      cell: ({ oldestReadyMs }) => (oldestReadyMs === null ? '-' : shortDuration(oldestReadyMs)),
      align: 'right',
    },
    { heading: 'RUNNING', cell: ({ running, claimed }) => countText(running + claimed), align: 'right' },
    { heading: '15 MIN', cell: ({ queue }) => sparkline(look, facts.history.get(queue) ?? [], { width: 15 }), drop: 3 },
    { heading: 'DONE/s', cell: ({ rates }) => rateText(rates?.succeededPerS), align: 'right', drop: 2 },
    { heading: 'FAIL/s', cell: ({ rates }) => rateText(rates?.failedPerS), align: 'right', drop: 4 },
    { heading: 'STATE', cell: (queue) => queueState(look, queue), shrink: 16, drop: 1 },
  ]
  return linesOf(look, columns, shownQueues(view, facts), 'no queue')
}

function queueState(look: Look, { paused, pausedBy, unserved }: QueueView): string {
  if (paused) return styled(look, 'yellow', `paused${pausedBy === null ? '' : ` by ${pausedBy}`}`)
  return unserved.length === 0 ? 'open' : styled(look, 'red', `no node for ${unserved.join(', ')}`)
}

function nodeLines(look: Look, facts: TopFacts, view: TopView): string[] {
  const columns: readonly Column<Node>[] = [
    { heading: '2 NODE', cell: ({ name }) => name, shrink: 8 },
    {
      heading: 'STATE',
      cell: ({ state, drain }) =>
        nodeStateText(look, state, drain === null || state !== 'draining' ? '' : drainText(drain)),
    },
    {
      heading: 'SLOTS',
      cell: (node) => (isLiving(node) ? `${slotBar(look, node)} ${node.slots - node.freeSlots}/${node.slots}` : '-'),
    },
    {
      heading: 'CPU',
      cell: (node) => (isLiving(node) ? `${Math.round(node.cpuPercent)} %` : ''),
      align: 'right',
      drop: 2,
    },
    { heading: 'MEM', cell: (node) => (isLiving(node) ? `${node.memoryMb} MB` : ''), align: 'right', drop: 3 },
    { heading: 'RUNS', cell: (node) => (isLiving(node) ? runningTasks(node) : ''), shrink: 12, drop: 1 },
  ]
  return linesOf(look, columns, shownNodes(view, facts), 'no node: q start')
}

/** `3 resize, 1 pdf` */
function runningTasks({ threads }: Node): string {
  const tasks = new Map<string, number>()
  for (const { task } of threads) if (task !== null) tasks.set(task, (tasks.get(task) ?? 0) + 1)
  return [...tasks].map(([task, runs]) => `${runs} ${task}`).join(', ')
}

function runLines(look: Look, facts: TopFacts, view: TopView): string[] {
  const { at } = facts
  const columns: readonly Column<RunSummary>[] = [
    { heading: '3 RUN', cell: ({ id }) => id, align: 'right' },
    {
      heading: 'STATE',
      cell: (run) =>
        runStateText(look, {
          status: run.status,
          stopping: run.cancelRequestedAt !== null && run.status === 'RUNNING',
        }),
    },
    { heading: 'TASK', cell: ({ task }) => task, shrink: 8 },
    {
      heading: 'FOR',
      cell: ({ startedAt }) => (startedAt === null ? '-' : shortDuration(at.getTime() - startedAt.getTime())),
      align: 'right',
    },
    {
      heading: 'DONE',
      cell: ({ progress }) => (progress === null ? '' : `${Math.round(progress * 100)} %`),
      align: 'right',
    },
    { heading: 'NODE', cell: ({ replicaName, replicaId }) => replicaName ?? replicaId ?? '', shrink: 8, drop: 2 },
    { heading: 'NOTE', cell: ({ note }) => note ?? '', shrink: 12, drop: 1 },
  ]
  return linesOf(look, columns, shownRuns(view, facts), 'nothing runs')
}

function linesOf<Row>(look: Look, columns: readonly Column<Row>[], rows: readonly Row[], nothing: string): string[] {
  const [heading = '', ...lines] = table(look, columns, rows).split('\n')
  return rows.length === 0 ? [heading, styled(look, 'dim', nothing)] : [heading, ...lines]
}

function footOf(look: Look, view: TopView): string {
  if (view.mode === 'confirm') return styled(look, 'yellow', `${view.asked?.question ?? ''} y: yes, any other key: no`)
  if (view.mode === 'filter') return `filter: ${view.filter}_   enter: keep, esc: clear`
  if (view.message !== '') return view.message
  const acts: Readonly<Record<Pane, string>> = {
    queues: 'p pause/resume',
    nodes: 'd drain/undrain',
    runs: 'c cancel  r retry',
  }
  return styled(
    look,
    'dim',
    `1 2 3 panes  arrows move  enter shows  ${acts[view.pane]}  / filter  space freezes  q leaves`,
  )
}

/** Truncates a line with colours; a line that is too long loses its colours. */
function fitted(look: Look, line: string): string {
  return widthOf(line) <= look.columns ? line : cut(stripVTControlCharacters(line), look.columns, look)
}

function drainText({ runsLeft, by }: NonNullable<Node['drain']>): string {
  return `${runsLeft} left${by === null ? '' : `, by ${by}`}`
}

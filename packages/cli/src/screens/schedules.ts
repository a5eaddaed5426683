/** Schedules, one line each, and one with its last ticks. Pure. */
import type { Schedule, ScheduleTick } from '@q/store'
import type { Look } from '../frame/terminal.ts'
import { ago, moment, shortDuration } from '../words/ages.ts'
import { runStateText } from '../words/states.ts'
import { styled } from '../words/style.ts'
import { table } from '../words/table.ts'

export function schedulesTable(look: Look, schedules: readonly Schedule[], now: Date = new Date()): string {
  return table<Schedule>(
    look,
    [
      { heading: 'SCHEDULE', cell: ({ name }) => name, shrink: 12 },
      { heading: 'TASK', cell: ({ task }) => task, shrink: 8, drop: 4 },
      { heading: 'PATTERN', cell: ({ cron }) => cron },
      { heading: 'ZONE', cell: ({ timezone }) => timezone, drop: 5 },
      {
        heading: 'LAST',
        cell: ({ lastTick }) => (lastTick === null ? '-' : ago(lastTick, now)),
        align: 'right',
        drop: 2,
      },
      { heading: 'NEXT', cell: (schedule) => nextOf(look, schedule, now), align: 'right' },
      { heading: 'STATE', cell: (schedule) => stateOf(look, schedule), shrink: 8, drop: 3 },
    ],
    schedules,
  )
}

export function scheduleScreen(
  look: Look,
  schedule: Schedule,
  ticks: readonly ScheduleTick[],
  now: Date = new Date(),
): string {
  const parts = [schedulesTable(look, [schedule], now)]
  if (ticks.length === 0) return [...parts, '', 'It has not ticked yet.'].join('\n')
  return [...parts, '', ticksTable(look, ticks, now)].join('\n')
}

function ticksTable(look: Look, ticks: readonly ScheduleTick[], now: Date): string {
  return table<ScheduleTick>(
    look,
    [
      { heading: 'TICK', cell: ({ tick }) => moment(tick, now) },
      { heading: 'RUN', cell: ({ runId }) => runId, align: 'right' },
      { heading: 'STATE', cell: ({ status }) => runStateText(look, { status }) },
      {
        heading: 'STARTED',
        cell: ({ tick, startedAt }) =>
          startedAt === null ? '-' : `+${shortDuration(startedAt.getTime() - tick.getTime())}`,
        align: 'right',
        drop: 2,
      },
      {
        heading: 'TOOK',
        cell: ({ startedAt, finishedAt }) =>
          startedAt === null || finishedAt === null ? '-' : shortDuration(finishedAt.getTime() - startedAt.getTime()),
        align: 'right',
      },
      { heading: 'CODE', cell: ({ code }) => (code === null ? '' : styled(look, 'red', code)), drop: 1 },
    ],
    ticks,
  )
}

function nextOf(look: Look, { nextTick, pausedAt }: Schedule, now: Date): string {
  if (pausedAt !== null || nextTick === null) return '-'
  const lateMs = now.getTime() - nextTick.getTime()
  return lateMs > 60_000 ? styled(look, 'red', `late ${shortDuration(lateMs)}`) : ago(nextTick, now)
}

function stateOf(look: Look, { pausedAt, pausedBy, isOwn }: Schedule): string {
  if (pausedAt !== null) return styled(look, 'yellow', `paused${pausedBy === null ? '' : ` by ${pausedBy}`}`)
  return isOwn ? 'declared by its task' : 'active'
}

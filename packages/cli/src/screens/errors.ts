/** Groups of errors, one line each, and one group in detail. Pure. */
import type { RunSummary, ErrorGroup } from '@q/store'
import type { Look } from '../frame/terminal.ts'
import { ago, moment } from '../words/ages.ts'
import { countText } from '../words/counts.ts'
import { sparkline } from '../words/sparkline.ts'
import { styled } from '../words/style.ts'
import { table } from '../words/table.ts'
import { runsTable } from './runs.ts'

export function errorsTable(look: Look, groups: readonly ErrorGroup[], now: Date = new Date()): string {
  return table<ErrorGroup>(
    look,
    [
      { heading: 'ERROR', cell: ({ fingerprint }) => fingerprint.slice(0, 8) },
      { heading: 'SEEN', cell: ({ seen }) => countText(seen), align: 'right' },
      { heading: 'LAST', cell: ({ lastSeen }) => ago(lastSeen, now), align: 'right' },
      {
        heading: '24 HOURS',
        cell: ({ hours }) =>
          sparkline(
            look,
            hours.map(({ seen }) => seen),
            { width: 12 },
          ),
        drop: 3,
      },
      { heading: 'TASKS', cell: ({ tasks }) => tasks.join(', '), shrink: 8, drop: 2 },
      { heading: 'CODE', cell: ({ code }) => styled(look, 'red', code), drop: 4 },
      { heading: 'MESSAGE', cell: messageOf, shrink: 12 },
      {
        heading: 'NOTE',
        cell: ({ mutedBy, mutedUntil }) => (mutedUntil === null ? '' : `muted by ${mutedBy ?? '?'}`),
        drop: 1,
      },
    ],
    groups,
  )
}

export function errorScreen(
  look: Look,
  group: ErrorGroup,
  runs: readonly RunSummary[],
  now: Date = new Date(),
): string {
  const facts: (readonly [string, string])[] = [
    ['message', group.message],
    ['place', group.place ?? '-'],
    ['tasks', group.tasks.join(', ')],
    ['versions', group.versions.join(', ') || '-'],
    [
      'seen',
      `${countText(group.seen)}; first ${moment(group.firstSeen, now)}, last ${moment(group.lastSeen, now)} (${ago(group.lastSeen, now)})`,
    ],
    [
      '24 hours',
      sparkline(
        look,
        group.hours.map(({ seen }) => seen),
        { width: 24 },
      ),
    ],
    ...(group.mutedUntil === null
      ? []
      : [['muted', `by ${group.mutedBy ?? '?'} until ${moment(group.mutedUntil, now)}`] as const]),
  ]
  return [
    `${styled(look, 'bold', group.fingerprint)}  ${styled(look, 'red', group.code)}  ${group.name}`,
    ...facts.map(([name, text]) => `${styled(look, 'dim', name.padEnd(10))} ${text}`),
    ...(runs.length === 0 ? [] : ['', runsTable(look, runs, now)]),
    '',
    styled(look, 'cyan', `q retry --errors ${group.fingerprint.slice(0, 8)}`),
  ].join('\n')
}

function messageOf({ name, message }: ErrorGroup): string {
  return message === '' ? name : `${name}: ${message}`
}

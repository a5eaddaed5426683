/** The whole cluster on one screen: nodes, queues, and what needs a person, worst first. Pure. */
import type { QueueView, Overview, AttentionReport } from '@q/store'
import type { Look } from '../frame/terminal.ts'
import { boundedText, countText, plural, rateText } from '../words/counts.ts'
import { levelGlyph } from '../words/states.ts'
import { cut, styled, widthOf } from '../words/style.ts'
import { table } from '../words/table.ts'
import { packed, wrapped } from '../words/wrap.ts'
import { queuesTable } from './queues.ts'

export interface StatusFacts {
  readonly database: { readonly place: string; readonly version: string }
  readonly overview: Overview
  readonly queues: readonly QueueView[]
  readonly attention: AttentionReport
  /** With `--exact` only: counting reads the whole table. */
  readonly runs?: readonly { readonly status: string; readonly runs: number }[]
}

export function statusScreen(look: Look, facts: StatusFacts, now: Date = new Date()): string {
  const { database, overview, queues, attention, runs } = facts
  return [
    ...headLines(look, database, overview),
    '',
    queues.length === 0 ? 'No run has been enqueued yet.' : queuesTable(look, queues, now),
    ...(runs === undefined ? [] : ['', exactTable(look, runs)]),
    '',
    ...attentionLines(look, attention),
  ].join('\n')
}

export function headLines(look: Look, database: StatusFacts['database'], overview: Overview): string[] {
  const { nodes, slots, ready, running, succeededPerS, failedPerS } = overview
  // The description of an embedded server names its version.
  const version = database.place.startsWith('embedded') ? '' : ` (PostgreSQL ${database.version})`
  const wide = look.columns === 0 ? database.place : cut(database.place, look.columns - version.length, look)
  const place = `${styled(look, 'bold', wide)}${version}`
  const lost = nodes.stale === 0 ? [] : [styled(look, 'red', `${nodes.stale} lost`)]
  const draining = nodes.draining === 0 ? [] : [`${nodes.draining} draining`]
  const fleet = `nodes ${[`${nodes.alive} alive`, ...draining, ...lost].join(', ')}`
  const work = [
    `slots ${countText(slots.busy)}/${countText(slots.total)}`,
    `ready ${boundedText(ready)}`,
    `running ${countText(running)}`,
  ]
  const done = succeededPerS === null ? [] : [`done ${rateText(succeededPerS)}/s`, `failed ${rateText(failedPerS)}/s`]
  return [place, ...packed([fleet, ...work, ...done], look.columns)]
}

export function attentionLines(look: Look, { items, checks }: AttentionReport): string[] {
  if (items.length === 0) return [`${levelGlyph(look, 'ok')} Nothing needs you (${plural(checks, 'check')} made).`]
  const width = look.columns === 0 ? 120 : look.columns
  const widest = Math.max(...items.map(({ command }) => command.length))
  const title = items.length === 1 ? '1 thing needs you:' : `${items.length} things need you:`
  return [
    styled(look, 'bold', title),
    ...items.map(({ level, sentence, command }) => {
      const room = width - widest - 6
      // Where command and sentence do not fit on one line, the command follows on its own.
      if (room < 40 || widthOf(sentence) > room) {
        const lines = look.columns === 0 ? [sentence] : wrapped(sentence, look.columns - 3)
        return ` ${levelGlyph(look, level)} ${lines.join('\n   ')}\n   ${styled(look, 'cyan', command)}`
      }
      const text = cut(sentence, room, look)
      return ` ${levelGlyph(look, level)} ${text}${' '.repeat(Math.max(0, room - widthOf(text)))}  ${styled(look, 'cyan', command)}`
    }),
  ]
}

function exactTable(look: Look, runs: NonNullable<StatusFacts['runs']>): string {
  return table<(typeof runs)[number]>(
    look,
    [
      { heading: 'RUNS', cell: ({ status }) => status },
      { heading: 'COUNT', cell: ({ runs: counted }) => countText(counted), align: 'right' },
    ],
    runs,
  )
}

/** The timeline of a run, in order, with the time since it was enqueued. Pure. */
import type { TimelineEntry, RunDetail } from '@q/store'
import type { Look } from '../frame/terminal.ts'
import { shortDuration } from '../words/ages.ts'
import { cut, styled } from '../words/style.ts'

/** A run that was retried often has a long history: the first and the last entries are shown. */
const linesMax = 40

export function timelineLines(look: Look, { timeline, run }: RunDetail): string[] {
  const lines = timeline.map((entry) => line(look, entry, run.createdAt))
  if (lines.length <= linesMax) return lines
  const half = linesMax / 2
  return [...lines.slice(0, half), `  … ${lines.length - linesMax} more`, ...lines.slice(-half)]
}

function line(look: Look, entry: TimelineEntry, from: Date): string {
  const by = entry.by === null ? '' : styled(look, 'dim', `  ${entry.by}`)
  const text = `  ${styled(look, 'dim', offset(entry.at, from).padStart(10))}  ${wordsOf(look, entry)}${by}`
  return look.columns === 0 ? text : cut(text, look.columns, look)
}

/** `+0.412`; from a minute on in one unit. A time before the run was enqueued means that the clock of the server was set back. */
function offset(at: Date | null, from: Date): string {
  if (at === null) return '?'
  const ms = at.getTime() - from.getTime()
  if (ms < 0) return 'clock back'
  return ms < 60_000 ? `+${(ms / 1_000).toFixed(3)}` : `+${shortDuration(ms)}`
}

function wordsOf(look: Look, entry: TimelineEntry): string {
  switch (entry.what) {
    case 'enqueued':
    case 'claimed':
      return entry.what
    case 'started':
      return `started, attempt ${entry.attempt}`
    case 'succeeded':
      return styled(look, 'green', 'succeeded')
    case 'failed':
    case 'crashed':
    case 'cancelled':
    case 'released':
    case 'retried':
    case 'snoozed':
      return [
        entry.what,
        ...(entry.code === null ? [] : [entry.code]),
        ...(entry.detail === null ? [] : [entry.detail]),
      ].join('  ')
    case 'recovered':
      return `recovered from ${entry.from} (${entry.cause}), became ${entry.became}`
    case 'cancel-requested':
      return 'cancel requested'
    case 'beat':
      return [
        'last sign of life',
        ...(entry.progress === null ? [] : [`${Math.round(entry.progress * 100)} %`]),
        ...(entry.note === null ? [] : [entry.note]),
      ].join('  ')
    case 'ended':
      return [`ended ${entry.status}`, ...(entry.code === null ? [] : [entry.code])].join('  ')
    case 'noted':
      return [entry.kind, ...(entry.detail === null ? [] : [entry.detail])].join('  ')
    case 'retried-manually':
      return `retried manually, epoch ${entry.epoch}`
  }
}

/** Runs, one line each. Pure. */
import type { RunSummary } from '@q/store'
import type { Look } from '../frame/terminal.ts'
import { shortDuration } from '../words/ages.ts'
import { runStateText } from '../words/states.ts'
import { styled } from '../words/style.ts'
import { table, type Column } from '../words/table.ts'

export function runsTable(look: Look, runs: readonly RunSummary[], now: Date = new Date()): string {
  const columns: readonly Column<RunSummary>[] = [
    { heading: 'RUN', cell: ({ id }) => id, align: 'right' },
    { heading: 'STATE', cell: (run) => runStateText(look, { ...run, stopping: isStopping(run) }) },
    { heading: 'TASK', cell: ({ task }) => task, shrink: 8 },
    { heading: 'QUEUE', cell: ({ queue }) => queue, shrink: 6, drop: 4 },
    { heading: 'GROUP', cell: ({ group }) => group, shrink: 6, drop: 7 },
    {
      heading: 'ENQUEUED',
      cell: ({ createdAt }) => `${shortDuration(now.getTime() - createdAt.getTime())} ago`,
      align: 'right',
      drop: 3,
    },
    { heading: 'FOR', cell: (run) => forText(run, now), align: 'right' },
    { heading: 'ATTEMPT', cell: attemptOf, align: 'right', drop: 5 },
    { heading: 'NODE', cell: ({ replicaName, replicaId }) => replicaName ?? replicaId ?? '', shrink: 6, drop: 2 },
    { heading: 'DETAIL', cell: (run) => detailOf(look, run), shrink: 10, drop: 1 },
  ]
  return table(look, columns, runs)
}

function isStopping({ status, cancelRequestedAt }: RunSummary): boolean {
  return status === 'RUNNING' && cancelRequestedAt !== null
}

/** How long the run has been executing, took, or has been waiting for its start. */
function forText({ startedAt, finishedAt, runAt, createdAt }: RunSummary, now: Date): string {
  if (startedAt !== null) return shortDuration((finishedAt ?? now).getTime() - startedAt.getTime())
  if (finishedAt !== null) return '-'
  const waitsMs = now.getTime() - Math.max(runAt.getTime(), createdAt.getTime())
  return waitsMs < 0 ? `in ${shortDuration(-waitsMs)}` : `waits ${shortDuration(waitsMs)}`
}

/** A crash does not count as one of the attempts that errors may use. */
function attemptOf({ attempt, maxAttempts, crashCount }: RunSummary): string {
  return crashCount === 0 ? `${attempt}/${maxAttempts}` : `${attempt}, ${crashCount} crashed`
}

function detailOf(look: Look, { status, code, detail, progress, note, reviewed, uniqueKey }: RunSummary): string {
  if (code !== null) {
    const review = reviewed === false ? ', to review' : ''
    return `${status === 'FAILED' ? styled(look, 'red', code) : code}${review}  ${detail ?? ''}`.trimEnd()
  }
  const percent = progress === null ? [] : [`${Math.round(progress * 100)} %`]
  return [...percent, ...(note === null ? [] : [note]), ...(uniqueKey === null ? [] : [`key ${uniqueKey}`])].join(' ')
}

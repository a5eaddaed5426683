/** How far a run is, why it waits, or how it ended, in one line. */
import type { ReactNode } from 'react'
import type { RunSummary } from '../api/run-contract.ts'
import { useNow } from '../live/use-now.ts'
import { duration, relative } from '../words/durations.ts'
import { clockTime } from '../words/times.ts'
import { visibleText } from '../words/visible-text.ts'
import { toneOf } from './badge.tsx'
import { Progress } from './meter.tsx'

export function RunOutcome({ run }: { readonly run: RunSummary }): ReactNode {
  const isStopping = run.cancelRequestedAt !== null && (run.status === 'RUNNING' || run.status === 'CLAIMED')
  const showsProgress = run.progress !== null && run.status !== 'SUCCEEDED' && run.status !== 'CANCELLED'
  return (
    <Progress value={showsProgress ? run.progress : null} tone={isStopping ? 'stopping' : toneOf(run.status)}>
      <Words run={run} />
    </Progress>
  )
}

const gates: Readonly<Record<string, string>> = {
  parents: 'waits for its parents',
  workflow: 'its workflow is paused',
  task: 'no node has published its task yet',
  concurrency: 'waits for its concurrency key',
}

function Words({ run }: { readonly run: RunSummary }): ReactNode {
  const now = useNow()
  const note = run.note === null ? '' : visibleText(run.note)
  switch (run.status) {
    case 'PENDING':
      if (run.waitingFor === 'time')
        return (
          <span className="mute">
            {run.attempt > 0 ? 'retries' : 'due'} at {clockTime(new Date(run.runAt))},{' '}
            {relative(now - Date.parse(run.runAt))}
          </span>
        )
      return <span className="mute">{gates[run.waitingFor ?? ''] ?? 'waits'}</span>
    case 'AVAILABLE':
      return (
        <span className="mute">
          {run.crashCount > 0
            ? `ready again after ${run.crashCount === 1 ? 'a crash' : `${run.crashCount} crashes`}`
            : 'ready'}
        </span>
      )
    case 'CLAIMED':
      return <span className="mute">claimed, starts next</span>
    case 'RUNNING':
      if (run.cancelRequestedAt !== null)
        return <span className="warn">stopping for {duration(now - Date.parse(run.cancelRequestedAt))}</span>
      return <span className="mute">{note}</span>
    case 'SUCCEEDED':
      return <span className="mute">{note === '' ? resultWords(run.resultText) : note}</span>
    case 'FAILED':
      return (
        <code className="bad">
          {run.code ?? 'FAILED'} {visibleText((run.detail ?? run.note ?? '').split('\n', 1)[0] ?? '')}
        </code>
      )
    case 'CANCELLED':
    case 'EXPIRED':
    case 'SKIPPED':
      return (
        <span className="mute">
          {run.code === null ? (run.status === 'EXPIRED' ? 'its deadline passed' : '') : run.code}
        </span>
      )
  }
}

/** `{"pages": 3, "bytes": 5}` as `pages 3, bytes 5`. */
function resultWords(text: string | null): string {
  if (text === null || text === 'null') return ''
  const value = JSON.parse(text) as unknown
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return visibleText(text)
  const isFlat = Object.values(value).every((member) => typeof member !== 'object' || member === null)
  return visibleText(isFlat ? text.slice(1, -1).replaceAll(/"((?:[^"\\]|\\.)*)": ?/g, '$1 ') : text)
}

/** How far a run is, and when it may be done: said only after a tenth of the way, and only while it runs. */
import { useState, type ReactNode } from 'react'
import type { RunDetail } from '../../api/run-contract.ts'
import { growing } from '../../live/received.ts'
import { useRunTick } from '../../live/run-ticks.ts'
import { useNow } from '../../live/use-now.ts'
import { Card } from '../../parts/card.tsx'
import { Bar } from '../../parts/meter.tsx'
import { duration } from '../../words/durations.ts'
import { percent } from '../../words/numbers.ts'
import { visibleText } from '../../words/visible-text.ts'
import { type Mark, timeLeftMs } from './time-left.ts'

export function ProgressCard({
  detail,
  nameOf,
}: {
  readonly detail: RunDetail
  readonly nameOf: (id: string) => string
}): ReactNode {
  const { run, beats } = detail
  const now = useNow()
  const tick = useRunTick(run.id, false)
  const sign = beats.at(-1)
  const isFresh = tick?.fence === run.fence
  const value = (isFresh ? tick.progress : null) ?? sign?.progress ?? null
  const note = (isFresh ? tick.note : null) ?? sign?.note ?? null
  const age =
    isFresh && tick.beatAgeMs !== null
      ? growing(tick, tick.beatAgeMs, now)
      : sign === undefined
        ? null
        : growing(sign, sign.ageMs, now)
  const started = run.startedAt === null ? now : Date.parse(run.startedAt)
  const isLater = detail.attempts.some(({ fence }) => fence < run.fence)
  const first = useFirstMark(run.fence, value, now - (age ?? 0))
  const from = isLater ? first : { progress: 0, at: started }
  const left = value === null || from === undefined ? undefined : timeLeftMs(from, value, now)
  if (run.status !== 'RUNNING') return null
  const attempts = run.maxAttempts > 1 ? ` of ${run.maxAttempts}` : ''
  return (
    <Card label="Progress" className="o1">
      <div className="pad prog">
        <p>
          {value === null ? <b>Running for {duration(now - started)}</b> : <b>{percent(value * 100)}</b>}
          {note === null ? null : <span className="any">{visibleText(note)}</span>}
          <span className="grow" />
          <span className="soft">
            {left === undefined ? (value === null ? 'it reports no progress' : '') : `about ${duration(left)} left`}
          </span>
        </p>
        {value === null ? null : <Bar value={value * 100} label="Progress" />}
        <p className="mute small">
          Attempt {run.attempt}
          {attempts} on {run.replicaId === null ? 'a node' : nameOf(run.replicaId)}, for {duration(now - started)}.
          {age === null ? '' : ` Last sign ${duration(age)} ago.`}
          {run.crashCount === 0
            ? ''
            : ` ${run.crashCount} ${run.crashCount === 1 ? 'start was' : 'starts were'} lost before.`}
        </p>
      </div>
    </Card>
  )
}

/** The first progress that was seen of this claim. */
function useFirstMark(fence: number, progress: number | null, at: number): Mark | undefined {
  const [first, setFirst] = useState<Mark & { readonly fence: number }>()
  if (progress === null) return undefined
  if (first?.fence === fence && first.progress <= progress) return first
  const mark = { fence, progress, at }
  setFirst(mark)
  return mark
}

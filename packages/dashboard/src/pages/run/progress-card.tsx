/** How far a run is, and when it may be done: said only after a tenth of it, and only while it runs. */
import type { ReactNode } from 'react'
import type { RunDetail } from '../../api/run-contract.ts'
import { growing } from '../../live/received.ts'
import { useRunTick } from '../../live/run-ticks.ts'
import { useNow } from '../../live/use-now.ts'
import { Card } from '../../parts/card.tsx'
import { Bar } from '../../parts/meter.tsx'
import { duration } from '../../words/durations.ts'
import { percent } from '../../words/numbers.ts'
import { visibleText } from '../../words/visible-text.ts'

/** The part of a run after which its end can be estimated. */
const knownFrom = 0.1

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
  if (run.status !== 'RUNNING') return null
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
  const left = value !== null && value >= knownFrom && value < 1 ? ((now - started) * (1 - value)) / value : null
  const attempts = run.maxAttempts > 1 ? ` of ${run.maxAttempts}` : ''
  return (
    <Card label="Progress" className="o1">
      <div className="pad prog">
        <p>
          {value === null ? <b>Running for {duration(now - started)}</b> : <b>{percent(value * 100)}</b>}
          {note === null ? null : <span className="any">{visibleText(note)}</span>}
          <span className="grow" />
          <span className="soft">
            {left === null ? (value === null ? 'it reports no progress' : '') : `about ${duration(left)} left`}
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

/** How far a run is, and when it may end: said only after a tenth of the way, and only while it runs. */
import type { ReactNode } from 'react'
import type { RunDetail } from '../../api/run-contract.ts'
import { growing } from '../../live/received.ts'
import { useRunTick } from '../../live/run-ticks.ts'
import { useNow } from '../../live/use-now.ts'
import { Card } from '../../parts/card.tsx'
import { Bar } from '../../parts/meter.tsx'
import { duration } from '../../words/durations.ts'
import { percent, several } from '../../words/numbers.ts'
import { visibleText } from '../../words/visible-text.ts'
import { isContinued, timeLeftMs } from './time-left.ts'

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
  const stoppingSince = run.cancelRequestedAt
  const left =
    value === null || run.startedAt === null || stoppingSince !== null || isContinued(detail)
      ? undefined
      : timeLeftMs(started, { progress: value, at: now - (age ?? 0) }, now)
  if (run.status !== 'RUNNING') return null
  // Lost attempts do not count against the limit.
  const attempts = run.maxAttempts > 1 && run.crashCount === 0 ? ` of ${run.maxAttempts}` : ''
  return (
    <Card label="Progress" className="o1">
      <div className="pad prog">
        <p>
          {value === null ? <b>Running for {duration(now - started)}</b> : <b>{percent(value * 100)}</b>}
          {note === null ? null : <span className="any">{visibleText(note)}</span>}
          <span className="grow" />
          <span className="soft">
            {value === null ? 'it reports no progress' : left === undefined ? '' : leftInWords(left)}
          </span>
        </p>
        {value === null ? null : (
          <Bar value={value * 100} label="Progress" tone={stoppingSince === null ? 'running' : 'stopping'} />
        )}
        <p className="mute small">
          Attempt {run.attempt}
          {attempts} on {run.replicaId === null ? 'a node' : nameOf(run.replicaId)}, for {duration(now - started)}.
          {stoppingSince !== null
            ? ` Its cancel was requested ${duration(now - Date.parse(stoppingSince))} ago; it ends when its code does, or when the node has stopped the thread.`
            : age === null
              ? ''
              : ` Last heartbeat ${duration(age)} ago.`}
          {run.crashCount === 0
            ? ''
            : ` ${several(run.crashCount, 'attempt')} before it ${run.crashCount === 1 ? 'was' : 'were'} lost.`}
        </p>
      </div>
    </Card>
  )
}

function leftInWords(ms: number): string {
  return ms === 0 ? 'may end at any time' : `about ${duration(ms)} left`
}

/** The timeline, in the order of the claims: fences only rise, while clocks may jump. */
import type { ReactNode } from 'react'
import type { RunDetail, TimelineItem } from '../../api/run-contract.ts'
import { Card } from '../../parts/card.tsx'
import { Glyph } from '../../parts/glyph.tsx'
import { several } from '../../words/numbers.ts'
import { exactTime, wholeDate } from '../../words/times.ts'
import { wordsOf } from './timeline-words.tsx'

export function TimelineCard({
  detail,
  nameOf,
}: {
  readonly detail: RunDetail
  readonly nameOf: (id: string) => string
}): ReactNode {
  const { run } = detail
  const timeline: readonly TimelineItem[] = detail.timeline
  return (
    <Card
      title="Timeline"
      sub="in the order of the database"
      end={<span className="mute small only-l">{several(timeline.length, 'event')}</span>}
    >
      <ol className="tl">
        {timeline.map((entry, index) => {
          const { glyph, tone, hot, words } = wordsOf(entry, { nameOf, queue: run.queue, group: run.group })
          return (
            <li key={index} className={`${tone}${hot ? ' hot' : ''}`}>
              {entry.at === null ? (
                <time>–</time>
              ) : (
                <time dateTime={entry.at} title={wholeDate(new Date(entry.at))}>
                  {exactTime(new Date(entry.at))}
                </time>
              )}
              <span className="d">{gap(timeline, index)}</span>
              <Glyph name={glyph} />
              <span className="e">{words}</span>
              <span className="f">{entry.fence === undefined ? '' : `fence ${entry.fence}`}</span>
            </li>
          )
        })}
      </ol>
    </Card>
  )
}

/** Since the event before it in time: a write that was refused stands with its fence, and may be later than the next start. */
function gap(timeline: readonly TimelineItem[], index: number): string {
  const at = Date.parse(timeline[index]?.at ?? '')
  const earlier = timeline.slice(0, index).map((entry) => Date.parse(entry.at ?? ''))
  const before = Math.max(...earlier.filter((time) => time <= at))
  if (!Number.isFinite(before)) return ''
  const s = (at - before) / 1_000
  if (s < 1_000) return `+${s.toFixed(1)}\u00a0s`
  return s < 36_000 ? `+${Math.round(s / 60)}\u00a0min` : `+${(s / 3_600).toFixed(1)}\u00a0h`
}

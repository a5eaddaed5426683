/** The timeline, in the order of the claims: fences only rise, while clocks may jump. */
import type { ReactNode } from 'react'
import type { RunDetail, TimelineEntry } from '../../api/run-contract.ts'
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
  const timeline: readonly TimelineEntry[] = detail.timeline
  return (
    <Card
      title="Timeline"
      sub="in the order of the database"
      end={<span className="mute small only-l">{several(timeline.length, 'event')}</span>}
    >
      <ol className="tl">
        {timeline.map((entry, index) => {
          const { glyph, tone, hot, words } = wordsOf(entry, { nameOf, queue: run.queue, group: run.group })
          const before = timeline.slice(0, index).findLast(({ at }) => at !== null)?.at
          return (
            <li key={index} className={`${tone}${hot ? ' hot' : ''}`}>
              {entry.at === null ? (
                <time>–</time>
              ) : (
                <time dateTime={entry.at} title={wholeDate(new Date(entry.at))}>
                  {exactTime(new Date(entry.at))}
                </time>
              )}
              <span className="d">
                {entry.at === null || before == null ? '' : gap(Date.parse(entry.at) - Date.parse(before))}
              </span>
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

/** Clocks of two machines differ, so a step back is shown as it is. */
function gap(ms: number): string {
  const s = ms / 1_000
  const sign = s < 0 ? '−' : '+'
  const size = Math.abs(s)
  if (size < 1_000) return `${sign}${size.toFixed(1)}\u00a0s`
  return size < 36_000 ? `${sign}${Math.round(size / 60)}\u00a0min` : `${sign}${(size / 3_600).toFixed(1)}\u00a0h`
}

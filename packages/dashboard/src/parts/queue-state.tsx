/** The state of a queue and what will become of its backlog, in words. */
import type { ReactNode } from 'react'
import type { QueueView } from '../api/contract.ts'
import { useNow } from '../live/use-now.ts'
import { duration, roughly } from '../words/durations.ts'
import { rate } from '../words/numbers.ts'
import { Badge } from './badge.tsx'

export function QueueState({ queue }: { readonly queue: QueueView }): ReactNode {
  if (queue.paused)
    return (
      <Badge tone="paused" glyph="paused">
        paused
      </Badge>
    )
  if (queue.unserved.length > 0)
    return (
      <Badge tone="failed" glyph="failed">
        not served
      </Badge>
    )
  return <span className="mute">open</span>
}

/** Below this a queue neither grows nor shrinks. */
const still = 0.05

export function Outlook({ queue }: { readonly queue: QueueView }): ReactNode {
  const now = useNow()
  if (queue.paused) {
    const since = queue.pausedAt === null ? '' : ` for ${duration(now - Date.parse(queue.pausedAt))}`
    const reason = queue.pauseReason === null ? '' : `: “${queue.pauseReason}”`
    return `paused${since}${queue.pausedBy === null ? '' : ` by ${queue.pausedBy}`}${reason}`
  }
  if (queue.unserved.length > 0) return `no live node knows ${queue.unserved.join(', ')}`
  return outlookOf(queue)
}

/** For a queue that is served and not paused. */
function outlookOf({ ready, rates }: QueueView): string {
  if (ready.count === 0) return 'empty'
  const growth = rates?.growthPerS ?? null
  if (growth === null) return '–'
  if (growth > still) return `grows by ${rate(growth)}/s`
  if (growth > -still) return 'steady'
  return `empty in ~${roughly((ready.count / -growth) * 1_000)}`
}

/** An age of a ready run that deserves attention has a colour: amber from a minute, red when nothing can run it. */
export function oldestTone(queue: QueueView): string {
  if (queue.oldestReadyMs === null) return 'mute'
  if (queue.unserved.length > 0) return 'bad'
  const isGrowing = (queue.rates?.growthPerS ?? 0) > still || queue.paused
  const usual = isGrowing ? 0 : 3 * (queue.rates?.waitP95Ms ?? 0)
  return queue.oldestReadyMs > Math.max(60_000, usual) ? 'warn' : ''
}

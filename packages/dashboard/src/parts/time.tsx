/** Times and ages. Relative by default with the absolute one as tooltip; `t` turns that around on the whole page. */
import { useSyncExternalStore, type ReactNode } from 'react'
import { useNow } from '../live/use-now.ts'
import { relative } from '../words/durations.ts'
import { clockTime, dayTime, wholeDate } from '../words/times.ts'

let absolute = false
const listeners = new Set<() => void>()

export function toggleAbsoluteTimes(): void {
  absolute = !absolute
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** 2 min ago, or 14:26 */
export function Ago({ at }: { readonly at: string }): ReactNode {
  const now = useNow()
  const isAbsolute = useSyncExternalStore(subscribe, () => absolute)
  const date = new Date(at)
  return (
    <time dateTime={at} title={wholeDate(date)}>
      {isAbsolute ? dayTime(date, new Date(now)) : relative(now - date.getTime())}
    </time>
  )
}

/** 14:26:50, with the day when it is not today. */
export function At({ at, withDay = true }: { readonly at: string; readonly withDay?: boolean }): ReactNode {
  const now = useNow()
  const date = new Date(at)
  const isToday = date.toDateString() === new Date(now).toDateString()
  return (
    <time dateTime={at} title={wholeDate(date)}>
      {withDay && !isToday ? dayTime(date, new Date(now)) : clockTime(date)}
    </time>
  )
}

/** Times and ages. Relative by default with the absolute one as tooltip; `t` turns that around on the whole page. */
import { useSyncExternalStore, type ReactNode } from 'react'
import { useAtNow } from '../live/use-now.ts'
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
  const isAbsolute = useSyncExternalStore(subscribe, () => absolute)
  const date = new Date(at)
  const text = useAtNow((now) => (isAbsolute ? dayTime(date, new Date(now)) : relative(now - date.getTime())))
  return (
    <time dateTime={at} title={wholeDate(date)}>
      {text}
    </time>
  )
}

/** 14:26:50, with the day when it is not today. */
export function At({ at, withDay = true }: { readonly at: string; readonly withDay?: boolean }): ReactNode {
  const date = new Date(at)
  const text = useAtNow((now) => {
    const today = new Date(now)
    return withDay && date.toDateString() !== today.toDateString() ? dayTime(date, today) : clockTime(date)
  })
  return (
    <time dateTime={at} title={wholeDate(date)}>
      {text}
    </time>
  )
}

/**
 * One clock for all ages on the page: it ticks once a second while the tab is visible. It stands still while the page is frozen or the
 * database is away: what is shown then is as old as the last answer, and an age that grew would claim more than is known.
 */
import { useSyncExternalStore } from 'react'
import { connection } from './connection.ts'
import { serverNow } from './server-clock.ts'

let now = serverNow()
let timer: ReturnType<typeof setInterval> | undefined
const listeners = new Set<() => void>()

/** Milliseconds since the epoch by the server's clock, at most a second old while the component is on screen. */
export function useNow(isOnScreen = true): number {
  return useSyncExternalStore(isOnScreen ? subscribe : unsubscribed, () => now)
}

/** Returns `of(now)`, and draws the component again when that changes, not with every tick. */
export function useAtNow<T extends string | number | boolean>(of: (now: number) => T, isOnScreen = true): T {
  return useSyncExternalStore(isOnScreen ? subscribe : unsubscribed, () => of(now))
}

function unsubscribed(): () => void {
  return () => {}
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  timer ??= setInterval(tick, 1_000)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

function tick(): void {
  const { frozenAt, away } = connection.get()
  if (document.hidden || frozenAt !== null || away !== null) return
  now = serverNow()
  for (const listener of listeners) listener()
}

/**
 * Suppresses repeated failures. A failure is logged once, then at intervals with the number of suppressed repeats: while
 * the database is unreachable, every round of every loop fails. Suppressed failures are logged at level debug.
 *
 * Two failures are the same if they have the same type and reason. An unreachable database and a full disk are one reason
 * for all loops; any other reason is separate for each loop, job or schedule.
 */
import type { RunnerEvent } from '../main/events.ts'
import { fullDisk } from './full-disk.ts'

type Failure = Extract<RunnerEvent, { readonly error: unknown }>

/** Failures of work that is retried. */
const repeating: ReadonlySet<string> = new Set<Failure['type']>([
  'loop-failed',
  'beat-failed',
  'settle-failed',
  'session-lost',
  'connection-lost',
  'job-failed',
  'schedule-failed',
  'recovery-failed',
])
const logEveryMs = 15_000
const rememberedMs = 4 * logEveryMs

/** Returns undefined to suppress the event, else the number of repeats that were suppressed since it was last logged. */
export function createRepeatFilter(nowMs: () => number): (event: RunnerEvent) => number | undefined {
  const logged = new Map<string, { readonly atMs: number; suppressed: number }>()
  return (event) => {
    if (!('error' in event) || !repeating.has(event.type)) return 0
    const atMs = nowMs()
    for (const [key, { atMs: lastMs }] of logged) if (atMs - lastMs > rememberedMs) logged.delete(key)
    const key = fullDisk(event.error) ?? `${event.type} ${reasonOf(event)}`
    const last = logged.get(key)
    if (last !== undefined && atMs - last.atMs < logEveryMs) {
      last.suppressed++
      return undefined
    }
    logged.set(key, { atMs, suppressed: 0 })
    return last?.suppressed ?? 0
  }
}

function reasonOf(event: Failure): string {
  if (isUnreachable(event.error)) return 'the database is unreachable'
  const source = 'loop' in event ? event.loop : 'job' in event ? event.job : 'schedule' in event ? event.schedule : ''
  return `${source} ${codeOf(event.error) ?? String(event.error)}`
}

/** Whether it is an error of a socket, of a server that shuts down or has no resources, or a missing response. */
function isUnreachable(error: unknown): boolean {
  const message = error instanceof Error ? error.message : ''
  return /^E(?!RR_)[A-Z]+$|^(57P|08|53)/.test(codeOf(error) ?? '') || /timeout|terminated|not answered/i.test(message)
}

function codeOf(error: unknown): string | undefined {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined
  return typeof code === 'string' ? code : undefined
}

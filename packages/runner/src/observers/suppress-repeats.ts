/**
 * Failures that repeat themselves are told once, and then once in a while with how many there were: a database that is
 * away for a minute fails every round of every loop, and whoever reads the log wants to know it once. What is held back
 * is not lost for debugging: it is told at that level.
 *
 * Alike are failures of the same kind for the same reason. That the database is away is one reason, whoever asks it;
 * every other one belongs to who met it. A full disk is one failure, whichever statement it fails.
 */
import type { RunnerEvent } from '../main/events.ts'
import { fullDisk } from './full-disk.ts'

type Failure = Extract<RunnerEvent, { readonly error: unknown }>

/** What is tried again, and so fails again. */
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

/** Undefined: hold it back. Else how many alike were held back since the last one that was logged. */
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
  if (isAway(event.error)) return 'the database is away'
  const who = 'loop' in event ? event.loop : 'job' in event ? event.job : 'schedule' in event ? event.schedule : ''
  return `${who} ${codeOf(event.error) ?? String(event.error)}`
}

/** Errors of sockets, of a server that goes or has no room, and answers that did not come. */
function isAway(error: unknown): boolean {
  const said = error instanceof Error ? error.message : ''
  return /^E(?!RR_)[A-Z]+$|^(57P|08|53)/.test(codeOf(error) ?? '') || /timeout|terminated|not answered/i.test(said)
}

function codeOf(error: unknown): string | undefined {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined
  return typeof code === 'string' ? code : undefined
}

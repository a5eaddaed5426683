/** Whether two new runs differ in nothing but their payloads. Dates, keys and windows must be the same object. */
import type { NewRun } from './new-run.ts'

const compared: Record<Exclude<keyof NewRun, 'payload'>, true> = {
  task: true,
  lane: true,
  delayMs: true,
  runAt: true,
  expiresInMs: true,
  priority: true,
  group: true,
  maxAttempts: true,
  timeoutMs: true,
  maxSilentMs: true,
  onCrash: true,
  uniqueKey: true,
  uniqueForMs: true,
  throttle: true,
  debounce: true,
  concurrency: true,
  trace: true,
}

const keys = Object.keys(compared) as (keyof typeof compared)[]

export function areAlike(one: NewRun, other: NewRun): boolean {
  return keys.every((key) => one[key] === other[key])
}

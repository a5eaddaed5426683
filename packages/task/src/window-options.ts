/**
 * Which of several enqueues becomes a run. Three laws, of which a task, or an enqueue, may name one:
 *
 *   unique     while a run with the key waits or runs (or also for a period), a second one is that run
 *   throttle   the first one in a window counts, whatever becomes of it; the others are that run
 *   debounce   the last one in a window counts: the run that still waits becomes what it asks for, and waits anew
 */
import { durationMs, type Duration } from './duration.ts'
import type { KeyIn } from './options.ts'
import { keyAt } from './payload-keys.ts'

export interface ThrottleOptions<Payload = unknown> {
  /** The whole payload, or a JSON pointer to the value in it that counts. */
  readonly key: 'payload' | KeyIn<Payload>
  /** The window, from the enqueue that counts. */
  readonly for: Duration
}

export interface DebounceOptions<Payload = unknown> {
  readonly key: 'payload' | KeyIn<Payload>
  /** How long nothing must come before it runs. */
  readonly for: Duration
  /** Not longer than this after the first one, however many come. Default: ten times `for`. */
  readonly max?: Duration
}

export interface ThrottleData {
  /** A JSON pointer; empty: the whole payload. */
  readonly key: string
  readonly forMs: number
}

export interface DebounceData extends ThrottleData {
  readonly maxMs: number
}

/** For one run: the key is its value now. */
export interface WindowSettings {
  readonly throttle?: ThrottleData
  readonly debounce?: DebounceData
}

const maxFactor = 10

export function throttleData(options: ThrottleOptions): ThrottleData {
  return { key: options.key === 'payload' ? '' : options.key, forMs: durationMs(options.for) }
}

export function debounceData({ max, ...options }: DebounceOptions): DebounceData {
  const data = throttleData(options)
  return { ...data, maxMs: max === undefined ? data.forMs * maxFactor : durationMs(max) }
}

/** A payload without the value has no key, and is enqueued like any other. */
export function windowSettings(
  data: { readonly throttle?: ThrottleData | null; readonly debounce?: DebounceData | null },
  payload: unknown,
): WindowSettings {
  return {
    ...keyed('throttle', data.throttle, payload),
    ...keyed('debounce', data.debounce, payload),
  }
}

function keyed<Name extends string, Data extends ThrottleData>(
  name: Name,
  data: Data | null | undefined,
  payload: unknown,
): Partial<Record<Name, Data>> {
  const key = data === null || data === undefined ? undefined : keyAt(payload, data.key)
  return (key === undefined ? {} : { [name]: { ...data, key } }) as Partial<Record<Name, Data>>
}

/** Of what is set, more than one. */
export function windowProblems(options: {
  readonly unique?: unknown
  readonly throttle?: unknown
  readonly debounce?: unknown
}): string[] {
  const named = (['unique', 'throttle', 'debounce'] as const).filter((name) => options[name] !== undefined)
  return named
    .slice(1)
    .map((name) => `${name}: there is ${named[0]} already; a task has one of unique, throttle, debounce`)
}

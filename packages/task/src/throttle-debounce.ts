/**
 * Rules that decide which of several enqueues creates a run. A task or an enqueue may use one of three:
 *
 *   unique     while a run with the key waits or runs (or within a period), an enqueue returns that run
 *   throttle   the first enqueue in a window creates the run; later ones return it, in any state
 *   debounce   the last enqueue in a window wins: it replaces payload and options of the waiting run and restarts its
 *              window
 */
import { durationMs, type Duration } from './duration.ts'
import type { KeyIn } from './options.ts'
import { keyAt } from './payload-keys.ts'

export interface ThrottleOptions<Payload = unknown> {
  /** The whole payload, or a JSON pointer to the value in it that is the key. */
  readonly key: 'payload' | KeyIn<Payload>
  /** The length of the window, from the enqueue that created the run. */
  readonly for: Duration
}

export interface DebounceOptions<Payload = unknown> {
  readonly key: 'payload' | KeyIn<Payload>
  /** The run starts when no enqueue has arrived for this long. */
  readonly for: Duration
  /** The longest delay after the first enqueue. Default: ten times `for`. */
  readonly max?: Duration
}

export interface ThrottleData {
  /** A JSON pointer; empty for the whole payload. */
  readonly key: string
  readonly forMs: number
}

export interface DebounceData extends ThrottleData {
  readonly maxMs: number
}

/** The rule for one run, with the value of its key. */
export interface ThrottleDebounceSettings {
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

/** A payload that lacks the value has no key; its run is enqueued without the rule. */
export function throttleDebounceSettings(
  data: { readonly throttle?: ThrottleData | null; readonly debounce?: DebounceData | null },
  payload: unknown,
): ThrottleDebounceSettings {
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

/** One problem for each rule after the first. */
export function conflictingOptions(options: {
  readonly unique?: unknown
  readonly throttle?: unknown
  readonly debounce?: unknown
}): string[] {
  const named = (['unique', 'throttle', 'debounce'] as const).filter((name) => options[name] !== undefined)
  return named
    .slice(1)
    .map((name) => `${name}: cannot be combined with ${named[0]}; use one of unique, throttle, debounce`)
}

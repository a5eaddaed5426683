/** The options of an enqueue, and its answer. */
import type { TaskState } from '@q/schema'
import type { RunId } from '../lease.ts'

export interface NewRun {
  readonly task: string
  /**
   * Undefined: the producer does not know the options of the task. `q.enqueue()` of the database reads them; the run waits
   * at the gate `task` if no replica has published the task. Such a run cannot have `onCrash`, `timeoutMs`, `maxSilentMs`
   * or `concurrency`.
   */
  readonly lane?: number
  /** The value itself; at most 1 MiB as JSON, and nothing that jsonb would lose or refuse. */
  readonly payload: unknown
  /** In ms from now; 0: at once. */
  readonly delayMs?: number
  /** A time in the future, instead of a delay: runs with equal times start in the order of their enqueues. */
  readonly runAt?: Date
  /** A run that has not started by then becomes EXPIRED. */
  readonly expiresInMs?: number
  readonly priority?: number
  readonly group?: string
  readonly maxAttempts?: number
  /** Wall clock limit of one attempt; undefined: the task's own. */
  readonly timeoutMs?: number
  /** Longest silence of one attempt; undefined: the task's own. */
  readonly maxSilentMs?: number
  readonly onCrash?: 'fail' | 'retry'
  /** Scoped to its task. While a run with it has not ended, there is no second one. */
  readonly uniqueKey?: string
  /** Also for this long from now, even if the run has ended by then. */
  readonly uniqueForMs?: number
  /** Scoped to its task. For `forMs` from now there is no second run with it, whatever becomes of this one. */
  readonly throttle?: { readonly key: string; readonly forMs: number }
  /**
   * Scoped to its task. The run waits for `forMs`; a waiting run with the same key takes over the values of the newest
   * enqueue, and waits again, at most until `maxMs` after the first enqueue.
   */
  readonly debounce?: { readonly key: string; readonly forMs: number; readonly maxMs: number }
  /** `scope`: the task, or a name that tasks share; its limit is in `q.concurrency_limit`. */
  readonly concurrency?: { readonly scope: string; readonly key: string }
  /** Trace context of the producer. */
  readonly trace?: string
}

export interface EnqueuedRun {
  readonly id: RunId
  readonly status: TaskState
  /** Whether the run existed already. */
  readonly duplicate: boolean
}

/** The gate at which a new run waits; null: it can be claimed at once. */
export function gateOf(run: NewRun): 'time' | 'concurrency' | null {
  if (run.runAt !== undefined || run.debounce !== undefined || (run.delayMs ?? 0) > 0) return 'time'
  return run.concurrency === undefined ? null : 'concurrency'
}

/** How long after `now` a new run is due; undefined: it does not wait for its time. */
export function dueInMs({ runAt, debounce, delayMs }: NewRun, now: Date): number | undefined {
  if (runAt !== undefined) return Math.max(0, runAt.getTime() - now.getTime())
  return debounce?.forMs ?? (delayMs === 0 ? undefined : delayMs)
}

/**
 * Returns a concurrency key as it is stored: the scope is its first part, so equal keys of different scopes never
 * collide.
 */
export function storedKey({ scope, key }: { readonly scope: string; readonly key: string }): string {
  return `${scope}\u001f${key}`
}

/** Returns a throttle's key among the unique keys of its task: no name contains U+001F, so they never collide. */
export function throttleKey({ key }: { readonly key: string }): string {
  return `throttle\u001f${key}`
}

/**
 * Decides how many runs a thread is handed ahead: as many as fill one window of work, by the measured duration of their
 * tasks. So short runs keep a thread busy during an exchange, and a long run never waits behind another one.
 *
 * The replica starts runs ahead only during a backlog: without one, a waiting run could begin on an idle replica. If the
 * process dies, waiting runs count as started. So their number is bounded, and the bound is small for tasks that must not
 * start twice.
 */
import type { OptionData } from '@q/task'

export interface StartAheadOptions {
  /** The window: expected work that one thread may be handed. */
  readonly startAheadMs: number
  /** The most runs of one thread, including the executing one: for tasks with `onCrash: 'retry'`, and for others. */
  readonly startAheadRetryMax: number
  readonly startAheadFailMax: number
  /** For tasks that set no `onCrash`. */
  readonly onCrash: 'fail' | 'retry'
  readonly optionsOf: (task: string) => OptionData
}

/** The runs that one thread has been handed. */
export interface Load {
  runs: number
  /** Their expected duration. */
  ms: number
}

export interface StartAhead {
  /** Records the duration of a run. */
  record(task: string, tookMs: number): void
  /** The mean duration of the task; infinite if unknown. */
  expectedMs(task: string): number
  /** Whether a thread with this load may be handed another run of a short enough task. */
  hasRoom(load: Load): boolean
  /** Whether a thread with this load may be handed a run of this task. */
  fits(load: Load, task: string): boolean
}

/** The mean covers about this many runs. With a maximum, one slow run would shrink the batches. */
const meanOver = 16

export function createStartAhead(options: StartAheadOptions): StartAhead {
  const means = new Map<string, number>()

  function runsMax(task: string): number {
    const { isolation, startAhead, onCrash } = options.optionsOf(task)
    if (isolation === 'process') return 1
    const most = (onCrash ?? options.onCrash) === 'retry' ? options.startAheadRetryMax : options.startAheadFailMax
    return Math.min(startAhead ?? most, most)
  }

  const limits = new Map<string, number>()
  function limitOf(task: string): number {
    let limit = limits.get(task)
    if (limit === undefined) limits.set(task, (limit = runsMax(task)))
    return limit
  }

  function expectedMs(task: string): number {
    return means.get(task) ?? Number.POSITIVE_INFINITY
  }

  return {
    expectedMs,
    record(task, tookMs) {
      const mean = means.get(task)
      means.set(task, mean === undefined ? tookMs : mean + (tookMs - mean) / meanOver)
    },
    hasRoom,
    fits: (load, task) =>
      load.runs === 0 || (hasRoom(load) && load.runs < limitOf(task) && expectedMs(task) <= 2 * options.startAheadMs),
  }

  /** A thread whose only run takes about one window may be handed one more. */
  function hasRoom({ runs, ms }: Load): boolean {
    return ms < options.startAheadMs || (runs === 1 && ms <= 2 * options.startAheadMs)
  }
}

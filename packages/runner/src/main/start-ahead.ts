/**
 * How many runs are handed to a thread before their turn: as many as it is expected to need for one window of work, by
 * the measured duration of their tasks. So short runs keep a thread busy while the database is asked for more, and a long
 * run never waits behind another one.
 *
 * Ahead only with a backlog: without one, a run that waits here could begin on an idle replica. The price of a run that
 * waits is paid when the process dies: it counts as started, so the number of them is bounded, and for tasks that must
 * not be started twice the bound is small.
 */
import type { OptionData } from '@q/task'

export interface StartAheadOptions {
  /** Expected work that may be handed to one thread, in ms. */
  readonly startAheadMs: number
  /** Most runs of one thread, with the one that is executing: of tasks with `onCrash: 'retry'`, and of others. */
  readonly startAheadRetryMax: number
  readonly startAheadFailMax: number
  /** For tasks that set no `onCrash`. */
  readonly onCrash: 'fail' | 'retry'
  readonly optionsOf: (task: string) => OptionData
}

/** What one thread has been handed. */
export interface Load {
  runs: number
  /** Expected duration of all of them. */
  ms: number
}

export interface StartAhead {
  /** A run of the task took so long. */
  learn(task: string, tookMs: number): void
  /** Infinity: unknown, or never to be started ahead. */
  expectedMs(task: string): number
  /** Whether a thread that has been handed `load` may be handed another run, of a short enough task. */
  hasRoom(load: Load): boolean
  /** Whether it may be handed a run of this task. */
  fits(load: Load, task: string): boolean
}

/** A mean over about so many runs: a maximum would collapse the batch after one hiccup of the scheduler. */
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
    learn(task, tookMs) {
      const mean = means.get(task)
      means.set(task, mean === undefined ? tookMs : mean + (tookMs - mean) / meanOver)
    },
    hasRoom,
    fits: (load, task) =>
      load.runs === 0 || (hasRoom(load) && load.runs < limitOf(task) && expectedMs(task) <= 2 * options.startAheadMs),
  }

  /** One ahead of a thread whose run takes about as long as the window: 22 ms at a window of 25. */
  function hasRoom({ runs, ms }: Load): boolean {
    return ms < options.startAheadMs || (runs === 1 && ms <= 2 * options.startAheadMs)
  }
}

/** What a draining replica is ordered to do, as it reads it from the database. */
export interface DrainOrder {
  readonly by: string
  /** Null: it waits until its runs have finished. */
  readonly deadlineInMs: number | null
  readonly onDeadline: OnDeadline
}

/**
 * What becomes of the runs that are stopped at the deadline. `by-task`: those with `onCrash: 'retry'` are released, the others end
 * FAILED `DRAINED`; `release`: all are released; `fail`: all end FAILED `DRAINED`.
 */
export type OnDeadline = 'by-task' | 'release' | 'fail'

/** An order to drain, as the replica reads it from the database. */
export interface DrainOrder {
  readonly by: string
  /** Null: it waits until its runs have finished. */
  readonly deadlineInMs: number | null
  readonly onDeadline: OnDeadline
}

/**
 * What happens to the runs that the replica stops at the deadline. `by-task`: those with `onCrash: 'retry'` are released, the others end
 * FAILED `DRAINED`; `release`: all are released; `fail`: all end FAILED `DRAINED`.
 */
export type OnDeadline = 'by-task' | 'release' | 'fail'

/**
 * THE states and THE transitions.
 *
 * Everything that knows which change is legal derives from this table; the database's guard is held against it by a
 * test that tries every pair. Pure data: no clock, no SQL.
 */
export const taskStates = [
  'PENDING',
  'AVAILABLE',
  'CLAIMED',
  'RUNNING',
  'SUCCEEDED',
  'FAILED',
  'CANCELLED',
  'EXPIRED',
  'SKIPPED',
] as const
export type TaskState = (typeof taskStates)[number]

/** From each state, where it may go within one epoch. */
export const transitions = {
  PENDING: ['AVAILABLE', 'FAILED', 'CANCELLED', 'EXPIRED', 'SKIPPED'],
  AVAILABLE: ['PENDING', 'CLAIMED', 'RUNNING', 'FAILED', 'CANCELLED', 'EXPIRED', 'SKIPPED'],
  CLAIMED: ['PENDING', 'AVAILABLE', 'RUNNING', 'FAILED', 'CANCELLED', 'EXPIRED'],
  RUNNING: ['PENDING', 'AVAILABLE', 'SUCCEEDED', 'FAILED', 'CANCELLED'],
  SUCCEEDED: [],
  FAILED: [],
  CANCELLED: [],
  EXPIRED: [],
  SKIPPED: [],
} as const
transitions satisfies Record<TaskState, readonly TaskState[]>

/** A new run begins here; so does a terminal one that is retried by hand, in a new epoch. */
export const beginnings: readonly TaskState[] = ['PENDING', 'AVAILABLE']

export type TerminalState = { [S in TaskState]: (typeof transitions)[S] extends readonly [] ? S : never }[TaskState]

export function isTerminal(state: TaskState): state is TerminalState {
  return transitions[state].length === 0
}

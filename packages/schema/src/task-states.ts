/**
 * The states of a run and the transitions between them.
 *
 * Everything that decides whether a transition is legal derives from this table: the types, the guard in the database
 * (guard.ts), the diagram in docs/reference/states.md, and the tests, which try every pair of states and perform every
 * transition with a verb of the store. Pure data: no clock, no SQL.
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

/** From each state, where a run may go within one epoch, and what moves it there. */
export const transitionTable = {
  PENDING: {
    AVAILABLE: 'promote, task published, parents ended, workflow resumed',
    FAILED: 'map or sub-workflow failed, unroutable, invalid concurrency key',
    CANCELLED: 'cancel, map or sub-workflow cancelled',
    EXPIRED: 'expire',
    SKIPPED: 'parent did not succeed, condition not met, workflow failed, duplicate',
  },
  AVAILABLE: {
    PENDING: 'concurrency slot lost, workflow paused',
    CLAIMED: 'prefetch',
    RUNNING: 'claim',
    FAILED: 'unroutable',
    CANCELLED: 'cancel',
    EXPIRED: 'expire',
    SKIPPED: 'workflow failed',
  },
  CLAIMED: {
    PENDING: 'workflow paused',
    AVAILABLE: 'release, reap',
    RUNNING: 'start',
    CANCELLED: 'cancel, workflow failed',
    EXPIRED: 'expire',
  },
  RUNNING: {
    PENDING: 'retry, snooze',
    AVAILABLE: 'release, reap, crash',
    SUCCEEDED: 'finish, settle',
    FAILED: 'settle, reap, crash',
    CANCELLED: 'settle, and after a cancel request retry, snooze, release, reap, crash',
  },
  SUCCEEDED: {},
  FAILED: {},
  CANCELLED: {},
  EXPIRED: {},
  SKIPPED: {},
} as const
transitionTable satisfies Record<TaskState, Partial<Record<TaskState, string>>>

export const transitions: Readonly<Record<TaskState, readonly TaskState[]>> = Object.fromEntries(
  taskStates.map((from) => [from, taskStates.filter((to) => Object.hasOwn(transitionTable[from], to))]),
) as Record<TaskState, TaskState[]>

/** States in which a new run begins, and a terminal run that a user retries, in a new epoch. */
export const initialStates: readonly TaskState[] = ['PENDING', 'AVAILABLE']

/**
 * By how much each counter may change, and when. A new epoch starts both at 0; at all other times they keep their value.
 * The fence never decreases and changes only together with the state; the epoch changes only when a terminal run is
 * retried.
 */
export const counterRules = {
  attempt: { enteringRunning: 1, leavingRunning: -1 },
  crash_count: { enteringRunning: 0, leavingRunning: 1 },
} as const

/**
 * The transitions of nearly every run, with what they add to fence and attempt; epoch and crash count do not change. The
 * trigger accepts them by a short condition; its function checks all others against the whole table.
 */
export const usualChanges: readonly UsualChange[] = [
  { from: 'AVAILABLE', to: 'RUNNING', fence: 1, attempt: 1 },
  { from: 'RUNNING', to: 'SUCCEEDED', fence: 0, attempt: 0 },
]

export interface UsualChange {
  readonly from: TaskState
  readonly to: TaskState
  readonly fence: number
  readonly attempt: number
}

export type TerminalState = { [S in TaskState]: keyof (typeof transitionTable)[S] extends never ? S : never }[TaskState]

export function isTerminal(state: TaskState): state is TerminalState {
  return Object.keys(transitionTable[state]).length === 0
}

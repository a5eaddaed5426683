/**
 * THE states and THE transitions.
 *
 * Everything that knows which change is legal derives from this table: the types, the guard inside the database
 * (guard.ts), the picture in docs/reference/states.md, and the tests that try every pair. Pure data: no clock, no SQL.
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

/** From each state, where it may go within one epoch, and by which verbs. */
export const edges = {
  PENDING: {
    AVAILABLE: 'promote',
    FAILED: 'a map or sub-workflow step failed, unroutable',
    CANCELLED: 'cancel',
    EXPIRED: 'expire',
    SKIPPED: 'a needed parent did not succeed, a condition is false, or a duplicate',
  },
  AVAILABLE: {
    PENDING: 'give up the concurrency key, workflow paused',
    CLAIMED: 'claim ahead',
    RUNNING: 'claim and start',
    FAILED: 'unroutable',
    CANCELLED: 'cancel',
    EXPIRED: 'expire',
    SKIPPED: 'workflow failed',
  },
  CLAIMED: {
    PENDING: 'workflow paused',
    AVAILABLE: 'release, reap',
    RUNNING: 'start',
    CANCELLED: 'cancel',
    EXPIRED: 'expire',
  },
  RUNNING: {
    PENDING: 'retry later, snooze',
    AVAILABLE: 'release, reap',
    SUCCEEDED: 'settle',
    FAILED: 'settle, reap',
    CANCELLED: 'settle',
  },
  SUCCEEDED: {},
  FAILED: {},
  CANCELLED: {},
  EXPIRED: {},
  SKIPPED: {},
} as const
edges satisfies Record<TaskState, Partial<Record<TaskState, string>>>

export const transitions: Readonly<Record<TaskState, readonly TaskState[]>> = Object.fromEntries(
  taskStates.map((from) => [from, taskStates.filter((to) => Object.hasOwn(edges[from], to))]),
) as Record<TaskState, TaskState[]>

/** A new run begins here; so does a terminal one that is retried by hand, in a new epoch. */
export const beginnings: readonly TaskState[] = ['PENDING', 'AVAILABLE']

/**
 * What counts, and when it may change by how much. A new epoch starts both at 0; at all other times they stay.
 * The fence never falls and changes only together with the state; the epoch only when a terminal run begins again.
 */
export const counts = {
  attempt: { enteringRunning: 1, leavingRunning: -1 },
  crash_count: { enteringRunning: 0, leavingRunning: 1 },
} as const

/**
 * The changes that nearly all runs go through, with what they add to fence and attempt; epoch and crash count stay. The
 * database lets them pass by a short condition, and judges all others by the whole law.
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

export type TerminalState = { [S in TaskState]: keyof (typeof edges)[S] extends never ? S : never }[TaskState]

export function isTerminal(state: TaskState): state is TerminalState {
  return Object.keys(edges[state]).length === 0
}

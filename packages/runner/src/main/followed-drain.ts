/**
 * The drain that this replica follows: the last order of the database, or its own decision, which no order can undo. It
 * exists before all loops, because registration reports it and a stopped run needs its `onDeadline`.
 */
import type { DrainOrder, OnDeadline, CurrentDrain } from '@q/store'

export interface FollowedOrder {
  readonly by: string
  /** By the clock of this process; infinite: no deadline. */
  readonly deadlineMs: number
  readonly onDeadline: OnDeadline
}

export interface FollowedDrain {
  /** Undefined: no drain. */
  order(): FollowedOrder | undefined
  /** Replaces the order; undefined: the drain was undone. Returns whether the order has changed. */
  replace(next: FollowedOrder | undefined): boolean
  /** Converts an order of the database to the clock of this process. */
  toLocal(order: DrainOrder): FollowedOrder
  /** Returns an order of the replica itself. From now on no order of the database undoes the drain. */
  decide(deadlineMs: number): FollowedOrder
  isOwnDecision(): boolean
  /** From now on the drain can no longer be undone. */
  startLeaving(): void
  isLeaving(): boolean
  /** Whether an order has an earlier deadline than the current one. */
  isEarlier(order: FollowedOrder): boolean
  /** What happens to the runs that are stopped at the deadline. */
  onDeadline(): OnDeadline
  /** The drain as a replica that registers again reports it. */
  current(): CurrentDrain | undefined
}

/** Deadlines that differ by less belong to the same order. */
const sameDeadlineMs = 250

export function createFollowedDrain(nowMs: () => number): FollowedDrain {
  let order: FollowedOrder | undefined
  let ownDecision = false
  let leaving = false
  return {
    order: () => order,
    replace(next) {
      const before = order
      order = next
      return differs(before, next)
    },
    toLocal: ({ by, deadlineInMs, onDeadline }) => ({
      by,
      onDeadline,
      deadlineMs: nowMs() + (deadlineInMs ?? Number.POSITIVE_INFINITY),
    }),
    decide(deadlineMs) {
      ownDecision = true
      return { by: 'itself', deadlineMs, onDeadline: 'by-task' }
    },
    isOwnDecision: () => ownDecision,
    startLeaving: () => void (leaving = true),
    isLeaving: () => leaving,
    isEarlier: ({ deadlineMs }) => order !== undefined && deadlineMs < order.deadlineMs - sameDeadlineMs,
    onDeadline: () => order?.onDeadline ?? 'by-task',
    current() {
      if (order === undefined) return undefined
      const { by, onDeadline, deadlineMs } = order
      return {
        by,
        onDeadline,
        leaving: ownDecision || leaving,
        ...(deadlineMs === Number.POSITIVE_INFINITY ? {} : { deadlineMs: Math.max(0, deadlineMs - nowMs()) }),
      }
    },
  }
}

function differs(before: FollowedOrder | undefined, next: FollowedOrder | undefined): boolean {
  if (before === undefined || next === undefined) return before !== next
  const byMs = Math.abs(before.deadlineMs - next.deadlineMs)
  return before.onDeadline !== next.onDeadline || before.by !== next.by || byMs > sameDeadlineMs
}

/**
 * A drain: the replica stops claiming, releases runs that have not started, lets its runs finish, and leaves. At the deadline, if
 * there is one, it stops the remaining runs; heartbeats stop last.
 *
 * Until it leaves, a drain that was ordered can be undone, and the last order counts. The database decides: the replica leaves only
 * if its conditional update succeeds (`leaveIfOrdered`), and asks again while the database is away. A signal cannot be undone: its
 * deadline is this replica's own, and a later order can only bring it forward, because a supervisor waits for the process to end.
 *
 * Every step of leaving has a limit, so a database that is gone or frozen does not keep the process alive. A run whose code could
 * not be stopped, or whose outcome could not be written, is left behind: the replica then does not retire and keeps its session,
 * which ends with the process; other replicas recover the run after that.
 */
import type { DrainOrder, LeaveDecision, OnDeadline, StandingDrain } from '@q/store'
import type { Observe } from './events.ts'
import { pause, within } from './loop.ts'
import type { PulseBoard } from './pulse-board.ts'
import type { Slots } from './slots.ts'

export interface DrainDeps {
  readonly slots: Slots
  readonly pulseBoard: PulseBoard
  readonly observe: Observe
  readonly nowMs: () => number
  /** The deadline of a drain that this process decides itself. */
  readonly drainMs: number
  /** How long the code of a run may take to stop. */
  readonly stopGraceMs: number
  /** No run starts until `resumeIntake`. */
  readonly pauseIntake: () => Promise<unknown>
  readonly resumeIntake: () => void
  /** Releases runs that have not started; returns how many it still holds, because other transactions have locked them. */
  readonly giveBackUnbegun: () => Promise<number>
  /** Tells other replicas that this one leaves by its own decision. */
  readonly announce: (deadlineMs: number) => Promise<void>
  readonly leaveIfOrdered: (finished: boolean) => Promise<LeaveDecision>
  readonly stopIntake: () => Promise<unknown>
  /** Ends the work that this replica does for others. */
  readonly stopWatching: () => Promise<unknown>
  /** Ends the heartbeats of the replica and of its runs. */
  readonly stopBeats: () => Promise<unknown>
  readonly retire: () => Promise<void>
  readonly closeSession: () => void
  readonly closeAll: () => Promise<void>
}

export interface Departure {
  /** Runs that could not be stopped or settled; other replicas recover them. */
  readonly runsLeftBehind: number
  /** Whether it left because the database demands a newer release of this program. */
  readonly tooOld: boolean
}

export interface Drain {
  /** The order that the database holds, as each heartbeat reports it; null: none. */
  onOrder(order: DrainOrder | null): void
  /** SIGTERM: leaves within `drainMs`; the second time, now. */
  signal(): Promise<Departure>
  /** The database demands a newer release: leaves within `drainMs`. */
  tooOld(): void
  /** What happens to the runs that it stops at the deadline. */
  onDeadline(): OnDeadline
  /** The order that it follows, for a replica that has to register again. */
  standing(): StandingDrain | undefined
  readonly left: Promise<Departure>
}

interface Order {
  readonly by: string
  readonly deadlineMs: number
  readonly onDeadline: OnDeadline
}

const stepMsMax = 3_000
const askAgainMs = 250
/** For runs to stop and their outcomes to be written; then the process leaves without them. */
const lastMsMin = 10_000
const writeMsMax = 5_000
/** How many of the runs that the drain waits for an event names. */
const runsNamedMax = 20
/** Orders of two heartbeats that differ by less are the same order. */
const sameDeadlineMs = 250

export function createDrain(deps: DrainDeps): Drain {
  const { promise: left, resolve: hasLeft } = Promise.withResolvers<Departure>()
  let order: Order | undefined
  let draining = false
  /** It leaves by its own decision, and no order changes that. */
  let ownDecision = false
  /** It leaves or has left: the drain can no longer be undone. */
  let leaving = false
  let signals = 0
  let tooOld = false
  let changed = new AbortController()

  async function drain(): Promise<void> {
    const begunMs = deps.nowMs()
    await bounded(deps.pauseIntake())
    observeOrder('draining')
    await bounded(deps.giveBackUnbegun())
    if (await decidesToLeave()) hasLeft({ runsLeftBehind: await leave(begunMs), tooOld })
    else resume()
  }

  function resume(): void {
    draining = false
    deps.resumeIntake()
    deps.observe({ type: 'drain-undone' })
  }

  /** Waits until the replica may leave. False: the drain was undone. */
  async function decidesToLeave(): Promise<boolean> {
    const allFree = deps.slots.allFree()
    for (;;) {
      if (order === undefined) return false
      const finished = deps.slots.busy() === 0
      if (finished || order.deadlineMs <= deps.nowMs()) {
        leaving = ownDecision || (await asksToLeave(finished))
        if (leaving) return true
      } else await within(order.deadlineMs - deps.nowMs(), allFree, changed.signal)
    }
  }

  async function asksToLeave(finished: boolean): Promise<boolean> {
    try {
      const answer = await deps.leaveIfOrdered(finished)
      // A signal that came in the meantime decides; the question was about the order before it.
      if (ownDecision) return false
      if (answer.decision === 'unknown') return true
      follow(answer.decision === 'claiming' ? undefined : localOrder(answer.order))
      return answer.decision === 'leaving'
    } catch (error) {
      deps.observe({ type: 'drain-step-failed', error })
      await pause(askAgainMs, changed.signal)
      return false
    }
  }

  async function leave(begunMs: number): Promise<number> {
    await stopRemaining()
    const [unreleased = 0] = await Promise.all([
      // Again: a last claim may have been slow, or the database away.
      bounded(deps.giveBackUnbegun()),
      bounded(deps.stopIntake()),
      bounded(deps.stopWatching()),
    ])
    await bounded(deps.stopBeats())
    const leftBehind = deps.slots.runs() + unreleased
    if (leftBehind === 0) {
      await bounded(deps.retire())
      deps.closeSession()
    }
    await bounded(deps.closeAll())
    const tookMs = Math.round(deps.nowMs() - begunMs)
    deps.observe(
      leftBehind === 0 ? { type: 'drained', tookMs } : { type: 'left-runs-behind', running: leftBehind, tookMs },
    )
    return leftBehind
  }

  async function stopRemaining(): Promise<void> {
    if (deps.slots.busy() === 0) return
    deps.observe({ type: 'drain-cut-short', running: deps.slots.runs() })
    for (const running of deps.pulseBoard.all()) running.stop('replica draining')
    await within(Math.max(lastMsMin, deps.stopGraceMs + writeMsMax), deps.slots.allFree())
  }

  /** The result of the step; undefined if it failed or took too long. */
  async function bounded<T>(step: Promise<T>): Promise<T | undefined> {
    const failed = (error: unknown) => {
      deps.observe({ type: 'drain-step-failed', error })
      return undefined
    }
    return within(stepMsMax, step.catch(failed))
  }

  /** Applies an order; undefined: the drain was undone. */
  function follow(next: Order | undefined): void {
    if (leaving) return
    const before = order
    order = next
    if (next !== undefined && !draining) {
      draining = true
      void drain()
    } else if (differs(before, next)) {
      if (next !== undefined) observeOrder('drain-changed')
      changed.abort()
      changed = new AbortController()
    }
  }

  function leaveBy(deadlineMs: number): void {
    ownDecision = true
    follow({ by: 'itself', deadlineMs, onDeadline: 'by-task' })
  }

  function leaveAnnounced(): void {
    if (leaving) return
    void bounded(deps.announce(deps.drainMs))
    leaveBy(deps.nowMs() + deps.drainMs)
  }

  function localOrder({ by, deadlineInMs, onDeadline }: DrainOrder): Order {
    return { by, onDeadline, deadlineMs: deps.nowMs() + (deadlineInMs ?? Number.POSITIVE_INFINITY) }
  }

  function observeOrder(type: 'draining' | 'drain-changed'): void {
    const { by, deadlineMs, onDeadline } = order ?? { by: 'unknown', deadlineMs: deps.nowMs(), onDeadline: 'by-task' }
    const inMs = Math.max(0, Math.round(deadlineMs - deps.nowMs()))
    deps.observe({
      type,
      by,
      onDeadline,
      running: deps.slots.runs(),
      drainMs: Number.isFinite(inMs) ? inMs : null,
      runs: deps.pulseBoard
        .all()
        .slice(0, runsNamedMax)
        .map(({ lease, facts }) => ({ runId: lease.runId, task: facts.task })),
    })
  }

  return {
    left,
    onDeadline: () => order?.onDeadline ?? 'by-task',
    standing() {
      if (order === undefined) return undefined
      const { by, onDeadline, deadlineMs } = order
      const isOpen = deadlineMs === Number.POSITIVE_INFINITY
      return {
        by,
        onDeadline,
        leaving: ownDecision || leaving,
        ...(isOpen ? {} : { deadlineMs: Math.max(0, deadlineMs - deps.nowMs()) }),
      }
    },
    onOrder(received) {
      if (received === null) return ownDecision ? undefined : follow(undefined)
      const ordered = localOrder(received)
      if (!ownDecision) follow(ordered)
      else if (order !== undefined && ordered.deadlineMs < order.deadlineMs - sameDeadlineMs) follow(ordered)
    },
    signal() {
      if (++signals === 1) leaveAnnounced()
      else leaveBy(deps.nowMs())
      return left
    },
    tooOld() {
      if (tooOld) return
      tooOld = true
      deps.observe({ type: 'program-too-old' })
      if (!ownDecision) leaveAnnounced()
    },
  }
}

function differs(before: Order | undefined, next: Order | undefined): boolean {
  if (before === undefined || next === undefined) return before !== next
  const byMs = Math.abs(before.deadlineMs - next.deadlineMs)
  return before.onDeadline !== next.onDeadline || before.by !== next.by || byMs > sameDeadlineMs
}

/**
 * A drain: the replica stops claiming, releases runs that have not started, lets its runs finish, and leaves
 * (leave-steps.ts). At the deadline, if there is one, it stops the remaining runs.
 *
 * Until the replica leaves, an ordered drain can be undone, and the last order counts. The database decides: the replica
 * leaves only if its conditional update succeeds (`leaveIfOrdered`), and retries while the database is unreachable. A
 * signal cannot be undone, because a supervisor waits for the process to exit; a later order can only bring its deadline
 * forward.
 */
import type { DrainOrder, LeaveDecision } from '@q/store'
import type { FollowedDrain, FollowedOrder } from './followed-drain.ts'
import { withinStepLimit, leave, type LeaveDeps } from './leave-steps.ts'
import { pause, within } from './loop.ts'

export interface DrainDeps extends LeaveDeps {
  readonly followed: FollowedDrain
  /** The time until the deadline of a drain that this process decides itself. */
  readonly drainMs: number
  /** No run starts until `resumeIntake`. */
  readonly pauseIntake: () => Promise<unknown>
  readonly resumeIntake: () => void
  /** Announces to other replicas that this one leaves by its own decision. */
  readonly announce: (deadlineMs: number) => Promise<void>
  readonly leaveIfOrdered: (finished: boolean) => Promise<LeaveDecision>
}

export interface Departure {
  /** Runs that could not be stopped or settled; other replicas recover them. */
  readonly runsLeftBehind: number
  /** Whether the replica left because the database requires a newer release of this program. */
  readonly tooOld: boolean
}

export interface Drain {
  /** The order that the database holds, as each heartbeat reports it; null: none. */
  onOrder(order: DrainOrder | null): void
  /** SIGTERM: leaves within `drainMs`; the second call leaves now. */
  signal(): Promise<Departure>
  /** The database requires a newer release: leaves within `drainMs`. */
  tooOld(): void
  readonly left: Promise<Departure>
}

const askAgainMs = 250
/** The most runs that a drain event names. */
const runsNamedMax = 20

export function createDrain(deps: DrainDeps): Drain {
  const { followed, slots, observe, nowMs } = deps
  const { promise: left, resolve: hasLeft } = Promise.withResolvers<Departure>()
  let draining = false
  let signals = 0
  let tooOld = false
  let changed = new AbortController()

  async function drain(): Promise<void> {
    const begunMs = nowMs()
    await withinStepLimit(observe, deps.pauseIntake())
    observeOrder(deps, 'draining')
    await withinStepLimit(observe, deps.releaseUnstarted())
    if (await decidesToLeave()) return hasLeft({ runsLeftBehind: await leave(deps, begunMs), tooOld })
    draining = false
    deps.resumeIntake()
    observe({ type: 'drain-undone' })
  }

  /** Waits until the replica may leave. False: the drain was undone. */
  async function decidesToLeave(): Promise<boolean> {
    const allFree = slots.allFree()
    for (;;) {
      const order = followed.order()
      if (order === undefined) return false
      const finished = slots.busy() === 0
      if (!finished && order.deadlineMs > nowMs()) {
        await within(order.deadlineMs - nowMs(), allFree, changed.signal)
        continue
      }
      const answer = followed.isOwnDecision() ? 'leave' : await askToLeave(deps, finished, follow)
      if (answer === 'unanswered') await pause(askAgainMs, changed.signal)
      if (answer !== 'leave') continue
      followed.startLeaving()
      return true
    }
  }

  /** Applies an order; undefined: the drain was undone. */
  function follow(next: FollowedOrder | undefined): void {
    if (followed.isLeaving()) return
    const hasChanged = followed.replace(next)
    if (next !== undefined && !draining) {
      draining = true
      void drain()
    } else if (hasChanged) {
      if (next !== undefined) observeOrder(deps, 'drain-changed')
      changed.abort()
      changed = new AbortController()
    }
  }

  function leaveAnnounced(): void {
    if (followed.isLeaving()) return
    void withinStepLimit(observe, deps.announce(deps.drainMs))
    follow(followed.decide(nowMs() + deps.drainMs))
  }

  return {
    left,
    onOrder(received) {
      if (received === null) return followed.isOwnDecision() ? undefined : follow(undefined)
      const ordered = followed.toLocal(received)
      if (!followed.isOwnDecision() || followed.isEarlier(ordered)) follow(ordered)
    },
    signal() {
      if (++signals === 1) leaveAnnounced()
      else follow(followed.decide(nowMs()))
      return left
    },
    tooOld() {
      if (tooOld) return
      tooOld = true
      observe({ type: 'program-too-old' })
      if (!followed.isOwnDecision()) leaveAnnounced()
    },
  }
}

/** Asks the database whether the replica may leave, and follows the order in the response. */
async function askToLeave(
  { followed, observe, leaveIfOrdered }: DrainDeps,
  finished: boolean,
  follow: (order: FollowedOrder | undefined) => void,
): Promise<'leave' | 'stay' | 'unanswered'> {
  try {
    const answer = await leaveIfOrdered(finished)
    // A signal that arrived in the meantime takes precedence over the order.
    if (followed.isOwnDecision()) return 'stay'
    if (answer.decision === 'unknown') return 'leave'
    follow(answer.decision === 'claiming' ? undefined : followed.toLocal(answer.order))
    return answer.decision === 'leaving' ? 'leave' : 'stay'
  } catch (error) {
    observe({ type: 'drain-step-failed', error })
    return 'unanswered'
  }
}

function observeOrder(
  { followed, slots, runMonitors, observe, nowMs }: DrainDeps,
  type: 'draining' | 'drain-changed',
): void {
  const { by, deadlineMs } = followed.order() ?? { by: 'unknown', deadlineMs: nowMs() }
  const inMs = Math.max(0, Math.round(deadlineMs - nowMs()))
  const named = runMonitors.all().slice(0, runsNamedMax)
  observe({
    type,
    by,
    onDeadline: followed.onDeadline(),
    running: slots.runs(),
    drainMs: Number.isFinite(inMs) ? inMs : null,
    runs: named.map(({ lease, facts }) => ({ runId: lease.runId, task: facts.task })),
  })
}

/**
 * The heartbeat of the replica, from the main thread, and what its response reports: the database's clock, whether a drain
 * is ordered, whether this program is too old, and whether the row of the replica is missing. After it the replica compares
 * the runs it holds with the runs it executes.
 *
 * A failed beat is told, counted, tried again soon, written down once the database answers, and never fatal.
 */
import type { DrainOrder, HeartbeatFailure, Store } from '@q/store'
import { errorWords } from '../../error-words.ts'
import type { DatabaseClock } from '../database-clock.ts'
import type { Observe } from '../events.ts'
import { after, type Next } from '../loop.ts'
import type { OwnPresence } from '../presence.ts'
import type { Slots } from '../slots.ts'
import type { Trust } from '../trust.ts'
import type { Vitals } from '../vitals.ts'

export interface HeartbeatDeps {
  readonly control: Store
  readonly slots: Slots
  readonly vitals: Vitals
  readonly trust: Trust
  readonly databaseClock: DatabaseClock
  readonly presence: OwnPresence
  readonly nowMs: () => number
  readonly replicaId: string
  readonly beatEveryMs: number
  /** What each thread is doing. */
  readonly threads: () => readonly object[]
  readonly observe: Observe
  /** With every response: the drain that is ordered, or null. */
  readonly onDrainOrder: (order: DrainOrder | null) => void
  /** The database demands a newer release of this program. */
  readonly onTooOld: () => void
  /** Its row is gone, or it was taken for stopped. */
  readonly introduceAgain: () => Promise<void>
  /** This heartbeat withdraws the presence record. */
  readonly onWithdrawing: () => void
  readonly reconcile: () => Promise<void>
  /** It was judged anew. */
  readonly onJudged: () => void
  /** The first beat after failed ones was accepted. */
  readonly onBack: () => void
}

export interface Heartbeat {
  tick(): Promise<Next>
}

const failuresKeptMax = 100
const retryMs = { first: 200, max: 5_000 }

export function createHeartbeat(deps: HeartbeatDeps): Heartbeat {
  let failures: { atMs: number; consecutive: number; error: string }[] = []
  let consecutive = 0

  async function beat(): Promise<void> {
    const sentMs = deps.nowMs()
    const withdrawPresence = deps.presence.mustWithdraw()
    if (withdrawPresence) deps.onWithdrawing()
    deps.vitals.look()
    deps.onJudged()
    const answer = await deps.control.upsertReplicaHeartbeat(
      deps.replicaId,
      {
        ...deps.vitals.read(),
        activeRuns: deps.slots.busy(),
        freeSlots: deps.slots.free(),
        threads: deps.threads(),
      },
      { withdrawPresence },
    )
    const jumpedMs = deps.databaseClock.heard({ clockMs: answer.clockMs, sentMs, heardMs: deps.nowMs() })
    if (jumpedMs !== undefined) {
      deps.trust.beatFailed()
      deps.observe({ type: 'database-clock-jumped', byMs: jumpedMs })
    }
    deps.trust.beatAccepted(sentMs)
    if (withdrawPresence) deps.presence.withdrawn(sentMs)
    if (!answer.known) await deps.introduceAgain()
    else deps.onDrainOrder(answer.draining)
    if (answer.tooOld) deps.onTooOld()
  }

  async function recordFailures(): Promise<void> {
    if (failures.length === 0) return
    const nowMs = deps.nowMs()
    const told: HeartbeatFailure[] = failures.map(({ atMs, ...failure }) => ({ ...failure, agoMs: nowMs - atMs }))
    await deps.control.recordHeartbeatFailures(deps.replicaId, told)
    failures = []
  }

  function failed(error: unknown): Next {
    deps.trust.beatFailed()
    consecutive++
    failures = [...failures, { atMs: deps.nowMs(), consecutive, error: errorWords(error) }].slice(-failuresKeptMax)
    const worstMs = Math.min(retryMs.max, retryMs.first * 2 ** (consecutive - 1), deps.beatEveryMs)
    const retryInMs = Math.round(worstMs * (0.5 + Math.random() / 2))
    deps.observe({ type: 'beat-failed', consecutive, error, retryInMs })
    return after(retryInMs)
  }

  return {
    async tick() {
      try {
        await beat()
      } catch (error) {
        return failed(error)
      }
      if (consecutive > 0) {
        deps.observe({ type: 'beat-accepted-again', failed: consecutive })
        deps.onBack()
      }
      consecutive = 0
      // First what runs need; what is written for people may fail.
      await deps.reconcile()
      await recordFailures()
      return after(deps.beatEveryMs)
    },
  }
}

/**
 * The heartbeat of the replica, sent from the main thread. Its response reports the database's clock, a drain order,
 * whether this program is too old, and whether the row of the replica is missing. After each heartbeat the replica
 * compares the runs it holds with the runs it executes.
 *
 * A failed heartbeat never ends the replica: it is reported, retried soon, and recorded once the database answers.
 * Several consecutive failures raise one alert; the next success resets the count.
 */
import type { DrainOrder, HeartbeatFailure, Store } from '@q/store'
import { errorMessage } from '../../output/error-message.ts'
import type { DatabaseClock } from './database-clock.ts'
import { backoffMs } from '../backoff.ts'
import type { Observe } from '../events.ts'
import { after, type Next } from '../loop.ts'
import type { OwnPresence } from './own-presence.ts'
import type { Slots } from '../dispatch/slots.ts'
import type { BeatStreak } from './beat-streak.ts'
import { alertAfterFailures, keepFailure } from './kept-failures.ts'
import { beatInMs } from '../stats/health.ts'
import type { ProcessStats } from '../stats/process-stats.ts'

export interface HeartbeatDeps {
  readonly control: Store
  readonly slots: Slots
  readonly processStats: ProcessStats
  readonly streak: BeatStreak
  readonly databaseClock: DatabaseClock
  readonly presence: OwnPresence
  readonly nowMs: () => number
  readonly replicaId: string
  readonly beatEveryMs: number
  /** What each thread is doing. */
  readonly slotStats: () => readonly object[]
  readonly observe: Observe
  /** Called with every response: the drain order, or null. */
  readonly onDrainOrder: (order: DrainOrder | null) => void
  /** The database requires a newer release of this program. */
  readonly onTooOld: () => void
  /** The row of the replica is missing, or says that the replica has stopped. */
  readonly registerAgain: () => Promise<void>
  /** This heartbeat withdraws the presence record. */
  readonly onWithdrawing: () => void
  /** No record of an earlier session is left. */
  readonly onWithdrawn: () => void
  readonly reconcile: () => Promise<void>
  /** The health was judged again. */
  readonly onJudged: () => void
  /** The database accepted the first heartbeat after failed ones. */
  readonly onBack: () => void
}

export interface HeartbeatLoop {
  tick(): Promise<Next>
}

const retry = { firstMs: 200, msMax: 5_000 }

export function createHeartbeat(deps: HeartbeatDeps): HeartbeatLoop {
  let failures: { atMs: number; consecutive: number; error: string }[] = []
  let consecutive = 0

  async function beat(): Promise<void> {
    const sentMs = deps.nowMs()
    const withdrawPresence = deps.presence.mustWithdraw()
    if (withdrawPresence) deps.onWithdrawing()
    deps.processStats.look()
    deps.onJudged()
    const answer = await deps.control.upsertReplicaHeartbeat(
      deps.replicaId,
      {
        ...deps.processStats.read(),
        activeRuns: deps.slots.busy(),
        freeSlots: deps.slots.free(),
        threads: deps.slotStats(),
      },
      { withdrawPresence },
    )
    const receivedMs = deps.nowMs()
    deps.observe({ type: 'beat-accepted', tookMs: receivedMs - sentMs })
    const jumpedMs = deps.databaseClock.record({ clockMs: answer.clockMs, sentMs, receivedMs })
    if (jumpedMs !== undefined) {
      deps.streak.beatFailed()
      deps.observe({ type: 'database-clock-jumped', byMs: jumpedMs })
    }
    deps.streak.beatAccepted(sentMs)
    if (withdrawPresence) deps.presence.withdrawn(sentMs)
    if (!deps.presence.mustWithdraw()) deps.onWithdrawn()
    if (!answer.known) await deps.registerAgain()
    else deps.onDrainOrder(answer.draining)
    if (answer.tooOld) deps.onTooOld()
  }

  async function recordFailures(): Promise<void> {
    if (failures.length === 0) return
    const nowMs = deps.nowMs()
    const reported: HeartbeatFailure[] = failures.map(({ atMs, ...failure }) => ({ ...failure, agoMs: nowMs - atMs }))
    await deps.control.recordHeartbeatFailures(deps.replicaId, reported)
    failures = []
  }

  function failed(error: unknown): Next {
    deps.streak.beatFailed()
    consecutive++
    failures = keepFailure(failures, { atMs: deps.nowMs(), consecutive, error: errorMessage(error) })
    const retryInMs = backoffMs({ ...retry, msMax: Math.min(retry.msMax, deps.beatEveryMs) }, consecutive)
    deps.observe({ type: 'beat-failed', consecutive, error, retryInMs })
    if (consecutive === alertAfterFailures) deps.observe({ type: 'heartbeat-alert', consecutive, error })
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
      // Runs first: recording failures is for people, and may fail.
      await deps.reconcile()
      await recordFailures()
      return after(beatInMs(deps.processStats.health(), deps.beatEveryMs))
    },
  }
}

/**
 * The loops that show other replicas that this replica is alive: its heartbeat, and the session that holds its presence lock
 * and receives wakes.
 */
import { openReplicaSession, type BeatSender, type ReplicaRegistration, type Store } from '@q/store'
import type { Slots } from '../dispatch/slots.ts'
import type { Observe } from '../events.ts'
import type { FollowedDrain } from '../followed-drain.ts'
import type { StartLoop } from '../loop.ts'
import type { ConnectedSignals } from '../signals.ts'
import { createHealthWatch } from '../stats/health-watch.ts'
import type { CountRecovered } from '../stats/count-recovered.ts'
import type { ProcessStats } from '../stats/process-stats.ts'
import type { SlotStats } from '../stats/slot-stats.ts'
import type { BeatStreak } from './beat-streak.ts'
import type { DatabaseClock } from './database-clock.ts'
import { handleWake } from './handle-wake.ts'
import { createHeartbeat } from './heartbeat.ts'
import type { HeldRuns } from './held-runs.ts'
import type { OwnPresence } from './own-presence.ts'
import { createPresenceSession } from './presence-session.ts'
import { reconcile } from './reconcile.ts'
import type { RunMonitors } from './run-monitors.ts'

export interface ReplicaLivenessDeps {
  readonly control: Store
  readonly registration: ReplicaRegistration
  readonly sender: BeatSender
  /** The number of its presence lock. */
  readonly num: number
  readonly sessionUrl: string
  readonly beatEveryMs: number
  readonly slots: Slots
  readonly processStats: ProcessStats
  readonly slotStats: () => readonly SlotStats[]
  readonly beats: BeatStreak
  readonly databaseClock: DatabaseClock
  readonly presence: OwnPresence
  readonly presenceStreak: BeatStreak
  readonly heldRuns: HeldRuns
  readonly runMonitors: RunMonitors
  /** The drain to report when it registers again. */
  readonly followed: Pick<FollowedDrain, 'current'>
  readonly checkForCancels: () => void
  readonly countRecovered: CountRecovered
  /** Releases all runs that wait here and have not begun. */
  readonly releaseWaiting: () => Promise<void>
  readonly signals: ConnectedSignals
  readonly startLoop: StartLoop
  readonly observe: Observe
  readonly nowMs: () => number
}

export interface ReplicaLiveness {
  /** Replaces the session, even if it seems to work. */
  failSession(error: unknown): void
  closeSession(): void
  stop(): Promise<unknown>
}

export function startReplicaLiveness(deps: ReplicaLivenessDeps): ReplicaLiveness {
  const { signals, observe, nowMs, presence, sender, startLoop } = deps
  const { replicaId } = sender
  let { num } = deps
  const beat = () => heartbeatLoop.wake()
  const session = createPresenceSession({
    open: (handlers) => openReplicaSession(deps.sessionUrl, { id: replicaId, num }, handlers),
    presence,
    nowMs,
    observe,
    onWake: (wake) =>
      handleWake({ replicaId, serves: deps.registration, signals, beat, checkForCancels: deps.checkForCancels }, wake),
    onOpen() {
      beat()
      deps.checkForCancels()
      signals.lookEverywhere()
      signals.destinationsChanged()
    },
    onLost() {
      deps.presenceStreak.beatFailed() // even if there is a new session by the next round of the watch
      beat()
      sessionLoop.wake()
    },
    onExposed: beat,
  })
  const heartbeat = createHeartbeat({
    ...heartbeatDeps(deps),
    onWithdrawing: session.withdrawing,
    onWithdrawn: session.withdrawn,
    async registerAgain() {
      const registered = await registerAgain(deps)
      if (registered.num === num) return
      num = registered.num
      session.renew()
      sessionLoop.wake()
    },
  })
  const heartbeatLoop = startLoop('heartbeat', heartbeat.tick)
  const sessionLoop = startLoop('presence-session', session.tick)
  signals.connect({
    suspended() {
      beat()
      sessionLoop.wake()
    },
  })
  return {
    failSession: session.fail,
    closeSession: session.close,
    stop: () => Promise.all([sessionLoop.stop(), heartbeatLoop.stop()]),
  }
}

type HeartbeatDeps = Parameters<typeof createHeartbeat>[0]

function heartbeatDeps(
  deps: ReplicaLivenessDeps,
): Omit<HeartbeatDeps, 'onWithdrawing' | 'onWithdrawn' | 'registerAgain'> {
  const { control, sender, heldRuns, runMonitors, observe, signals, processStats, releaseWaiting, countRecovered } =
    deps
  const onReleased = signals.runsReady
  return {
    control,
    slots: deps.slots,
    processStats,
    streak: deps.beats,
    databaseClock: deps.databaseClock,
    presence: deps.presence,
    nowMs: deps.nowMs,
    replicaId: sender.replicaId,
    beatEveryMs: deps.beatEveryMs,
    slotStats: deps.slotStats,
    observe,
    onDrainOrder: signals.drainOrdered,
    onTooOld: signals.programTooOld,
    reconcile: () => reconcile({ control, heldRuns, runMonitors, sender, observe, onReleased, countRecovered }),
    onJudged: createHealthWatch({ processStats, observe, releaseWaiting, onChanged: signals.runsReady }),
    onBack: signals.runsReady,
  }
}

/** Registers again: the row of this replica is missing, or says that the replica has stopped. */
async function registerAgain(deps: ReplicaLivenessDeps): ReturnType<Store['registerReplica']> {
  const { control, registration, followed, observe, signals } = deps
  const draining = followed.current()
  const registered = await control.registerReplica({ ...registration, ...(draining && { draining }) })
  observe({ type: 'registered-again', name: registered.name })
  signals.lookEverywhere() // its idle mark was removed with its row
  return registered
}

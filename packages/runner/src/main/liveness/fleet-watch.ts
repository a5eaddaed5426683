/** The loops that recover runs of other replicas: those without presence, and those whose heartbeats stopped. */
import { deputyOf, type Store } from '@q/store'
import type { RunnerConfig } from '../../settings/config.ts'
import type { Observe } from '../events.ts'
import type { StartLoop } from '../loop.ts'
import type { Signals } from '../signals.ts'
import type { CountRecovered } from '../stats/count-recovered.ts'
import type { BeatStreak } from './beat-streak.ts'
import type { DatabaseClock } from './database-clock.ts'
import type { OwnPresence } from './own-presence.ts'
import { createPresenceWatch } from './presence-watch.ts'
import { dutyOf, reapGone, reapTick, type ReapDeps } from './reap.ts'

export interface FleetWatchDeps {
  readonly control: Store
  readonly store: Store
  readonly replicaId: string
  readonly config: Pick<RunnerConfig, 'preset' | 'autoRequeueStaleClaimed' | 'autoFailStaleRunning'>
  readonly beats: BeatStreak
  readonly databaseClock: DatabaseClock
  readonly presence: OwnPresence
  readonly presenceStreak: BeatStreak
  /** The presence lock of this replica is gone, although its session seemed to work. */
  readonly failSession: (error: unknown) => void
  readonly signals: Pick<Signals, 'runsReady'>
  readonly countRecovered: CountRecovered
  readonly startLoop: StartLoop
  readonly observe: Observe
  readonly nowMs: () => number
}

export interface FleetWatch {
  /** Stops the loops and hands the duties to other replicas. */
  stop(): Promise<void>
}

export function startFleetWatch(deps: FleetWatchDeps): FleetWatch {
  const { control, replicaId, startLoop } = deps
  const reap = reapDeps(deps)
  const watchDuty = dutyOf('presence', reap.states)
  const duties = [watchDuty, deputyOf(watchDuty), dutyOf('reap', reap.states)]
  const presenceWatch = createPresenceWatch({
    control,
    replicaId,
    duty: watchDuty,
    presence: deps.presence,
    streak: deps.presenceStreak,
    nowMs: deps.nowMs,
    onSelfGone: () => deps.failSession(new Error('The presence lock is gone, although the session seemed to work.')),
    reap: (overdue) => reapGone(reap, overdue),
  })
  const loops = [startLoop('presence-watch', presenceWatch.tick), startLoop('reap', () => reapTick(reap))]
  return {
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()))
      await Promise.all(duties.map((name) => control.releaseDuty({ name, holder: replicaId })))
    },
  }
}

function reapDeps(deps: FleetWatchDeps): ReapDeps {
  const { config, beats, databaseClock, nowMs } = deps
  const { thresholds } = config.preset
  return {
    control: deps.control,
    store: deps.store,
    replicaId: deps.replicaId,
    checkEveryMs: thresholds.checkEveryMs,
    states: [
      ...(config.autoRequeueStaleClaimed ? (['CLAIMED'] as const) : []),
      ...(config.autoFailStaleRunning ? (['RUNNING'] as const) : []),
    ],
    unbrokenMs: () => beats.unbrokenForMs(nowMs()),
    sharedMsMax: () => databaseClock.sinceStepMs(nowMs()),
    clockMsMin: () => databaseClock.earliestMs(nowMs()),
    clockMsMax: () => databaseClock.latestMs(nowMs()),
    unbrokenMsMin: thresholds.replicaStaleMs,
    observe: deps.observe,
    async onRecovered(ids) {
      deps.signals.runsReady()
      await deps.countRecovered(ids)
    },
  }
}

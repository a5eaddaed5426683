/**
 * The database part of a monitor: registers the worker as a replica, and runs the same reaper as every replica. A
 * failed heartbeat or search is counted, and the next one tries again.
 */
import type { HeartbeatData, Store } from '@q/store'
import { createBeatStreak } from '../main/liveness/beat-streak.ts'
import { createDatabaseClock } from '../main/liveness/database-clock.ts'
import { reapTick } from '../main/liveness/reap.ts'
import { after, nowMs, type Next } from '../main/loop.ts'
import type { ActiveTasks } from './active-tasks.ts'
import { withAttempts, type AttemptOptions } from './attempts.ts'
import type { HeartbeatConfig, MonitorSettings } from './config.ts'
import type { Failures } from './failures.ts'
import { createReplicaBeat, registrationOf, type Worker } from './replica-beat.ts'

export interface InDatabase {
  beat(heartbeat: HeartbeatData): Promise<void>
  detect(): Promise<Next>
  /** Releases the runs that the worker still holds, and ends its replica. */
  leave(): Promise<void>
  isDraining(): boolean
}

export interface InDatabaseDeps {
  readonly store: Store
  readonly worker: Worker
  readonly settings: MonitorSettings
  readonly tasks: ActiveTasks
  readonly callbacks: Required<Pick<HeartbeatConfig, 'onLost' | 'onCancelled' | 'onRecovered'>>
  readonly retry: AttemptOptions
  readonly failures: Failures
}

const heartbeats = { name: 'database' }
const detection = { name: 'stale detection' }

export function createInDatabase(deps: InDatabaseDeps): InDatabase {
  const { store, worker, settings, retry, failures, callbacks } = deps
  const streak = createBeatStreak(settings.heartbeatIntervalMs)
  const databaseClock = createDatabaseClock()
  const registration = registrationOf(worker, settings)
  const replica = createReplicaBeat({ ...deps, ...callbacks, registration, streak, databaseClock, nowMs })

  const look = () =>
    reapTick({
      control: store,
      store,
      replicaId: worker.id,
      checkEveryMs: settings.detectionIntervalMs,
      states: ['CLAIMED', 'RUNNING'],
      unbrokenMs: () => streak.unbrokenForMs(nowMs()),
      sharedMsMax: () => databaseClock.sinceStepMs(nowMs()),
      clockMsMin: () => databaseClock.earliestMs(nowMs()),
      clockMsMax: () => databaseClock.latestMs(nowMs()),
      unbrokenMsMin: settings.staleThresholdMs,
      observe: () => {},
      onRecovered: async (ids) => callbacks.onRecovered(ids),
    })

  return {
    isDraining: replica.isDraining,
    leave: replica.leave,
    async beat(heartbeat) {
      try {
        await withAttempts(retry, () => replica.send(heartbeat))
      } catch (error) {
        if (!retry.signal.aborted) failures.failed(heartbeats, error)
        return
      }
      failures.succeeded(heartbeats)
      // Failure records only inform people, so a failed write is kept for later.
      await failures.flush((some) => store.recordHeartbeatFailures(worker.id, some)).catch(() => {})
    },
    async detect() {
      try {
        const next = await look()
        failures.succeeded(detection)
        return next
      } catch (error) {
        if (!retry.signal.aborted) failures.failed(detection, error)
        return after(settings.detectionIntervalMs)
      }
    },
  }
}

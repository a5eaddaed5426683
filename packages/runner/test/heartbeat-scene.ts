/** The heartbeat of a replica, alone: dependencies that a test does not pass do nothing, and the clock stands still. */
import { readConfig } from '@q/runner'
import type { Store } from '@q/store'
import { createDatabaseClock } from '../src/main/liveness/database-clock.ts'
import { createHeartbeat, type HeartbeatLoop, type HeartbeatDeps } from '../src/main/liveness/heartbeat.ts'
import { createOwnPresence } from '../src/main/liveness/own-presence.ts'
import { createSlots } from '../src/main/dispatch/slots.ts'
import { createBeatStreak } from '../src/main/liveness/beat-streak.ts'
import { createProcessStats } from '../src/main/stats/process-stats.ts'

type Answers = Partial<Pick<Store, 'upsertReplicaHeartbeat' | 'recordHeartbeatFailures'>>

export function heartOf(control: Answers, own: Partial<Omit<HeartbeatDeps, 'control'>> = {}): HeartbeatLoop {
  return createHeartbeat({
    control: control as unknown as Store,
    slots: createSlots(1),
    processStats: createProcessStats(readConfig({})),
    streak: createBeatStreak(10_000),
    databaseClock: createDatabaseClock(),
    presence: createOwnPresence(),
    nowMs: () => 0,
    replicaId: 'me',
    beatEveryMs: 10_000,
    slotStats: () => [],
    observe: () => {},
    onDrainOrder: () => {},
    onTooOld: () => {},
    registerAgain: async () => {},
    onWithdrawing: () => {},
    onWithdrawn: () => {},
    reconcile: async () => {},
    onJudged: () => {},
    onBack: () => {},
    ...own,
  })
}

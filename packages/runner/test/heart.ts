/** A replica's heartbeat without a replica: what is not said does nothing, and the clock stands still. */
import { readConfig } from '@q/runner'
import type { Store } from '@q/store'
import { createDatabaseClock } from '../src/main/database-clock.ts'
import { createHeartbeat, type Heartbeat, type HeartbeatDeps } from '../src/main/loops/heartbeat.ts'
import { createOwnPresence } from '../src/main/presence.ts'
import { createSlots } from '../src/main/slots.ts'
import { createTrust } from '../src/main/trust.ts'
import { createVitals } from '../src/main/vitals.ts'

type Answers = Partial<Pick<Store, 'upsertReplicaHeartbeat' | 'recordHeartbeatFailures'>>

export function heartOf(control: Answers, own: Partial<Omit<HeartbeatDeps, 'control'>> = {}): Heartbeat {
  return createHeartbeat({
    control: control as unknown as Store,
    slots: createSlots(1),
    vitals: createVitals(readConfig({})),
    trust: createTrust(10_000),
    databaseClock: createDatabaseClock(),
    presence: createOwnPresence(),
    nowMs: () => 0,
    replicaId: 'me',
    beatEveryMs: 10_000,
    threads: () => [],
    observe: () => {},
    onDrainOrder: () => {},
    onTooOld: () => {},
    introduceAgain: async () => {},
    onWithdrawing: () => {},
    reconcile: async () => {},
    onJudged: () => {},
    onBack: () => {},
    ...own,
  })
}

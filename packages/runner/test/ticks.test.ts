/** Rounds of loops without timers: the clock is a number, and the test sets the responses of the database. */
import { expect, test } from 'vitest'
import { readConfig } from '@q/runner'
import type { RunId, Store } from '@q/store'
import { after } from '../src/main/loop.ts'
import { createSuspensionDetector } from '../src/main/liveness/suspension-detector.ts'
import type { RunnerEvent } from '../src/main/events.ts'
import { selfFenceTick, type SelfFenceDeps } from '../src/main/liveness/self-fence.ts'
import { reapTick } from '../src/main/liveness/reap.ts'
import { createOwnPresence } from '../src/main/liveness/own-presence.ts'
import type { RunFacts } from '../src/main/liveness/run-monitor.ts'
import { createRunMonitors } from '../src/main/liveness/run-monitors.ts'
import { createProcessStats } from '../src/main/stats/process-stats.ts'
import { createBeatStreak } from '../src/main/liveness/beat-streak.ts'
import { heartOf } from './heartbeat-scene.ts'

function storeOf<T extends keyof Store>(answers: Pick<Store, T>): Store {
  return answers as unknown as Store
}

test('the record of a failed heartbeat names the cause, even if every address of the host failed', async () => {
  const written: string[] = []
  const refused = new AggregateError(['::1', '127.0.0.1'].map((host) => new Error(`connect ECONNREFUSED ${host}`)))
  let isUnreachable = true
  const heart = heartOf({
    upsertReplicaHeartbeat: async () =>
      isUnreachable ? Promise.reject(refused) : { known: true, draining: null, tooOld: false, clockMs: 0 },
    recordHeartbeatFailures: async (_, failures) => void written.push(...failures.map(({ error }) => error)),
  })
  await heart.tick()
  isUnreachable = false
  await heart.tick()
  expect(written).toEqual(['connect ECONNREFUSED ::1; connect ECONNREFUSED 127.0.0.1'])
})

test('three failed heartbeats in a row raise one alert, and a success starts a new count', async () => {
  const outcomes = [false, false, false, false, true, false, false, true, false, false, false]
  const alerts: number[] = []
  const heart = heartOf(
    {
      upsertReplicaHeartbeat: async () => {
        if (outcomes.shift() === true) return { known: true, draining: null, tooOld: false, clockMs: 0 }
        throw new Error('unreachable')
      },
      recordHeartbeatFailures: async () => {},
    },
    { observe: (event) => event.type === 'heartbeat-alert' && alerts.push(event.consecutive + outcomes.length) },
  )
  while (outcomes.length > 0) await heart.tick()
  expect(alerts).toEqual([3 + 8, 3])
})

test.each([
  ['healthy', 10_000],
  ['degraded', 5_000],
  ['unhealthy', 2_500],
] as const)('a %s replica sends its next heartbeat after %d ms', async (health, afterMs) => {
  const accepted = async () => ({ known: true, draining: null, tooOld: false, clockMs: 0 })
  const processStats = { ...createProcessStats(readConfig({})), health: () => health }
  expect(await heartOf({ upsertReplicaHeartbeat: accepted }, { processStats }).tick()).toEqual(after(afterMs))
})

test('after an outage of any length the failure that raised the alert is recorded among the last ones', async () => {
  let [tries, outage] = [0, 500]
  const recorded: number[] = []
  const heart = heartOf({
    upsertReplicaHeartbeat: async () =>
      ++tries <= outage
        ? Promise.reject(new Error('away'))
        : { known: true, draining: null, tooOld: false, clockMs: 0 },
    recordHeartbeatFailures: async (_, failures) =>
      void recorded.push(...failures.map(({ consecutive }) => consecutive)),
  })
  for (let tick = 0; tick <= outage; tick++) await heart.tick()
  expect(recorded).toEqual([3, ...Array.from({ length: 99 }, (_, index) => 402 + index)])
})

test('failed heartbeats that cannot be recorded do not keep a replica from reconciling its runs', async () => {
  let isUnreachable = true
  let compared = 0
  const heart = heartOf(
    {
      upsertReplicaHeartbeat: async () =>
        isUnreachable ? Promise.reject(new Error('away')) : { known: true, draining: null, tooOld: false, clockMs: 0 },
      recordHeartbeatFailures: () => Promise.reject(new Error('no right to')),
    },
    { reconcile: async () => void compared++ },
  )
  await heart.tick()
  isUnreachable = false
  await expect(heart.tick()).rejects.toThrow('no right to')
  expect(compared).toBe(1)
})

test.each([
  ['fresh', 0, [0]],
  ['trusted', 60_000, [60_000]],
])(
  'a %s reaper applies no threshold longer than its streak, and no clock outside the bounds of its own',
  async (_, unbrokenMs, expected) => {
    const thresholds: (number | undefined)[] = []
    const clocks: (number | undefined)[] = []
    const shared: (number | undefined)[] = []
    let duties = 0
    const store = storeOf({
      takeDuty: async () => ({ mine: ++duties > 0, untilInMs: 0 }),
      reap: async ({ thresholdMsMax, sharedMsMax, clockMsMin, clockMsMax }) => {
        thresholds.push(thresholdMsMax)
        shared.push(sharedMsMax)
        clocks.push(clockMsMin, clockMsMax)
        return { ids: [], count: 0 }
      },
    })
    await reapTick({
      control: store,
      store,
      replicaId: 'me',
      checkEveryMs: 30_000,
      states: ['CLAIMED', 'RUNNING'],
      unbrokenMs: () => unbrokenMs,
      sharedMsMax: () => 90_000,
      clockMsMin: () => 500,
      clockMsMax: () => 1_000,
      unbrokenMsMin: 60_000,
      observe: () => {},
      onRecovered: async () => {},
    })
    expect(thresholds).toEqual(expected)
    expect(clocks).toEqual([500, 1_000])
    expect(shared).toEqual([90_000])
    // One that sees nothing leaves the duty to others.
    expect(duties).toBe(unbrokenMs === 0 ? 0 : 1)
  },
)

function factsOf(runId: RunId): RunFacts {
  return { lease: { runId, fence: 1 }, task: 't', isolation: 'thread', timeoutMs: null, maxSilentMs: null }
}

function fenced(silentMs: number, lost = false) {
  const runMonitors = createRunMonitors(2)
  const monitors = ['1', '2'].map((runId, slot) => runMonitors.open(factsOf(runId as RunId), slot, 0))
  const beats = createBeatStreak(1_000)
  beats.beatAccepted(0)
  const presence = createOwnPresence()
  presence.held()
  if (lost) presence.lost(0)
  const events: RunnerEvent[] = []
  let jumps = 0
  const deps: SelfFenceDeps = {
    suspensions: createSuspensionDetector(),
    beats,
    presenceStreak: createBeatStreak(1_000),
    presence,
    replicaFenceMs: 3_500,
    presenceFenceMs: 2_000,
    runBeats: { sinceClaimSentMs: () => 0, silentForMs: () => 0, suspended: () => {} },
    runFenceMs: 8_000,
    runMonitors,
    mayStartElsewhere: (monitor) => monitor === monitors[0],
    nowMs: () => silentMs,
    wallMs: () => silentMs,
    observe: (event) => void events.push(event),
    onSuspension: () => void jumps++,
    batches: () => [],
    withdrawUnbegun: () => {},
    isIdle: () => false,
  }
  return { deps, monitors, events, jumps: () => jumps }
}

test.each([
  ['within the limit no run is stopped', 3_400, false, undefined],
  ['beyond the limit runs that others may start are stopped', 3_600, false, 'cut off from the database'],
  ['without its session the grace is the limit', 2_100, true, 'cut off from the database'],
  ['within the grace no run is stopped', 1_900, true, undefined],
])('fence: %s', async (_, silentMs, lost, reason) => {
  const { deps, monitors } = fenced(silentMs, lost)
  await selfFenceTick(deps)
  expect(monitors.map((monitor) => monitor.stopReason)).toEqual([reason, undefined])
})

test('fence: a run that is already being stopped and that others may start loses its grace; others keep theirs', async () => {
  const { deps, monitors } = fenced(3_600)
  for (const monitor of monitors) monitor.stop('timed out')
  await selfFenceTick(deps)
  expect(monitors.map((monitor) => monitor.stopReason)).toEqual(['timed out', 'timed out'])
  expect(monitors.map((monitor) => monitor.outOfTime.aborted)).toEqual([true, false])
})

test('a machine that slept for longer than the limit first fences itself, then sends a heartbeat at once', async () => {
  const { deps, monitors, events, jumps } = fenced(300)
  await selfFenceTick(deps)
  await selfFenceTick({ ...deps, nowMs: () => 550, wallMs: () => 3_600_000 })
  expect(monitors.map((monitor) => monitor.stopReason)).toEqual(['cut off from the database', undefined])
  expect(events.map((event) => event.type)).toEqual(['process-suspended', 'fenced'])
  expect(jumps()).toBe(1)
})

test('a replica that executes nothing checks each second whether it was suspended, and takes that second for none', async () => {
  const { deps, events } = fenced(0)
  const at = (ms: number) => ({ ...deps, isIdle: () => true, nowMs: () => ms, wallMs: () => ms })
  expect(await selfFenceTick(at(0))).toEqual(after(1_000))
  await selfFenceTick(at(1_010))
  expect(events).toEqual([])
  await selfFenceTick(at(3_400))
  expect(events).toEqual([{ type: 'process-suspended', stoppedMs: 1_390, asleepMs: 0 }])
  expect(await selfFenceTick({ ...deps, nowMs: () => 3_450 })).toEqual(after(250))
})

/** Rounds of loops, called without time: the clock is a number here, and the database answers as told. */
import { expect, test } from 'vitest'
import type { RunId, Store } from '@q/store'
import { createClockWatch } from '../src/main/clock-watch.ts'
import type { RunnerEvent } from '../src/main/events.ts'
import { fenceTick, type FenceDeps } from '../src/main/loops/fence.ts'
import { reapTick } from '../src/main/loops/reap.ts'
import { createSession } from '../src/main/loops/session.ts'
import { createOwnPresence } from '../src/main/presence.ts'
import { createPulseBoard, type RunFacts } from '../src/main/pulse-board.ts'
import { createTrust } from '../src/main/trust.ts'
import { heartOf } from './heart.ts'

function told<T extends keyof Store>(answers: Pick<Store, T>): Store {
  return answers as unknown as Store
}

test('what is written down about a failed heartbeat says why, also if each address of the host failed', async () => {
  const written: string[] = []
  const refused = new AggregateError(['::1', '127.0.0.1'].map((host) => new Error(`connect ECONNREFUSED ${host}`)))
  let isAway = true
  const heart = heartOf({
    upsertReplicaHeartbeat: async () =>
      isAway ? Promise.reject(refused) : { known: true, draining: null, tooOld: false, clockMs: 0 },
    recordHeartbeatFailures: async (_, failures) => void written.push(...failures.map(({ error }) => error)),
  })
  await heart.tick()
  isAway = false
  await heart.tick()
  expect(written).toEqual(['connect ECONNREFUSED ::1; connect ECONNREFUSED 127.0.0.1'])
})

test('failed heartbeats that cannot be written down do not keep a replica from comparing what it holds', async () => {
  let isAway = true
  let compared = 0
  const heart = heartOf(
    {
      upsertReplicaHeartbeat: async () =>
        isAway ? Promise.reject(new Error('away')) : { known: true, draining: null, tooOld: false, clockMs: 0 },
      recordHeartbeatFailures: () => Promise.reject(new Error('no right to')),
    },
    { reconcile: async () => void compared++ },
  )
  await heart.tick()
  isAway = false
  await expect(heart.tick()).rejects.toThrow('no right to')
  expect(compared).toBe(1)
})

test.each([
  ['fresh', 0, [0]],
  ['trusted', 60_000, [60_000]],
])(
  'a %s reaper applies no threshold beyond its own eyes, and trusts no clock that goes beyond its own',
  async (_, trustMs, expected) => {
    const thresholds: (number | undefined)[] = []
    const clocks: (number | undefined)[] = []
    const shared: (number | undefined)[] = []
    let duties = 0
    const store = told({
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
      trustMs: () => trustMs,
      sharedMsMax: () => 90_000,
      clockMsMin: () => 500,
      clockMsMax: () => 1_000,
      trustedMs: 60_000,
      observe: () => {},
      onRecovered: () => {},
    })
    expect(thresholds).toEqual(expected)
    expect(clocks).toEqual([500, 1_000])
    expect(shared).toEqual([90_000])
    // One that sees nothing leaves the duty to others.
    expect(duties).toBe(trustMs === 0 ? 0 : 1)
  },
)

function factsOf(runId: RunId): RunFacts {
  return { lease: { runId, fence: 1 }, task: 't', isolation: 'thread', timeoutMs: null, maxSilentMs: null }
}

function fenced(silentMs: number, lost = false) {
  const pulseBoard = createPulseBoard(2)
  const pulses = ['1', '2'].map((runId, slot) => pulseBoard.open(factsOf(runId as RunId), slot, 0))
  const beats = createTrust(1_000)
  beats.beatAccepted(0)
  const presence = createOwnPresence()
  presence.held()
  if (lost) presence.lost(0)
  const events: RunnerEvent[] = []
  let jumps = 0
  const deps: FenceDeps = {
    clock: createClockWatch(250),
    beats,
    presenceTrust: createTrust(1_000),
    presence,
    boundMs: 3_500,
    presenceBoundMs: 2_000,
    runBeats: { sinceAskedMs: () => 0, silentForMs: () => 0, clockJumped: () => {} },
    runBoundMs: 8_000,
    pulseBoard,
    mayStartElsewhere: (pulse) => pulse === pulses[0],
    nowMs: () => silentMs,
    wallMs: () => silentMs,
    observe: (event) => void events.push(event),
    onJump: () => void jumps++,
    batches: () => [],
    withdrawUnbegun: () => {},
  }
  return { deps, pulses, events, jumps: () => jumps }
}

test.each([
  ['within its bound nothing is stopped', 3_400, false, undefined],
  ['beyond its bound what others may start is', 3_600, false, 'cut off from the database'],
  ['without its session the grace is the bound', 2_100, true, 'cut off from the database'],
  ['within the grace nothing is stopped', 1_900, true, undefined],
])('fence: %s', async (_, silentMs, lost, reason) => {
  const { deps, pulses } = fenced(silentMs, lost)
  await fenceTick(deps)
  expect(pulses.map((pulse) => pulse.stopReason)).toEqual([reason, undefined])
})

test('fence: what is being stopped already, and others may start, has no time left to clean up; the rest keeps it', async () => {
  const { deps, pulses } = fenced(3_600)
  for (const pulse of pulses) pulse.stop('timed out')
  await fenceTick(deps)
  expect(pulses.map((pulse) => pulse.stopReason)).toEqual(['timed out', 'timed out'])
  expect(pulses.map((pulse) => pulse.outOfTime.aborted)).toEqual([true, false])
})

test('a machine that slept for longer than the bound fences itself before anything else, and beats at once', async () => {
  const { deps, pulses, events, jumps } = fenced(300)
  await fenceTick(deps)
  await fenceTick({ ...deps, nowMs: () => 550, wallMs: () => 3_600_000 })
  expect(pulses.map((pulse) => pulse.stopReason)).toEqual(['cut off from the database', undefined])
  expect(events.map((event) => event.type)).toEqual(['clock-jumped', 'fenced'])
  expect(jumps()).toBe(1)
})

test('a session that does not prove itself is replaced at once; where there are none, nobody tries again', async () => {
  const presence = createOwnPresence()
  const seen: string[] = []
  let opened = 0
  const session = createSession({
    async open() {
      opened++
      if (opened === 3) return undefined
      const ping = () => (opened === 1 ? Promise.reject(new Error('silent')) : Promise.resolve())
      return { ping, prove: ping, close: () => {} }
    },
    presence,
    nowMs: () => 0,
    observe: ({ type }) => void seen.push(type),
    onWake: () => {},
    onOpen: () => void seen.push('open'),
    onLost: () => void seen.push('lost'),
    onExposed: () => void seen.push('exposed'),
  })
  await session.tick()
  expect(presence.isHeld()).toBe(true)
  expect(await session.tick()).toEqual({ afterMs: 0 })
  expect(presence.mustWithdraw()).toBe(true)
  await session.tick()
  await session.tick()
  expect(seen).toEqual(['session-opened', 'open', 'session-lost', 'lost', 'session-opened', 'open'])
  session.renew()
  expect((await session.tick()).afterMs).toBe(Number.POSITIVE_INFINITY)
  await session.tick()
  expect(opened).toBe(3)
})

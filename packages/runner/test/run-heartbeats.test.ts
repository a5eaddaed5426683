/** Rounds of the run heartbeats without timers: the clock is a number, and the test sets the responses of the database. */
import { expect, test } from 'vitest'
import type { BeatAnswer, Lease, RunBeat, RunId, Store } from '@q/store'
import type { RunnerEvent } from '../src/main/events.ts'
import { selfFenceTick, type SelfFenceDeps } from '../src/main/liveness/self-fence.ts'
import { createRunHeartbeats } from '../src/main/liveness/run-heartbeats.ts'
import { createOwnPresence } from '../src/main/liveness/own-presence.ts'
import { createRunMonitors } from '../src/main/liveness/run-monitors.ts'
import { createBeatStreak } from '../src/main/liveness/beat-streak.ts'
import { isPastFenceDeadline, slotMemoryAt } from '../src/protocol/slot-layout.ts'

const minute = 60_000

/** A replica that sends run heartbeats every half minute; the test sets the responses of the database. */
function scene() {
  const now = { ms: 0 }
  const runMonitors = createRunMonitors(4)
  const asked = new Map<string, number>()
  const beaten: string[][] = []
  let answerOf: (runId: string) => BeatAnswer = () => 'alive'
  const runHeartbeats = createRunHeartbeats({
    runMonitors,
    sender: { replicaId: 'r', hostname: 'h', pid: 1 },
    beatEveryMs: minute / 2,
    nowMs: () => now.ms,
    claimSentMs: ({ runId }: Lease) => asked.get(runId),
    store: {
      async beatTaskRuns(_: unknown, beats: readonly RunBeat[]) {
        beaten.push(beats.map(({ lease }) => lease.runId))
        return beats.map(({ lease }) => answerOf(lease.runId))
      },
    } as Partial<Store> as Store,
  })
  function ask(runId: string, claimSentMs: number): Lease {
    asked.set(runId, claimSentMs)
    return { runId: runId as RunId, fence: 1 }
  }
  return {
    now,
    runMonitors,
    runHeartbeats,
    /** The runs of the last heartbeat. */
    last: () => beaten.at(-1),
    answer: (by: typeof answerOf) => void (answerOf = by),
    ask,
    /** By a claim that was sent at that time and answered now. */
    begin(runId: string, claimSentMs: number) {
      const lease = ask(runId, claimSentMs)
      const facts = { lease, task: 't', isolation: 'thread', timeoutMs: null, maxSilentMs: null } as const
      return runMonitors.open(facts, asked.size - 1, now.ms)
    },
  }
}

test.each([10, 5_000, 5 * minute])(
  'a cancel during the claim of its run reaches the run with the first heartbeat, even if the response takes %i ms',
  async (tookMs) => {
    const { now, runHeartbeats, begin, last, answer } = scene()
    now.ms = 1_000
    const claimSentMs = now.ms
    now.ms += 5
    runHeartbeats.cancelRequested() // committed after the claim was, so received after it was sent
    now.ms += 1
    await runHeartbeats.tick()
    expect(last()).toEqual([])
    now.ms += tookMs
    answer(() => 'cancelled')
    const monitor = begin('1', claimSentMs)
    expect(runHeartbeats.mayBeCancelled(monitor.lease)).toBe(true)
    await runHeartbeats.tick()
    expect(monitor.stopReason).toBe('cancelled')
  },
)

test('a cancel request makes due, once each, the runs whose claim or heartbeat was sent before it', async () => {
  const { now, runHeartbeats, begin, last } = scene()
  begin('before', 0)
  now.ms = 10
  runHeartbeats.cancelRequested()
  now.ms = 20
  const later = begin('later', 15)
  expect(runHeartbeats.mayBeCancelled(later.lease)).toBe(false)
  await runHeartbeats.tick()
  expect(last()).toEqual(['before'])
  now.ms = 30
  await runHeartbeats.tick()
  expect(last()).toEqual([])
})

test('a cancel request that arrives during a heartbeat, or whose heartbeat fails, is checked with the next one', async () => {
  const { now, runHeartbeats, begin, last, answer } = scene()
  const monitor = begin('1', 0)
  now.ms = minute / 2
  answer(() => {
    now.ms += 10
    runHeartbeats.cancelRequested() // after this one was sent
    return 'alive'
  })
  await runHeartbeats.tick()
  now.ms += 10
  answer(() => {
    throw new Error('away')
  })
  await expect(runHeartbeats.tick()).rejects.toThrow('away')
  now.ms += 10
  answer(() => 'cancelled')
  await runHeartbeats.tick()
  expect(last()).toEqual(['1'])
  expect(monitor.stopReason).toBe('cancelled')
})

test('after a suspension every run is due, because requests may have been missed', async () => {
  const { now, runHeartbeats, begin, last } = scene()
  begin('1', 0)
  now.ms = 100
  runHeartbeats.suspended(5_000)
  now.ms = 200
  await runHeartbeats.tick()
  expect(last()).toEqual(['1'])
})

/** The heartbeats of the replica itself are always accepted. */
function fencing(
  { now, runHeartbeats, runMonitors }: ReturnType<typeof scene>,
  mayStartElsewhere: SelfFenceDeps['mayStartElsewhere'],
  batches: SelfFenceDeps['batches'] = () => [],
) {
  const beats = createBeatStreak(minute)
  const presence = createOwnPresence()
  const events: RunnerEvent[] = []
  const tick = () => {
    beats.beatAccepted(now.ms)
    presence.held(now.ms)
    return selfFenceTick({
      // Time passes in steps of minutes here, and no step is a suspension.
      suspensions: { check: () => undefined },
      beats,
      presenceStreak: createBeatStreak(minute),
      presence,
      replicaFenceMs: 45_000,
      presenceFenceMs: 2_000,
      runBeats: runHeartbeats,
      runFenceMs: 265_000,
      runMonitors,
      mayStartElsewhere,
      nowMs: () => now.ms,
      wallMs: () => now.ms,
      observe: (event) => void events.push(event),
      onSuspension: () => {},
      batches,
      withdrawUnbegun: () => {},
      isIdle: () => false,
    })
  }
  return { tick, events }
}

test('runs whose own heartbeats do not arrive are stopped before others start them, although those of their replica arrive', async () => {
  const there = scene()
  const { now, runHeartbeats, begin, answer } = there
  const [again, once] = [begin('again', 0), begin('once', 0)]
  const { tick, events } = fencing(there, (monitor) => monitor !== once)
  now.ms = minute
  await runHeartbeats.tick()
  answer(() => {
    throw new Error('permission denied for table task_heartbeat')
  })
  now.ms = 4 * minute
  const young = begin('young', now.ms)
  for (; now.ms <= minute + 265_000; now.ms += 10_000) {
    await expect(runHeartbeats.tick()).rejects.toThrow('permission denied')
    await tick()
    expect(again.stopReason).toBeUndefined()
  }
  await tick()
  expect([again, once, young].map((monitor) => monitor.stopReason)).toEqual([
    'cut off from the database',
    undefined,
    undefined,
  ])
  expect(events).toMatchObject([{ type: 'fenced', runIds: ['again'] }])
})

test('a heartbeat that skipped a locked run does not count for that run', async () => {
  const there = scene()
  const { now, runHeartbeats, begin, answer, last } = there
  const monitor = begin('1', 0)
  const { tick } = fencing(there, () => true)
  answer(() => 'busy')
  for (; now.ms <= 265_000; now.ms += 10_000) {
    await runHeartbeats.tick()
    await tick()
    expect(monitor.stopReason).toBeUndefined()
  }
  expect(last()).toEqual(['1'])
  await tick()
  expect(monitor.stopReason).toBe('cut off from the database')
})

test.each([
  ['whose code has ended', { hasEnded: true, command: { fenced: true } }],
  ['that no other replica may start', { hasEnded: false, command: { fenced: false } }],
])(
  'a run %s and whose beats do not arrive does not shorten the deadline of the other runs of its thread',
  async (_, unheard) => {
    const there = scene()
    const { now, runMonitors, ask } = there
    const young = { run: ask('young', 300_000), watch: undefined, hasEnded: false, command: { fenced: true } }
    const runs = [{ ...unheard, run: ask('old', 0), watch: undefined }, young]
    const { tick } = fencing(
      there,
      () => true,
      () => [{ slot: 0, runs }],
    )
    now.ms = 300_000
    await tick()
    expect(isPastFenceDeadline(slotMemoryAt(runMonitors.memory, 0))).toBe(false)
  },
)

test('a run with accepted heartbeats is not stopped, and neither is a run that has just started', async () => {
  const there = scene()
  const { now, runHeartbeats, begin } = there
  const old = begin('old', 0)
  const { tick, events } = fencing(there, () => true)
  for (now.ms = 0; now.ms <= 20 * minute; now.ms += minute / 2) {
    await runHeartbeats.tick()
    await tick()
  }
  const young = begin('young', now.ms)
  await tick()
  expect([old.stopReason, young.stopReason, events]).toEqual([undefined, undefined, []])
})

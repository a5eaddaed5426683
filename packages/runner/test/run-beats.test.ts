/** Beats for runs, called without time: the clock is a number here, and the database answers as told. */
import { expect, test } from 'vitest'
import type { BeatAnswer, Lease, RunBeat, RunId, Store } from '@q/store'
import { createClockWatch } from '../src/main/clock-watch.ts'
import type { RunnerEvent } from '../src/main/events.ts'
import { fenceTick, type FenceDeps } from '../src/main/loops/fence.ts'
import { createPulseCarrier } from '../src/main/loops/pulse.ts'
import { createOwnPresence } from '../src/main/presence.ts'
import { createPulseBoard } from '../src/main/pulse-board.ts'
import { createTrust } from '../src/main/trust.ts'
import { isPastFenceDeadline, pulseSlot } from '../src/pulse-layout.ts'

const minute = 60_000

/** A replica that beats for its runs every half minute, under a database that answers as told. */
function scene() {
  const now = { ms: 0 }
  const pulseBoard = createPulseBoard(4)
  const asked = new Map<string, number>()
  const beaten: string[][] = []
  let answerOf: (runId: string) => BeatAnswer = () => 'alive'
  const carrier = createPulseCarrier({
    pulseBoard,
    sender: { replicaId: 'r', hostname: 'h', pid: 1 },
    beatEveryMs: minute / 2,
    nowMs: () => now.ms,
    askedMs: ({ runId }: Lease) => asked.get(runId),
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
    pulseBoard,
    carrier,
    /** Whom the last round beat for. */
    last: () => beaten.at(-1),
    answer: (by: typeof answerOf) => void (answerOf = by),
    ask,
    /** By a claim that was sent at that time and answered now. */
    begin(runId: string, claimSentMs: number) {
      const lease = ask(runId, claimSentMs)
      const facts = { lease, task: 't', isolation: 'thread', timeoutMs: null, maxSilentMs: null } as const
      return pulseBoard.open(facts, asked.size - 1, now.ms)
    },
  }
}

test.each([10, 5_000, 5 * minute])(
  'a cancel that comes while its run is being claimed is heard by the first beat, also if the answer takes %i ms',
  async (tookMs) => {
    const { now, carrier, begin, last, answer } = scene()
    now.ms = 1_000
    const claimSentMs = now.ms
    now.ms += 5
    carrier.wished() // committed after the claim was, so heard after it was sent
    now.ms += 1
    await carrier.tick()
    expect(last()).toEqual([])
    now.ms += tookMs
    answer(() => 'cancelled')
    const pulse = begin('1', claimSentMs)
    expect(carrier.mayBeWanted(pulse.lease)).toBe(true)
    await carrier.tick()
    expect(pulse.stopReason).toBe('cancelled')
  },
)

test('a wish concerns runs that were claimed or beaten for before it, each of them once', async () => {
  const { now, carrier, begin, last } = scene()
  begin('before', 0)
  now.ms = 10
  carrier.wished()
  now.ms = 20
  const later = begin('later', 15)
  expect(carrier.mayBeWanted(later.lease)).toBe(false)
  await carrier.tick()
  expect(last()).toEqual(['before'])
  now.ms = 30
  await carrier.tick()
  expect(last()).toEqual([])
})

test('a wish that comes while a beat is under way, or whose beat fails, is heard by the next one', async () => {
  const { now, carrier, begin, last, answer } = scene()
  const pulse = begin('1', 0)
  now.ms = minute / 2
  answer(() => {
    now.ms += 10
    carrier.wished() // after this one was sent
    return 'alive'
  })
  await carrier.tick()
  now.ms += 10
  answer(() => {
    throw new Error('away')
  })
  await expect(carrier.tick()).rejects.toThrow('away')
  now.ms += 10
  answer(() => 'cancelled')
  await carrier.tick()
  expect(last()).toEqual(['1'])
  expect(pulse.stopReason).toBe('cancelled')
})

test('after a stop of the whole process every run is asked about: nobody listened meanwhile', async () => {
  const { now, carrier, begin, last } = scene()
  begin('1', 0)
  now.ms = 100
  carrier.clockJumped(5_000)
  now.ms = 200
  await carrier.tick()
  expect(last()).toEqual(['1'])
})

/** The replica itself is heard all the time. */
function fencing(
  { now, carrier, pulseBoard }: ReturnType<typeof scene>,
  mayStartElsewhere: FenceDeps['mayStartElsewhere'],
  batches: FenceDeps['batches'] = () => [],
) {
  const beats = createTrust(minute)
  const presence = createOwnPresence()
  const events: RunnerEvent[] = []
  const clock = createClockWatch(minute)
  const tick = () => {
    beats.beatAccepted(now.ms)
    presence.held(now.ms)
    return fenceTick({
      clock,
      beats,
      presenceTrust: createTrust(minute),
      presence,
      boundMs: 45_000,
      presenceBoundMs: 2_000,
      runBeats: carrier,
      runBoundMs: 265_000,
      pulseBoard,
      mayStartElsewhere,
      nowMs: () => now.ms,
      wallMs: () => now.ms,
      observe: (event) => void events.push(event),
      onJump: () => {},
      batches,
      withdrawUnbegun: () => {},
    })
  }
  return { tick, events }
}

test('runs whose own beats do not arrive are stopped before others start them, however well their replica is heard', async () => {
  const there = scene()
  const { now, carrier, begin, answer } = there
  const [again, once] = [begin('again', 0), begin('once', 0)]
  const { tick, events } = fencing(there, (pulse) => pulse !== once)
  now.ms = minute
  await carrier.tick()
  answer(() => {
    throw new Error('permission denied for table task_heartbeat')
  })
  now.ms = 4 * minute
  const young = begin('young', now.ms)
  for (; now.ms <= minute + 265_000; now.ms += 10_000) {
    await expect(carrier.tick()).rejects.toThrow('permission denied')
    await tick()
    expect(again.stopReason).toBeUndefined()
  }
  await tick()
  expect([again, once, young].map((pulse) => pulse.stopReason)).toEqual([
    'cut off from the database',
    undefined,
    undefined,
  ])
  expect(events).toMatchObject([{ type: 'fenced', runIds: ['again'] }])
})

test('a beat that was passed over, because somebody has the run locked, does not count as one', async () => {
  const there = scene()
  const { now, carrier, begin, answer, last } = there
  const pulse = begin('1', 0)
  const { tick } = fencing(there, () => true)
  answer(() => 'busy')
  for (; now.ms <= 265_000; now.ms += 10_000) {
    await carrier.tick()
    await tick()
    expect(pulse.stopReason).toBeUndefined()
  }
  expect(last()).toEqual(['1'])
  await tick()
  expect(pulse.stopReason).toBe('cut off from the database')
})

test.each([
  ['whose code has ended', { hasEnded: true, order: { fenced: true } }],
  ['that no other replica may start', { hasEnded: false, order: { fenced: false } }],
])('a run %s and whose beats do not arrive leaves the other runs of its thread their time', async (_, unheard) => {
  const there = scene()
  const { now, pulseBoard, ask } = there
  const young = { run: ask('young', 300_000), monitor: undefined, hasEnded: false, order: { fenced: true } }
  const runs = [{ ...unheard, run: ask('old', 0), monitor: undefined }, young]
  const { tick } = fencing(
    there,
    () => true,
    () => [{ slot: 0, runs }],
  )
  now.ms = 300_000
  await tick()
  expect(isPastFenceDeadline(pulseSlot(pulseBoard.memory, 0))).toBe(false)
})

test('a run that is beaten for is not stopped, and neither is one that was started a moment ago', async () => {
  const there = scene()
  const { now, carrier, begin } = there
  const old = begin('old', 0)
  const { tick, events } = fencing(there, () => true)
  for (now.ms = 0; now.ms <= 20 * minute; now.ms += minute / 2) {
    await carrier.tick()
    await tick()
  }
  const young = begin('young', now.ms)
  await tick()
  expect([old.stopReason, young.stopReason, events]).toEqual([undefined, undefined, []])
})

/** Ages, limits and slot stats without timers: the test passes the time to every look. */
import { expect, test } from 'vitest'
import type { RunBeat, RunId, Store } from '@q/store'
import { createSlotStats } from '../src/main/stats/slot-stats.ts'
import { createRunHeartbeats } from '../src/main/liveness/run-heartbeats.ts'
import { runLimitsTick } from '../src/main/liveness/run-limits.ts'
import { after, whenWoken } from '../src/main/loop.ts'
import type { RunMonitor, RunFacts } from '../src/main/liveness/run-monitor.ts'
import { createRunMonitors, type RunMonitors } from '../src/main/liveness/run-monitors.ts'
import { slotMemoryAt, stopReasonOf, word } from '../src/protocol/slot-layout.ts'

const facts: RunFacts = {
  lease: { runId: '1' as RunId, fence: 1 },
  task: 't',
  isolation: 'thread',
  timeoutMs: null,
  maxSilentMs: null,
}

/** A run in slot 0, opened at 0, and what its worker would do. `sent`: it has been given to one. */
function opened(limits: Partial<RunFacts> = {}, { sent = true, begun = true } = {}) {
  const board = createRunMonitors(2)
  const monitor = board.open({ ...facts, ...limits }, 0, 0)
  const { words } = slotMemoryAt(board.memory, 0)
  const raise = (index: number) => void Atomics.add(words, index, 1)
  if (sent) monitor.measureBy(() => undefined)
  const begin = () => void Atomics.store(words, word.begun, monitor.seq)
  if (begun) begin()
  monitor.look(0)
  return {
    board,
    monitor,
    begin,
    tick: () => raise(word.ticks),
    sign: () => raise(word.signs),
  }
}

/** Looks as often as a replica does. */
function lookUntil(monitor: RunMonitor, fromMs: number, toMs: number) {
  for (let nowMs = fromMs; nowMs < toMs; nowMs += 100) monitor.look(nowMs)
  return monitor.look(toMs)
}

function watch(runMonitors: RunMonitors, nowMs: number, onStopped: () => void = () => {}): void {
  void runLimitsTick({ runMonitors, noEvidenceMsMax: 8_500, nowMs: () => nowMs, onStopped })
}

test('limits are checked while a run is in execution, and the loop rests when there is none', async () => {
  const { board, monitor } = opened()
  const isIdle = () => board.all().length === 0
  const tick = () =>
    runLimitsTick({ runMonitors: board, noEvidenceMsMax: 8_500, nowMs: () => 0, onStopped() {}, isIdle })
  expect(await tick()).toEqual(after(100))
  monitor.close()
  expect(await tick()).toEqual(whenWoken)
})

test('a tick of the timer is evidence of life and does not end the silence; a sign of the code does both', () => {
  const { monitor, tick, sign } = opened()
  expect(lookUntil(monitor, 0, 500)).toEqual({ ranMs: 500, beatMs: 500, silentMs: 500 })
  tick()
  expect(monitor.look(600)).toEqual({ ranMs: 600, beatMs: 0, silentMs: 600 })
  sign()
  expect(monitor.look(700)).toEqual({ ranMs: 700, beatMs: 0, silentMs: 0 })
})

test('CPU time is evidence that a thread lives, and does not end its silence', () => {
  const { monitor } = opened()
  let cpuMs = 0
  monitor.measureBy(() => ({ cpuMs, heapMb: null, eventLoopUse: null }))
  expect(lookUntil(monitor, 0, 3_000)).toMatchObject({ beatMs: 3_000, silentMs: 3_000 })
  cpuMs = 50
  expect(monitor.look(3_100)).toMatchObject({ beatMs: 0, silentMs: 3_100 })
  expect(lookUntil(monitor, 3_200, 5_000)).toMatchObject({ beatMs: 1_900 })
})

test('CPU time that a thread used before its run is not evidence', () => {
  const { monitor } = opened()
  monitor.measureBy(() => ({ cpuMs: 400, heapMb: null, eventLoopUse: null }))
  expect(lookUntil(monitor, 0, 5_000)).toMatchObject({ beatMs: 5_000 })
})

test('the clock of a run starts when a thread takes it', () => {
  const { monitor, board, begin } = opened({ timeoutMs: 1_000, maxSilentMs: 1_000 }, { begun: false })
  expect(lookUntil(monitor, 0, 5_000)).toEqual({ ranMs: undefined, beatMs: 5_000, silentMs: 0 })
  begin()
  expect(monitor.look(5_100)).toEqual({ ranMs: 0, beatMs: 0, silentMs: 0 })
  watch(board, 6_099)
  expect(monitor.stopReason).toBeUndefined()
  watch(board, 6_100)
  expect(monitor.stopReason).toBe('timed out')
})

test('time in which the replica itself was stopped does not count as silence', () => {
  const { monitor } = opened()
  lookUntil(monitor, 0, 1_000)
  expect(monitor.look(61_000)).toMatchObject({ beatMs: 3_000, silentMs: 3_000 })
})

test.each([
  ['silence', { maxSilentMs: 1_000 }, 1_000, 'silent for too long'],
  ['no evidence of life, where no maxSilent is set,', {}, 8_500, 'no evidence of life'],
] as const)('%s is a reason to stop', (_, limits, atMs, reason) => {
  const { board, monitor } = opened(limits)
  for (let nowMs = 0; nowMs < atMs; nowMs += 100) watch(board, nowMs)
  expect(monitor.stopReason).toBeUndefined()
  watch(board, atMs)
  expect(monitor.stopReason).toBe(reason)
})

test('maxSilent is the only silence limit of a run that a thread has taken, however long the thread gives no evidence', () => {
  const { board, monitor } = opened({ maxSilentMs: 1_800_000 })
  for (let nowMs = 0; nowMs < 1_800_000; nowMs += 1_000) watch(board, nowMs)
  expect(monitor.stopReason).toBeUndefined()
  watch(board, 1_800_000)
  expect(monitor.stopReason).toBe('silent for too long')
})

test('a run that no thread takes is stopped without evidence, whatever its maxSilent', () => {
  const { board, monitor } = opened({ maxSilentMs: 1_800_000 }, { begun: false })
  for (let nowMs = 0; nowMs <= 8_500; nowMs += 100) watch(board, nowMs)
  expect(monitor.stopReason).toBe('no evidence of life')
})

test('a run that has ended is no longer stopped: its slot may have the next run', () => {
  const { board, monitor } = opened()
  monitor.close()
  const next = board.open(facts, 0, 1_000)
  monitor.stop('lease lost')
  expect(stopReasonOf(slotMemoryAt(board.memory, 0), next.seq)).toBeUndefined()
  expect([monitor.stopReason, next.stopReason]).toEqual([undefined, undefined])
})

test('no silence limit applies to a step that waits for its inputs', () => {
  const { board, monitor } = opened({}, { sent: false, begun: false })
  for (let nowMs = 0; nowMs < 20_000; nowMs += 100) watch(board, nowMs)
  expect(monitor.stopReason).toBeUndefined()
  monitor.measureBy(() => undefined) // sent to a thread, which never takes it
  for (let nowMs = 20_000; nowMs < 28_400; nowMs += 100) watch(board, nowMs)
  expect(monitor.stopReason).toBeUndefined()
  watch(board, 28_500)
  expect(monitor.stopReason).toBe('no evidence of life')
})

test('the silence limit of a child allows for the time that its signs take to arrive', () => {
  const { board, monitor, sign } = opened({ maxSilentMs: 50, isolation: 'process' })
  for (let nowMs = 0; nowMs < 1_000; nowMs += 10) {
    if (nowMs % 100 === 0) sign() // it beats all the time; this is what is seen of it
    watch(board, nowMs)
  }
  expect(monitor.stopReason).toBeUndefined()
  for (let nowMs = 1_000; nowMs < 1_200; nowMs += 10) watch(board, nowMs)
  expect(monitor.stopReason).toBe('silent for too long')
})

test('no limit applies to a run whose code has ended and whose outcome is being written', () => {
  const { board, monitor } = opened({ timeoutMs: 1_000 })
  monitor.codeEnded()
  watch(board, 5_000)
  expect(monitor.stopReason).toBeUndefined()
})

/** Sends run heartbeats every 30 s; `beats`: the ages that were sent. */
function carrying(runMonitors: RunMonitors) {
  const now = { ms: 0 }
  const ages: number[] = []
  const runHeartbeats = createRunHeartbeats({
    runMonitors,
    sender: { replicaId: 'r', hostname: 'h', pid: 1 },
    beatEveryMs: 30_000,
    nowMs: () => now.ms,
    claimSentMs: () => 0,
    store: {
      beatTaskRuns(_: unknown, beats: readonly RunBeat[]) {
        ages.push(...beats.map(({ ageMs }) => ageMs))
        return Promise.resolve(beats.map(() => 'alive' as const))
      },
    } as Partial<Store> as Store,
  })
  /** Looks and carries as often as a replica does. */
  const carryUntil = async (toMs: number): Promise<void> => {
    for (; now.ms < toMs; now.ms += 1_000) {
      for (const monitor of runMonitors.all()) monitor.look(now.ms)
      await runHeartbeats.tick()
    }
  }
  return { ages, carryUntil }
}

test('a run heartbeat is as old as the last evidence; for a run that it stops the replica sends one without age at once', async () => {
  const { board, monitor } = opened()
  const { ages, carryUntil } = carrying(board)
  await carryUntil(70_000)
  expect(ages).toEqual([30_000, 60_000])
  monitor.stop('no evidence of life')
  await carryUntil(71_000)
  expect(ages).toEqual([30_000, 60_000, 0])
  await carryUntil(102_000)
  expect(ages).toEqual([30_000, 60_000, 0, 0])
})

test('for a run whose code has ended after a long silence the replica sends a heartbeat at once, while it writes the outcome', async () => {
  const { board, monitor } = opened()
  const { ages, carryUntil } = carrying(board)
  await carryUntil(50_000)
  monitor.codeEnded()
  await carryUntil(51_000)
  expect(ages).toEqual([30_000, 0])
})

test('for a run with a maxSilent the replica sends heartbeats, however long its thread is in a native call', async () => {
  const { board } = opened({ maxSilentMs: 1_800_000 })
  const { ages, carryUntil } = carrying(board)
  await carryUntil(121_000)
  expect(ages).toEqual([0, 0, 0, 0])
})

test('a short run that ends or is stopped costs no heartbeat', async () => {
  const { board, monitor } = opened()
  const { ages, carryUntil } = carrying(board)
  await carryUntil(5_000)
  monitor.stop('cancelled')
  monitor.codeEnded()
  await carryUntil(29_000)
  expect(ages).toEqual([])
})

test('stopping a run at a limit is reported once, so that its heartbeat is sent before its threshold', () => {
  const { board } = opened({ maxSilentMs: 1_000 })
  let stopped = 0
  for (let nowMs = 0; nowMs <= 3_000; nowMs += 100) watch(board, nowMs, () => void stopped++)
  expect(stopped).toBe(1)
})

test('slot stats are bounded; slots whose run is being stopped come first', () => {
  const runMonitors = createRunMonitors(300)
  for (let slot = 0; slot < 200; slot++) runMonitors.open(facts, slot, 0)
  runMonitors.all()[150]?.stop('timed out')
  const stats = createSlotStats({ slots: 300, runMonitors, nowMs: () => 10 })()
  expect(stats).toHaveLength(64)
  expect(stats[0]).toMatchObject({ slot: 150, state: 'stopping', stoppingFor: 'timed out', task: 't', runId: '1' })
  expect(JSON.stringify(stats).length).toBeLessThan(20_000)
  const idle = createSlotStats({ slots: 2, runMonitors: createRunMonitors(2), nowMs: () => 0 })()
  expect(idle.map(({ slot, state }) => [slot, state])).toEqual([
    [0, 'idle'],
    [1, 'idle'],
  ])
})

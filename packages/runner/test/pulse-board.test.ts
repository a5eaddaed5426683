/** Ages, limits and figures, judged without time: every look says when it is. */
import { expect, test } from 'vitest'
import type { RunBeat, RunId, Store } from '@q/store'
import { createFigures } from '../src/main/figures.ts'
import { createPulseCarrier } from '../src/main/loops/pulse.ts'
import { watchTick } from '../src/main/loops/watch.ts'
import { createPulseBoard, type Pulse, type PulseBoard, type RunFacts } from '../src/main/pulse-board.ts'
import { pulseSlot, stopReasonOf, word } from '../src/pulse-layout.ts'

const facts: RunFacts = {
  lease: { runId: '1' as RunId, fence: 1 },
  task: 't',
  isolation: 'thread',
  timeoutMs: null,
  maxSilentMs: null,
}

/** A run in slot 0, opened at 0, and what its worker would do. `sent`: it has been given to one. */
function opened(limits: Partial<RunFacts> = {}, { sent = true, begun = true } = {}) {
  const board = createPulseBoard(2)
  const pulse = board.open({ ...facts, ...limits }, 0, 0)
  const { words } = pulseSlot(board.memory, 0)
  const raise = (index: number) => void Atomics.add(words, index, 1)
  if (sent) pulse.measureBy(() => undefined)
  const begin = () => void Atomics.store(words, word.begun, pulse.seq)
  if (begun) begin()
  pulse.look(0)
  return {
    board,
    pulse,
    begin,
    tick: () => raise(word.ticks),
    sign: () => raise(word.signs),
  }
}

/** Looks as often as a replica does. */
function lookUntil(pulse: Pulse, fromMs: number, toMs: number) {
  for (let nowMs = fromMs; nowMs < toMs; nowMs += 100) pulse.look(nowMs)
  return pulse.look(toMs)
}

function watch(pulseBoard: PulseBoard, nowMs: number, onStopped: () => void = () => {}): void {
  void watchTick({ pulseBoard, noEvidenceMsMax: 8_500, nowMs: () => nowMs, onStopped })
}

test('a tick of the timer is a beat and no sign; a sign of the code is both', () => {
  const { pulse, tick, sign } = opened()
  expect(lookUntil(pulse, 0, 500)).toEqual({ ranMs: 500, beatMs: 500, silentMs: 500 })
  tick()
  expect(pulse.look(600)).toEqual({ ranMs: 600, beatMs: 0, silentMs: 600 })
  sign()
  expect(pulse.look(700)).toEqual({ ranMs: 700, beatMs: 0, silentMs: 0 })
})

test('CPU time is evidence that a thread lives, and does not end its silence', () => {
  const { pulse } = opened()
  let cpuMs = 0
  pulse.measureBy(() => ({ cpuMs, heapMb: null, eventLoopUse: null }))
  expect(lookUntil(pulse, 0, 3_000)).toMatchObject({ beatMs: 3_000, silentMs: 3_000 })
  cpuMs = 50
  expect(pulse.look(3_100)).toMatchObject({ beatMs: 0, silentMs: 3_100 })
  expect(lookUntil(pulse, 3_200, 5_000)).toMatchObject({ beatMs: 1_900 })
})

test('CPU time that a thread used before its run is not evidence', () => {
  const { pulse } = opened()
  pulse.measureBy(() => ({ cpuMs: 400, heapMb: null, eventLoopUse: null }))
  expect(lookUntil(pulse, 0, 5_000)).toMatchObject({ beatMs: 5_000 })
})

test('the clock of a run starts when a thread takes it', () => {
  const { pulse, board, begin } = opened({ timeoutMs: 1_000, maxSilentMs: 1_000 }, { begun: false })
  expect(lookUntil(pulse, 0, 5_000)).toEqual({ ranMs: undefined, beatMs: 5_000, silentMs: 0 })
  begin()
  expect(pulse.look(5_100)).toEqual({ ranMs: 0, beatMs: 0, silentMs: 0 })
  watch(board, 6_099)
  expect(pulse.stopReason).toBeUndefined()
  watch(board, 6_100)
  expect(pulse.stopReason).toBe('timed out')
})

test('a time in which the replica itself was stopped is nobody’s silence', () => {
  const { pulse } = opened()
  lookUntil(pulse, 0, 1_000)
  expect(pulse.look(61_000)).toMatchObject({ beatMs: 3_000, silentMs: 3_000 })
})

test.each([
  ['silence', { maxSilentMs: 1_000 }, 1_000, 'silent for too long'],
  ['no evidence of life, where no maxSilent is set,', {}, 8_500, 'no evidence of life'],
] as const)('%s is a reason to stop', (_, limits, atMs, reason) => {
  const { board, pulse } = opened(limits)
  for (let nowMs = 0; nowMs < atMs; nowMs += 100) watch(board, nowMs)
  expect(pulse.stopReason).toBeUndefined()
  watch(board, atMs)
  expect(pulse.stopReason).toBe(reason)
})

test('maxSilent is the only silence limit of a run that a thread has taken, however long the thread gives no evidence', () => {
  const { board, pulse } = opened({ maxSilentMs: 1_800_000 })
  for (let nowMs = 0; nowMs < 1_800_000; nowMs += 1_000) watch(board, nowMs)
  expect(pulse.stopReason).toBeUndefined()
  watch(board, 1_800_000)
  expect(pulse.stopReason).toBe('silent for too long')
})

test('a run that no thread takes is stopped without evidence, whatever its maxSilent', () => {
  const { board, pulse } = opened({ maxSilentMs: 1_800_000 }, { begun: false })
  for (let nowMs = 0; nowMs <= 8_500; nowMs += 100) watch(board, nowMs)
  expect(pulse.stopReason).toBe('no evidence of life')
})

test('a run that is over is not stopped any more: its slot may have the next one', () => {
  const { board, pulse } = opened()
  pulse.close()
  const next = board.open(facts, 0, 1_000)
  pulse.stop('lease lost')
  expect(stopReasonOf(pulseSlot(board.memory, 0), next.seq)).toBeUndefined()
  expect([pulse.stopReason, next.stopReason]).toEqual([undefined, undefined])
})

test('a run that waits for what it is started with is in the hands of its replica: nobody is silent there', () => {
  const { board, pulse } = opened({}, { sent: false, begun: false })
  for (let nowMs = 0; nowMs < 20_000; nowMs += 100) watch(board, nowMs)
  expect(pulse.stopReason).toBeUndefined()
  pulse.measureBy(() => undefined) // sent to a thread, which never takes it
  for (let nowMs = 20_000; nowMs < 28_400; nowMs += 100) watch(board, nowMs)
  expect(pulse.stopReason).toBeUndefined()
  watch(board, 28_500)
  expect(pulse.stopReason).toBe('no evidence of life')
})

test('a silence that is shorter than the time in which signs of a child are passed on is no reason to stop it', () => {
  const { board, pulse, sign } = opened({ maxSilentMs: 50, isolation: 'process' })
  for (let nowMs = 0; nowMs < 1_000; nowMs += 10) {
    if (nowMs % 100 === 0) sign() // it beats all the time; this is what is seen of it
    watch(board, nowMs)
  }
  expect(pulse.stopReason).toBeUndefined()
  for (let nowMs = 1_000; nowMs < 1_200; nowMs += 10) watch(board, nowMs)
  expect(pulse.stopReason).toBe('silent for too long')
})

test('no limit applies to a run whose code has ended and whose outcome is being written', () => {
  const { board, pulse } = opened({ timeoutMs: 1_000 })
  pulse.codeEnded()
  watch(board, 5_000)
  expect(pulse.stopReason).toBeUndefined()
})

/** Sends run heartbeats every 30 s; `beats`: the ages that were sent. */
function carrying(pulseBoard: PulseBoard) {
  const now = { ms: 0 }
  const ages: number[] = []
  const carrier = createPulseCarrier({
    pulseBoard,
    sender: { replicaId: 'r', hostname: 'h', pid: 1 },
    beatEveryMs: 30_000,
    nowMs: () => now.ms,
    askedMs: () => 0,
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
      for (const pulse of pulseBoard.all()) pulse.look(now.ms)
      await carrier.tick()
    }
  }
  return { ages, carryUntil }
}

test('a run heartbeat is as old as the last evidence; for a run that it stops the replica sends one without age at once', async () => {
  const { board, pulse } = opened()
  const { ages, carryUntil } = carrying(board)
  await carryUntil(70_000)
  expect(ages).toEqual([30_000, 60_000])
  pulse.stop('no evidence of life')
  await carryUntil(71_000)
  expect(ages).toEqual([30_000, 60_000, 0])
  await carryUntil(102_000)
  expect(ages).toEqual([30_000, 60_000, 0, 0])
})

test('for a run whose code has ended after a long silence the replica sends a heartbeat at once, while it writes the outcome', async () => {
  const { board, pulse } = opened()
  const { ages, carryUntil } = carrying(board)
  await carryUntil(50_000)
  pulse.codeEnded()
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
  const { board, pulse } = opened()
  const { ages, carryUntil } = carrying(board)
  await carryUntil(5_000)
  pulse.stop('cancelled')
  pulse.codeEnded()
  await carryUntil(29_000)
  expect(ages).toEqual([])
})

test('stopping a run at a limit is reported once, so that its heartbeat is sent before its threshold', () => {
  const { board } = opened({ maxSilentMs: 1_000 })
  let stopped = 0
  for (let nowMs = 0; nowMs <= 3_000; nowMs += 100) watch(board, nowMs, () => void stopped++)
  expect(stopped).toBe(1)
})

test('figures are bounded; those that are being stopped come first', () => {
  const pulseBoard = createPulseBoard(300)
  for (let slot = 0; slot < 200; slot++) pulseBoard.open(facts, slot, 0)
  pulseBoard.all()[150]?.stop('timed out')
  const figures = createFigures({ slots: 300, pulseBoard, nowMs: () => 10 })()
  expect(figures).toHaveLength(64)
  expect(figures[0]).toMatchObject({ slot: 150, state: 'stopping', stoppingFor: 'timed out', task: 't', runId: '1' })
  expect(JSON.stringify(figures).length).toBeLessThan(20_000)
  const idle = createFigures({ slots: 2, pulseBoard: createPulseBoard(2), nowMs: () => 0 })()
  expect(idle.map(({ slot, state }) => [slot, state])).toEqual([
    [0, 'idle'],
    [1, 'idle'],
  ])
})

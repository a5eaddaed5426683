/** The order of leaving, without time: its steps are told when to be done. */
import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createDrain, type DrainDeps } from '../src/main/drain.ts'
import type { RunnerEvent } from '../src/main/events.ts'
import { createPulseBoard } from '../src/main/pulse-board.ts'
import { createSlots } from '../src/main/slots.ts'

/** A replica with one slot, which is taken. */
function leaving(steps: Partial<DrainDeps> = {}) {
  const slots = createSlots(1)
  const slot = slots.take()
  const done: string[] = []
  const events: RunnerEvent[] = []
  const step = (name: string) => async () => void done.push(name)
  const drain = createDrain({
    slots,
    pulseBoard: createPulseBoard(1),
    observe: (event) => void events.push(event),
    nowMs: () => 0,
    drainMs: 3_600_000,
    stopGraceMs: 0,
    announce: step('announced'),
    stopIntake: step('no new runs'),
    stopWatching: step('nobody watched'),
    giveBackUnbegun: step('given back'),
    stopBeats: step('no beats'),
    retire: step('retired'),
    closeSession: () => void done.push('no session'),
    closeAll: step('closed'),
    ...steps,
  })
  return { drain, done, events, settled: () => slots.giveBack(slot) }
}

test('beats stop last, when the last run has settled', async () => {
  const { drain, done, settled } = leaving()
  const left = drain.begin()
  await turnOfTheLoop()
  expect(done).toEqual(['announced', 'no new runs', 'nobody watched', 'given back'])
  settled()
  await left
  expect(done.slice(4)).toEqual(['given back', 'no beats', 'retired', 'no session', 'closed'])
})

test('that nobody could be told does not mean that nothing comes in any more: that is waited for', async () => {
  const intake = Promise.withResolvers<void>()
  const failing = () => Promise.reject(new Error('Connection terminated unexpectedly'))
  const { drain, done, events, settled } = leaving({
    announce: failing,
    stopWatching: failing,
    stopIntake: () => intake.promise.then(() => void done.push('no new runs')),
  })
  settled()
  const left = drain.begin()
  await turnOfTheLoop()
  expect(events.map(({ type }) => type)).toEqual(['drain-step-failed', 'drain-step-failed'])
  expect(done).toEqual([])
  intake.resolve()
  await left
  expect(done.slice(0, 2)).toEqual(['no new runs', 'given back'])
})

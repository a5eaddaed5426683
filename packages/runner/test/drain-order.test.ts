/** The steps of a drain in their order; the test decides when each step is done. */
import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import type { DrainOrder, LeaveDecision } from '@q/store'
import { expect, test } from 'vitest'
import { createDrain, type DrainDeps } from '../src/main/drain.ts'
import { createFollowedDrain } from '../src/main/followed-drain.ts'
import type { RunnerEvent } from '../src/main/events.ts'
import { createRunMonitors } from '../src/main/liveness/run-monitors.ts'
import { createSlots } from '../src/main/dispatch/slots.ts'

const order: DrainOrder = { by: 'ada', deadlineInMs: null, onDeadline: 'by-task' }

/** A replica with one slot, which is taken. */
function replica(steps: Partial<DrainDeps> = {}) {
  const slots = createSlots(1)
  const slot = slots.take()
  const done: string[] = []
  const events: RunnerEvent[] = []
  const step = (name: string) => async () => void done.push(name)
  const followed = createFollowedDrain(() => 0)
  const drain = createDrain({
    followed,
    slots,
    runMonitors: createRunMonitors(1),
    observe: (event) => void events.push(event),
    nowMs: () => 0,
    drainMs: 3_600_000,
    stopGraceMs: 0,
    pauseIntake: step('paused'),
    resumeIntake: () => void done.push('resumed'),
    announce: step('announced'),
    leaveIfOrdered: async () => ({ decision: 'leaving', order }),
    stopIntake: step('no intake'),
    stopWatching: step('no duties'),
    async releaseUnstarted() {
      done.push('released')
      return 0
    },
    flushCounts: step('counts flushed'),
    stopBeats: step('no beats'),
    retire: step('retired'),
    closeSession: () => void done.push('no session'),
    closeAll: step('closed'),
    ...steps,
  })
  return {
    drain,
    followed,
    done,
    events,
    settled: () => slots.release(slot),
    types: () => events.map(({ type }) => type),
  }
}

const leavingSteps = [
  'released',
  'no intake',
  'no duties',
  'counts flushed',
  'no beats',
  'retired',
  'no session',
  'closed',
]

test('heartbeats stop last, after the last run has settled', async () => {
  const { drain, done, settled } = replica()
  const left = drain.signal()
  await turnOfTheLoop()
  expect(done).toEqual(['announced', 'paused', 'released'])
  settled()
  expect(await left).toEqual({ runsLeftBehind: 0, tooOld: false })
  expect(done.slice(3)).toEqual(leavingSteps)
})

test('a failed announcement does not end the wait for a claim that is in flight', async () => {
  const intake = Promise.withResolvers<void>()
  const { drain, done, types, settled } = replica({
    announce: () => Promise.reject(new Error('Connection terminated unexpectedly')),
    pauseIntake: () => intake.promise.then(() => void done.push('paused')),
  })
  settled()
  const left = drain.signal()
  await turnOfTheLoop()
  expect(types()).toEqual(['drain-step-failed'])
  expect(done).toEqual([])
  intake.resolve()
  await left
  expect(done).toEqual(['paused', 'released', ...leavingSteps])
})

test('a drain that is undone while it begins resumes the intake', async () => {
  const { drain, done, types, settled } = replica()
  drain.onOrder(order)
  drain.onOrder(null)
  await turnOfTheLoop()
  expect(done).toEqual(['paused', 'released', 'resumed'])
  drain.onOrder(order)
  settled()
  await drain.left
  expect(types()).toEqual(['draining', 'drain-undone', 'draining', 'drained'])
})

test('a replica whose drain was undone when its runs had finished does not leave: the database decides', async () => {
  const decisions: LeaveDecision[] = [{ decision: 'draining', order }, { decision: 'claiming' }]
  const { drain, done, settled } = replica({ leaveIfOrdered: async () => decisions.shift()! })
  settled()
  drain.onOrder(order)
  await turnOfTheLoop()
  expect(done).toEqual(['paused', 'released', 'resumed'])
})

test('a replica asks again if the database is unreachable when its runs have finished', async () => {
  let asked = 0
  const { drain, settled, types } = replica({
    async leaveIfOrdered() {
      if (asked++ === 0) throw new Error('Connection terminated unexpectedly')
      return { decision: 'leaving', order }
    },
  })
  settled()
  drain.onOrder(order)
  await turnOfTheLoop()
  expect(types()).toEqual(['draining', 'drain-step-failed'])
  await drain.left
  expect(asked).toBe(2)
})

test('after a signal nothing undoes the drain, and an order can only bring its deadline forward', async () => {
  const { drain, followed, done, events, settled } = replica()
  void drain.signal()
  drain.onOrder(null)
  drain.onOrder({ by: 'ada', deadlineInMs: null, onDeadline: 'release' })
  await turnOfTheLoop()
  expect(done).not.toContain('resumed')
  expect(events).toEqual([expect.objectContaining({ type: 'draining', by: 'itself', drainMs: 3_600_000 })])
  drain.onOrder({ by: 'bob', deadlineInMs: 1_000, onDeadline: 'release' })
  expect(events.at(-1)).toMatchObject({ type: 'drain-changed', by: 'bob', drainMs: 1_000, onDeadline: 'release' })
  expect(followed.onDeadline()).toBe('release')
  settled()
  await drain.left
})

test('a signal counts although the database answers an earlier request that the drain was undone', async () => {
  const decision = Promise.withResolvers<LeaveDecision>()
  const { drain, done, settled } = replica({ leaveIfOrdered: () => decision.promise })
  settled()
  drain.onOrder(order)
  await turnOfTheLoop()
  const left = drain.signal()
  decision.resolve({ decision: 'claiming' })
  expect(await left).toEqual({ runsLeftBehind: 0, tooOld: false })
  expect(done).not.toContain('resumed')
})

test('a replica whose row was deleted leaves as ordered: its drain cannot be undone', async () => {
  const { drain, done, settled } = replica({ leaveIfOrdered: async () => ({ decision: 'unknown' }) })
  settled()
  drain.onOrder(order)
  await drain.left
  expect(done).not.toContain('resumed')
})

test('a signal keeps its deadline although the database answers an earlier request with a later deadline', async () => {
  const decision = Promise.withResolvers<LeaveDecision>()
  const { drain, events, settled } = replica({ leaveIfOrdered: () => decision.promise })
  drain.onOrder({ by: 'ada', deadlineInMs: 0, onDeadline: 'fail' })
  await turnOfTheLoop()
  void drain.signal()
  decision.resolve({ decision: 'draining', order })
  await turnOfTheLoop()
  expect(events.at(-1)).toMatchObject({ type: 'drain-changed', by: 'itself', drainMs: 3_600_000 })
  settled()
  await drain.left
})

test('a replica that leaves runs behind, because other transactions have locked them, does not retire', async () => {
  const { drain, done, events, settled } = replica({ releaseUnstarted: async () => 2 })
  settled()
  expect(await drain.signal()).toEqual({ runsLeftBehind: 2, tooOld: false })
  expect(done).not.toContain('retired')
  expect(events.at(-1)).toMatchObject({ type: 'left-runs-behind', running: 2 })
})

test('a program that is too old leaves as after a signal, and the first signal does not shorten its deadline', async () => {
  const { drain, types, settled } = replica()
  drain.tooOld()
  drain.tooOld()
  void drain.signal()
  await turnOfTheLoop()
  expect(types()).toEqual(['program-too-old', 'draining'])
  settled()
  expect(await drain.left).toEqual({ runsLeftBehind: 0, tooOld: true })
})

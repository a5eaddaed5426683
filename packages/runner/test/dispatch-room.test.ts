/** Room for runs on threads: who gets it, and how much is claimed for it. The test plays the threads. */
import { describe, expect, test } from 'vitest'
import { startedRun } from './threads-scene.ts'
import { practised, runs, idsOf, waitingAt, threadAt, age } from './dispatch-scene.ts'

test('the expected work of a thread that takes no runs does not count', async () => {
  const scene = practised(2)
  await scene.start(runs('1', '2', '3'))
  expect(scene.dispatch.leftMs()).toEqual([2, 1])
  threadAt(scene, 1).begin()
  age(scene, 1, 200)
  expect(scene.dispatch.leftMs()).toEqual([2])
})

describe('a run that needs a slot for itself', () => {
  test('gets a thread without a load, which is handed nothing else until its slot is free', async () => {
    const scene = practised(2)
    const { dispatch, begunAlone, exchangeBuffer } = scene
    const suspect = startedRun('suspect', { crashCount: 1 })
    await scene.start([...runs('1'), suspect, ...runs('2', '3')])
    expect(idsOf(begunAlone)).toEqual(['suspect'])
    expect(scene.threads.map(waitingAt)).toEqual([['1', '2', '3'], []])
    expect([dispatch.slots.free(), dispatch.slots.busy()]).toEqual([0, 2])
    await scene.start([startedRun('another', { crashCount: 1 })])
    expect(idsOf(exchangeBuffer.awaitingSlot)).toEqual(['another'])
    dispatch.slots.release(1)
    dispatch.assignSlots(exchangeBuffer.awaitingSlot)
    expect(idsOf(begunAlone)).toEqual(['suspect', 'another'])
  })
})

test('two claims at the same time do not count on the same room', () => {
  const { dispatch } = practised(1, { startAheadMs: 3 })
  const first = dispatch.room(1, true)
  const taken = () => Array.from({ length: 9 }, () => first.take('short')).filter((slot) => slot !== undefined)
  expect(taken()).toHaveLength(3)
  expect(dispatch.room(1, true).isEmpty()).toBe(true)
  first.release()
  expect(dispatch.room(1, true).isEmpty()).toBe(false)
})

test('runs are claimed for busy threads only with permission to start ahead, and each started run is placed', async () => {
  const scene = practised(1)
  await scene.start(runs('1', '2'))
  expect([false, true].map((ahead) => scene.dispatch.room(1, ahead).isEmpty())).toEqual([true, false])
  expect(scene.threads.map(waitingAt)).toEqual([['1', '2']])
})

/** Runs on their way to the threads and back; the test plays the threads. */
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { ClaimedRun } from '@q/store'
import { endWithResult, tryDecline } from '../src/protocol/ring-layout.ts'
import { startedRun } from './threads-scene.ts'
import { practised, runs, idsOf, waitingAt, threadAt, age, asHeld, fail, crash } from './dispatch-scene.ts'

describe('until its end is written a run', () => {
  test('that succeeded is held, keeps its slot busy and gets heartbeats', async () => {
    const scene = practised(1)
    const { dispatch, heldRuns, runMonitors, exchangeBuffer } = scene
    const [run] = runs('1') as [ClaimedRun]
    await scene.start([run])
    dispatch.openMonitors(0)
    const thread = threadAt(scene, 0)
    thread.end(thread.begin())
    expect([dispatch.slots.free(), dispatch.slots.busy()]).toEqual([1, 1])
    expect(idsOf(runMonitors.all().map(({ lease }) => lease))).toEqual(['1'])
    expect(runMonitors.all().map((monitor) => monitor.isBeingHandled())).toEqual([true])
    expect(heldRuns.find(run)).toBe(run)
    exchangeBuffer.takeFinishes().settled([run])
    expect([runMonitors.all(), heldRuns.find(run), dispatch.slots.busy()]).toEqual([[], undefined, 0])
  })

  test('is asked about if its monitor is opened after its code has ended', async () => {
    const scene = practised(1)
    await scene.start(runs('1', '2'))
    const thread = threadAt(scene, 0)
    thread.end(thread.begin())
    scene.dispatch.openMonitors(0)
    const [monitor] = scene.runMonitors.all()
    expect([monitor?.lease.runId, monitor?.isBeingHandled()]).toEqual(['1', true])
  })

  test('is subject to no limit once its code has ended, though its thread has signalled nothing', async () => {
    const scene = practised(1)
    await scene.start(runs('1', '2'))
    const thread = threadAt(scene, 0)
    const handed = thread.begin()
    const [monitor] = scene.runMonitors.all()
    endWithResult(thread.ring(), handed?.command.seq ?? 0, 1, '1')
    thread.begin()
    scene.runMonitors.all()
    expect([monitor?.lease.runId, monitor?.isBeingHandled()]).toEqual(['1', true])
    expect(scene.exchangeBuffer.size()).toBe(1)
  })

  test('that failed is held and gets heartbeats too', async () => {
    const { promise: writable, resolve: write } = Promise.withResolvers<void>()
    const scene = practised(1, { writable })
    const { dispatch, heldRuns, runMonitors, settlements } = scene
    const [run] = runs('1') as [ClaimedRun]
    await scene.start([run])
    const thread = threadAt(scene, 0)
    const handed = thread.begin()
    dispatch.openMonitors()
    fail(thread, handed)
    await turn()
    expect([runMonitors.all().length, heldRuns.find(run), dispatch.slots.busy()]).toEqual([1, run, 1])
    const allFree = dispatch.slots.allFree()
    write()
    await allFree
    expect(settlements).toEqual([{ runId: '1', status: 'FAILED' }])
    expect([runMonitors.all(), heldRuns.find(run), dispatch.slots.busy()]).toEqual([[], undefined, 0])
  })

  test('that an exchange could not settle is settled by itself, and so is one whose response was lost', async () => {
    const scene = practised(1)
    const { exchangeBuffer, dispatch, settlements } = scene
    const thread = threadAt(scene, 0)
    await scene.start(runs('1', '2'))
    thread.end(thread.begin())
    exchangeBuffer.takeFinishes().settled([])
    thread.end(thread.begin())
    exchangeBuffer.takeFinishes().unknown(new Error('cut'))
    expect(dispatch.slots.busy()).toBe(1)
    await dispatch.slots.allFree()
    expect(settlements).toEqual(['1', '2'].map((runId) => ({ runId, status: 'SUCCEEDED' })))
  })
})

describe('a run that has not begun', () => {
  test('can be withdrawn, and is then known not to have begun; the run that executes cannot', async () => {
    const scene = practised(1)
    const { dispatch, heldRuns } = scene
    const [first, second, third] = runs('1', '2', '3') as [ClaimedRun, ClaimedRun, ClaimedRun]
    await scene.start([first, second, third])
    const thread = threadAt(scene, 0)
    thread.begin()
    expect(dispatch.withdrawAll()).toEqual([second, third])
    expect(thread.begin()).toBeUndefined()
    // So a drain releases them with their attempt, and leaves the first one alone.
    expect(idsOf(heldRuns.unbegun([first, second, third].map(asHeld)))).toEqual(['2', '3'])
    expect([dispatch.slots.runs(), dispatch.withdrawAll()]).toEqual([1, []])
  })

  test('ends at once when it is cancelled, and never begins', async () => {
    const scene = practised(1)
    const { dispatch, runMonitors, settlements } = scene
    await scene.start(runs('1', '2'))
    const thread = threadAt(scene, 0)
    const first = thread.begin()
    dispatch.openMonitors(0)
    runMonitors
      .all()
      .find(({ lease }) => lease.runId === '2')
      ?.stop('cancelled')
    expect(thread.begin()).toBeUndefined()
    await turn()
    expect(settlements).toEqual([{ runId: '2', status: 'CANCELLED' }])
    thread.end(first)
    expect(dispatch.slots.runs()).toBe(1) // the first one, until its end is written
  })

  test('is released and not failed when it is stopped because this replica is cut off', async () => {
    const scene = practised(1)
    const { dispatch, runMonitors, heldRuns, settlements } = scene
    const keyed = startedRun('2', { keyed: true })
    await scene.start([...runs('1'), keyed])
    const thread = threadAt(scene, 0)
    thread.begin()
    dispatch.openMonitors(0)
    runMonitors
      .all()
      .find(({ lease }) => lease.runId === '2')
      ?.stop('cut off from the database')
    expect(thread.begin()).toBeUndefined()
    await turn()
    expect([settlements, dispatch.slots.runs()]).toEqual([[], 1])
    // reconcile.ts releases it as soon as the database answers.
    expect(heldRuns.orphans([asHeld(keyed)]).neverBegan).toEqual([{ runId: '2', fence: 1 }])
  })

  test('goes to another thread first, in order, when its thread dies; results of ended runs are kept', async () => {
    const scene = practised(1)
    const { exchangeBuffer, heldRuns, settlements } = scene
    const [first, second, ...others] = runs('1', '2', '3', '4') as [ClaimedRun, ClaimedRun, ...ClaimedRun[]]
    await scene.start([first, second, ...others])
    exchangeBuffer.awaitingSlot.push(...runs('later'))
    const { feed, begin, end } = threadAt(scene, 0)
    feed.signalEnds(false)
    end(begin())
    begin()
    feed.closed(crash)
    expect(idsOf(exchangeBuffer.awaitingSlot)).toEqual(['3', '4', 'later'])
    expect(idsOf(heldRuns.unbegun([first, second, ...others].map(asHeld)))).toEqual(['3', '4'])
    expect(exchangeBuffer.takeFinishes().all.map(({ lease }) => lease.runId)).toEqual(['1'])
    await turn()
    expect(settlements).toEqual([{ runId: '2', status: 'FAILED' }])
  })

  test('is neither begun nor placed again when its thread has declined it', async () => {
    const scene = practised(1)
    const { exchangeBuffer, heldRuns } = scene
    const [run] = runs('1') as [ClaimedRun]
    await scene.start([run])
    const { feed, ring } = threadAt(scene, 0)
    tryDecline(ring(), 1)
    feed.collect()
    expect([exchangeBuffer.awaitingSlot, heldRuns.find(run)]).toEqual([[], undefined])
    expect(heldRuns.orphans([asHeld(run)]).neverBegan).toEqual([{ runId: '1', fence: 1 }])
  })
})

describe('a thread that is busy for much longer than expected', () => {
  /** Thread 0 is blocked, and thread 1 has as much to do. */
  async function blocked() {
    const scene = practised(2)
    await scene.start(runs('1', '2', '3', '4', '5', '6'))
    const [slow, other] = [threadAt(scene, 0), threadAt(scene, 1)]
    slow.begin()
    return { ...scene, slow, other, age: (ms: number) => age(scene, 0, ms) }
  }

  test('loses the runs that wait behind the long one; other threads keep theirs', async () => {
    const { dispatch, slow, other, age: ageFirst } = await blocked()
    const [behind, elsewhere] = [waitingAt(slow), waitingAt(other)]
    expect(behind).toHaveLength(2)
    ageFirst(-60_000)
    expect(dispatch.relieve()).toEqual([])
    ageFirst(60_200)
    expect(idsOf(dispatch.relieve())).toEqual(behind)
    expect([waitingAt(slow), waitingAt(other)]).toEqual([[], elsewhere])
  })

  test('is handed no run until it is free again', async () => {
    const { dispatch, slow, other, exchangeBuffer, age: ageFirst } = await blocked()
    ageFirst(200)
    const relieved = dispatch.relieve()
    dispatch.assignSlots(relieved)
    expect([relieved, waitingAt(slow)]).toEqual([[], []])
    expect(waitingAt(other)).toHaveLength(5)
    expect(dispatch.room(2, true).take('short')).toBe(1)
    slow.end(slow.feed.executing())
    exchangeBuffer.awaitingSlot.push(...runs('7'))
    dispatch.assignSlots(exchangeBuffer.awaitingSlot)
    expect(waitingAt(slow)).toEqual(['7'])
  })
})

/** The main thread's side of a thread that the test plays. */
import { describe, expect, test } from 'vitest'
import type { HandedRun } from '../src/main/executors/handed-runs.ts'
import {
  endByMessage,
  endWithResult,
  mustSignal,
  ringEntries,
  stateOf,
  tryBegin,
  tryDecline,
} from '../src/protocol/ring-layout.ts'
import { upTo, fed, succeed, crash, failed } from './fed-thread.ts'

test('every run is answered once, in order, however often ends are collected', () => {
  const { feed, answers, handOver, live } = fed()
  const thread = live()
  handOver(1, 2, 3)
  expect(thread.received()).toEqual([1, 2, 3])
  succeed(thread.ring, 1)
  tryBegin(thread.ring, 2)
  tryDecline(thread.ring, 3)
  feed.collect()
  feed.collect()
  expect(answers).toEqual([[1, '1', 1]])
  endByMessage(thread.ring, 2, 4)
  feed.collect()
  expect(feed.load()).toBe(2) // its report is on its way
  feed.onMessage({ kind: 'report', seq: 2, report: failed })
  expect(answers.slice(1)).toEqual([
    [2, failed, 4],
    [3, 'declined'],
  ])
  expect([feed.load(), feed.room()]).toEqual([0, ringEntries])
})

test('a run that was withdrawn neither begins nor is answered; one that has begun is not withdrawn', () => {
  const { feed, answers, handOver, live } = fed()
  const { ring } = live()
  const [first, second] = handOver(1, 2) as [HandedRun, HandedRun]
  tryBegin(ring, 1)
  expect([feed.withdraw(first), feed.withdraw(second)]).toEqual([false, true])
  expect(tryBegin(ring, 2)).toBe(false)
  expect([feed.executing(), feed.waiting(), feed.load()]).toEqual([first, [], 1])
  endWithResult(ring, 1, 1, '1')
  feed.collect()
  expect(answers).toEqual([[1, '1', 1]])
  expect([feed.withdraw(first), feed.withdraw(second)]).toEqual([false, false])
})

describe('an entry is not reused while its run is open', () => {
  test('entries of withdrawn runs count until the runs before them have left', () => {
    const { feed, answers, handOver, live } = fed()
    const { ring } = live()
    const handed = handOver(...upTo(ringEntries))
    tryBegin(ring, 1)
    for (const one of handed.slice(1)) feed.withdraw(one)
    expect([feed.load(), feed.room()]).toEqual([1, 0])
    endWithResult(ring, 1, 1, '1')
    feed.collect()
    expect(feed.room()).toBe(ringEntries)
    handOver(ringEntries + 1)
    expect(stateOf(ring, ringEntries + 1)).toBe('waiting')
    expect(answers).toEqual([[1, '1', 1]])
  })

  test('a stale command of the thread does not begin the run that reuses its entry', () => {
    const { feed, handOver, live } = fed()
    const { ring } = live()
    const [old] = handOver(1) as [HandedRun]
    feed.withdraw(old)
    handOver(1 + ringEntries)
    expect(tryBegin(ring, 1)).toBe(false)
    expect(tryBegin(ring, 1 + ringEntries)).toBe(true)
  })
})

describe('no end is left uncollected', () => {
  test('ends that were not signalled are collected when every end is to be signalled, and later ones are signalled', () => {
    const { feed, answers, handOver, live } = fed()
    const { ring } = live()
    feed.signalEnds(false)
    handOver(1, 2, 3)
    succeed(ring, 1)
    expect(mustSignal(ring, () => false)).toBe(false)
    expect(answers).toEqual([])
    feed.signalEnds(true)
    expect(answers).toHaveLength(1)
    succeed(ring, 2)
    expect(mustSignal(ring, () => false)).toBe(true)
    feed.onMessage({ kind: 'signal' })
    expect(answers).toHaveLength(2)
  })

  test('the next thread keeps the signal mode of the previous one', () => {
    const { feed, live } = fed()
    live()
    feed.signalEnds(false)
    feed.closed(crash)
    expect(mustSignal(live().ring, () => false)).toBe(false)
  })
})

test('a message of an answered run is not attributed to the run that reuses its entry', () => {
  const { feed, answers, handOver, live } = fed()
  const { ring } = live()
  handOver(1)
  succeed(ring, 1)
  feed.collect()
  handOver(1 + ringEntries)
  feed.onMessage({ kind: 'request', seq: 1, id: 1, request: { verb: 'checkpoint', state: '1' } })
  expect(answers).toEqual([[1, '1', 1]])
  feed.onMessage({ kind: 'request', seq: 1 + ringEntries, id: 2, request: { verb: 'checkpoint', state: '1' } })
  expect(answers.slice(1)).toEqual([[1 + ringEntries, 'request']])
})

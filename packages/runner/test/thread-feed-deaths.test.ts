/** The feed when its thread has died or is terminated. The test plays the thread. */
import { describe, expect, test } from 'vitest'
import type { HandedRun, Receiver } from '../src/main/executors/handed-runs.ts'
import { endByMessage, ringEntries, stateOf, tryBegin } from '../src/protocol/ring-layout.ts'
import { fed, succeed, commandOf, crash, failed } from './fed-thread.ts'

describe('when the thread has died', () => {
  test('ends that it has written count, the run that was executing has crashed, and the others are returned', () => {
    const { feed, answers, handOver, live } = fed()
    const { ring, send } = live()
    feed.signalEnds(false)
    handOver(1, 2, 3, 4, 5)
    succeed(ring, 1)
    tryBegin(ring, 2)
    send({ kind: 'report', seq: 2, report: failed })
    endByMessage(ring, 2, 3)
    tryBegin(ring, 3)
    feed.closed(crash)
    // The last one first: the receiver puts them before the others.
    expect(answers).toEqual([
      [1, '1', 1],
      [2, failed, 3],
      [5, 'thread died'],
      [4, 'thread died'],
      [3, crash, 0],
    ])
    expect([feed.load(), feed.room()]).toEqual([0, ringEntries])
  })

  test('its last message is the report of the run that was executing', () => {
    const { feed, answers, handOver, live } = fed()
    const { ring, send } = live()
    handOver(1)
    tryBegin(ring, 1)
    send({ kind: 'uncaught-error', seq: 1, report: failed })
    feed.closed(crash)
    expect(answers).toEqual([[1, failed, 0]])
  })

  test('the next thread has a ring of its own, and gets the runs that were handed over in between', () => {
    const { feed, answers, handOver, live } = fed()
    const first = live()
    feed.closed(crash)
    handOver(1, 2)
    const second = live()
    expect(second.received()).toEqual([1, 2])
    expect([stateOf(second.ring, 1), stateOf(second.ring, 2)]).toEqual(['waiting', 'waiting'])
    // The old thread has the old memory.
    tryBegin(first.ring, 1)
    expect(feed.executing()).toBeUndefined()
    succeed(second.ring, 1)
    feed.collect()
    expect(answers).toEqual([[1, '1', 1]])
  })

  test('a run that its receiver hands over again waits for the next thread', () => {
    const { feed, answers, receiver, live } = fed()
    live()
    const again: Receiver = { ...receiver, returned: (handed) => feed.handOver([handed]) }
    feed.handOver([{ command: commandOf(1), receiver: again }])
    feed.closed(crash)
    const { ring, received } = live()
    expect(received()).toEqual([1])
    succeed(ring, 1)
    feed.collect()
    expect(answers).toEqual([[1, '1', 1]])
  })
})

describe('a thread that is terminated because of one run', () => {
  test('begins no other: the runs behind it are returned, and later ones wait for the next thread', () => {
    const { feed, answers, handOver, live } = fed()
    const { ring, received } = live()
    const [first] = handOver(1, 2, 3) as [HandedRun]
    tryBegin(ring, 1)
    expect(feed.makeLast(first)).toBe(true)
    expect(answers.splice(0)).toEqual([
      [3, 'thread died'],
      [2, 'thread died'],
    ])
    handOver(4)
    expect(received()).toEqual([1, 2, 3])
    expect([2, 3].filter((seq) => tryBegin(ring, seq))).toEqual([])
    feed.closed({ ended: 'aborted' })
    expect(answers).toEqual([
      [4, 'thread died'],
      [1, { ended: 'aborted' }, 0],
    ])
  })

  test.each(['has ended', 'has not begun'])('is not terminated if that run %s', (how) => {
    const { feed, handOver, live } = fed()
    const { ring, received } = live()
    const [first] = handOver(1) as [HandedRun]
    if (how === 'has ended') succeed(ring, 1)
    expect(feed.makeLast(first)).toBe(false)
    handOver(2)
    expect(received()).toEqual([1, 2])
  })
})

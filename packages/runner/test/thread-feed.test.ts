/** The main thread's side of a thread that the test plays. */
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads'
import { describe, expect, test } from 'vitest'
import type { HandedRun, Receiver } from '../src/main/executors/handed-runs.ts'
import { createThreadFeed } from '../src/main/executors/thread-feed.ts'
import type { FromThread, RunCommand, RunReport } from '../src/protocol/messages.ts'
import {
  endByMessage,
  endWithResult,
  mustSignal,
  ringEntries,
  stateOf,
  tryBegin,
  tryDecline,
  type Ring,
} from '../src/protocol/ring-layout.ts'
import { decodeBatch } from '../src/protocol/batch-encoding.ts'

const crash: RunReport = { ended: 'crashed', code: 'WORKER_CRASHED', detail: 'It died.' }
const failed: RunReport = { ended: 'failed', code: 'TASK_ERROR', detail: 'It threw.' }

function fed() {
  const feed = createThreadFeed(0)
  const answers: [number, ...unknown[]][] = []
  const receiver: Receiver = {
    ended: ({ command }, report, tookMs) => void answers.push([command.seq, report, tookMs]),
    returned: ({ command }, why) => void answers.push([command.seq, why]),
    onMessage: ({ command }, message) => void answers.push([command.seq, message.kind]),
  }
  const runs: HandedRun[] = []
  /** Hands over the runs with these numbers; without any, the next run. */
  const handOver = (...seqs: number[]) => {
    const numbers = seqs.length === 0 ? [runs.length + 1] : seqs
    const handed = numbers.map((seq) => (runs[seq - 1] = { command: commandOf(seq), receiver }))
    feed.handOver(handed)
    return handed
  }
  return { feed, answers, runs, handOver, receiver, live: () => liveOf(feed) }
}

/** A thread begins its life. */
function liveOf(feed: ReturnType<typeof createThreadFeed>) {
  const { port1, port2 } = new MessageChannel()
  port1.unref()
  port2.unref()
  const ring = feed.open(port1)
  return {
    ring,
    send: (message: FromThread) => port2.postMessage(message),
    /** The numbers of the runs it has been sent. */
    received(): number[] {
      const commands: RunCommand[] = []
      for (let next = receiveMessageOnPort(port2); next !== undefined; next = receiveMessageOnPort(port2))
        decodeBatch(next.message as unknown[], commands)
      return commands.map(({ seq }) => seq)
    },
  }
}

function succeed(ring: Ring, seq: number, result = String(seq)): void {
  tryBegin(ring, seq)
  endWithResult(ring, seq, 1, result)
}

function commandOf(seq: number): RunCommand {
  const lease = { runId: String(seq), fence: 1, epoch: 1, attempt: 1 }
  return { seq, fenced: false, ...lease, task: 't', payload: '{}', checkpoint: null, databaseUrl: undefined }
}

const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1)

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

/**
 * What 1000 runs of each shape cost in exchanges with the database and in messages to and from the threads, counted
 * exactly: time is a number here, two threads are played, and an exchange takes 3 ms.
 */
import { expect, onTestFinished, test, vi } from 'vitest'
import type { ClaimedRun, WorkExchange } from '@q/store'
import { createPrefetchBuffer } from '../src/main/claim/prefetch-buffer.ts'
import { createBacklog } from '../src/main/claim/backlog.ts'
import { exchangeTick, type ExchangeDeps } from '../src/main/claim/exchange.ts'
import { createPolling } from '../src/main/claim/polling.ts'
import type { HandedRun } from '../src/main/executors/handed-runs.ts'
import { ownClocks } from '../src/protocol/own-clocks.ts'
import { endWithResult, mustSignal } from '../src/protocol/ring-layout.ts'
import { emptyExchange } from './empty-exchange.ts'
import { startedRun, threadsScene, type PlayedThread } from './threads-scene.ts'

const runs = 1_000
const roundTripMs = 3

interface Counts {
  /** Round trips to the database. */
  exchanges: number
  /** Batches that were sent to threads. */
  batches: number
  /** Signals that threads sent. */
  signals: number
  /** Most runs that were started and had not ended. */
  startedMax: number
}

interface Shape {
  readonly tookMs: number
  readonly onCrash: 'fail' | 'retry'
  readonly startAhead?: number
}

async function count({ tookMs, onCrash, startAhead }: Shape): Promise<Counts> {
  const clock = { ms: 1_000 }
  const hrtime = vi
    .spyOn(ownClocks, 'hrtime')
    .mockImplementation(() => [Math.floor(clock.ms / 1_000), (clock.ms % 1_000) * 1_000_000])
  onTestFinished(() => hrtime.mockRestore())
  const options = { onCrash, ...(startAhead === undefined ? {} : { startAhead }) }
  const { dispatch, exchangeBuffer, heldRuns, threads } = threadsScene(2, { tasks: { short: options } })
  const counts: Counts = { exchanges: 0, batches: 0, signals: 0, startedMax: 0 }
  const played = threads.map((thread) => playInTime(thread, tookMs))
  const ready = Array.from({ length: runs }, (_, index) => startedRun(String(index + 1), { onCrash }))
  let ended = 0

  for (const { feed } of threads) {
    const { handOver } = feed
    feed.handOver = (handed) => {
      counts.batches++
      handOver(handed)
    }
  }

  /** Until then, or until a thread signals. */
  function pass(untilMs: number, stopAtSignal: boolean): boolean {
    for (;;) {
      const next = played.toSorted((a, b) => a.endsMs(clock.ms) - b.endsMs(clock.ms))[0]
      const atMs = next?.endsMs(clock.ms) ?? Number.POSITIVE_INFINITY
      if (next === undefined || atMs > untilMs) break
      clock.ms = atMs
      if (!next.end()) continue
      counts.signals++
      next.thread.feed.onMessage({ kind: 'signal' })
      if (stopAtSignal) return true
    }
    clock.ms = untilMs
    return false
  }

  const deps: ExchangeDeps = {
    exchangeBuffer,
    dispatch,
    backlog: createBacklog({ startAheadMs: 25 }),
    prefetched: createPrefetchBuffer(0),
    heldRuns,
    idleMark: { roomLeft: async () => false, full: async () => {}, invalidate: () => {} },
    pollEveryMs: 1_000,
    polling: createPolling(1_000, () => true),
    nowMs: () => clock.ms,
    exchangeWork(exchange) {
      counts.exchanges++
      const claimed = claimOf(exchange, ready)
      pass(clock.ms + roundTripMs, false)
      ended += exchange.finishes.length
      return Promise.resolve({
        ...emptyExchange,
        finished: exchange.finishes.map(({ lease }) => lease),
        claimed,
        more: Promise.resolve(ready.length > 0),
      })
    },
    slotsToFill: () => dispatch.slots.free(),
    mayStartAhead: () => true,
    prefetchMax: () => 0,
    isCutOff: () => false,
    awaitingSlotMsMax: 5_000,
    releaseUnstarted: () => Promise.reject(new Error('No run is released.')),
    runsMin: 1,
  }
  const isOver = () => ended === runs
  while (!isOver()) {
    const { afterMs } = await exchangeTick(deps)
    counts.startedMax = Math.max(counts.startedMax, runs - ready.length - ended - exchangeBuffer.size())
    if (afterMs > 0) pass(clock.ms + Math.min(afterMs, 60_000), true)
  }
  return counts
}

function claimOf({ claim, fits }: WorkExchange, ready: ClaimedRun[]): ClaimedRun[] {
  const wanted = ready.slice(0, claim)
  const firstWithout = wanted.findIndex(({ task }) => fits?.(task) !== true)
  return ready.splice(0, firstWithout < 0 ? wanted.length : firstWithout)
}

/** A thread whose runs each take `tookMs`. */
function playInTime(thread: PlayedThread, tookMs: number) {
  let current: { readonly handed: HandedRun; readonly endsMs: number } | undefined
  return {
    thread,
    /** When its next run ends; Infinity: it has none. */
    endsMs(nowMs: number): number {
      if (current === undefined) {
        const handed = thread.begin()
        current = handed && { handed, endsMs: nowMs + tookMs }
      }
      return current?.endsMs ?? Number.POSITIVE_INFINITY
    },
    /** Ends it; whether the thread signals. */
    end(): boolean {
      if (current === undefined) throw new Error('No run began.')
      endWithResult(thread.ring(), current.handed.command.seq, tookMs, '1')
      current = undefined
      return mustSignal(thread.ring(), () => thread.feed.waiting().length === 0)
    },
  }
}

test.each<[string, Shape, Counts]>([
  [
    'no-ops that may be started again',
    { tookMs: 0.01, onCrash: 'retry' },
    { exchanges: 7, batches: 10, signals: 238, startedMax: 256 },
  ],
  [
    'no-ops that may not be started again',
    { tookMs: 0.01, onCrash: 'fail' },
    { exchanges: 21, batches: 38, signals: 70, startedMax: 62 },
  ],
  ['runs of 2.2 ms', { tookMs: 2.2, onCrash: 'retry' }, { exchanges: 80, batches: 148, signals: 22, startedMax: 24 }],
  ['runs of 22 ms', { tookMs: 22, onCrash: 'retry' }, { exchanges: 503, batches: 1000, signals: 6, startedMax: 4 }],
  [
    'runs of 200 ms',
    { tookMs: 200, onCrash: 'retry' },
    { exchanges: 1001, batches: 1000, signals: 1000, startedMax: 2 },
  ],
  [
    'no-ops of a task without start-ahead',
    { tookMs: 0.01, onCrash: 'retry', startAhead: 1 },
    { exchanges: 1000, batches: 1000, signals: 1000, startedMax: 2 },
  ],
])('1000 %s cost an exact number of exchanges, batches and signals', async (_, shape, counts) => {
  expect(await count(shape)).toEqual(counts)
})

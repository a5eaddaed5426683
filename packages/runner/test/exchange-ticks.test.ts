/** Rounds of the exchange without timers: the clock is a number, and the test sets the responses of the store. */
import { describe, expect, test } from 'vitest'
import type { BeatAnswer, ClaimedRun, RunId, Store, WorkExchange, WorkExchangeResult } from '@q/store'
import { createPrefetchBuffer } from '../src/main/claim/prefetch-buffer.ts'
import { createBacklog } from '../src/main/claim/backlog.ts'
import { exchangeTick, type ExchangeDeps } from '../src/main/claim/exchange.ts'
import { beatPrefetchedTick } from '../src/main/liveness/beat-prefetched.ts'
import { createPolling } from '../src/main/claim/polling.ts'
import type { DispatchedRun } from '../src/main/dispatch/watch-run.ts'
import type { HandedRun } from '../src/main/executors/handed-runs.ts'
import { emptyExchange } from './empty-exchange.ts'
import { startedRun, threadsScene } from './threads-scene.ts'

const run = (runId: string) => startedRun(runId, { attempt: 0 })

/** A replica with one thread. */
function replica({ prefetch = 0 } = {}) {
  const now = { ms: 0 }
  const { exchangeBuffer, dispatch, heldRuns, startAhead, threads } = threadsScene(1)
  const [thread] = threads
  if (thread === undefined) throw new Error('There is no thread.')
  const prefetched = createPrefetchBuffer(prefetch)
  const begun: ClaimedRun[] = []
  const sent: WorkExchange[] = []
  const given: RunId[] = []
  let answer: Partial<WorkExchangeResult> = {}
  let occupant: HandedRun | undefined
  const deps: ExchangeDeps = {
    exchangeBuffer,
    dispatch,
    backlog: createBacklog({ startAheadMs: 25 }),
    prefetched,
    heldRuns,
    idleMark: { roomLeft: async () => false, full: async () => {}, invalidate: () => {} },
    pollEveryMs: 60_000,
    polling: createPolling(60_000, () => true),
    nowMs: () => now.ms,
    async exchangeWork(exchange) {
      sent.push(exchange)
      return { ...emptyExchange, ...answer }
    },
    slotsToFill: () => dispatch.slots.free(),
    mayStartAhead: () => true,
    prefetchMax: () => prefetch,
    isCutOff: () => false,
    awaitingSlotMsMax: 5_000,
    async releaseUnstarted(runs) {
      for (const { runId } of runs) given.push(runId)
      return runs.map(({ runId }) => runId)
    },
    runsMin: 1,
  }
  /** The thread takes what it was handed. */
  const work = () => {
    for (let one = thread.begin(); one !== undefined; one = undefined) {
      occupant = one
      begun.push((one as DispatchedRun).run)
    }
  }
  return {
    deps,
    now,
    exchangeBuffer,
    dispatch,
    startAhead,
    prefetched,
    heldRuns,
    begun,
    sent,
    given,
    /** A run is executing. */
    async occupy() {
      exchangeBuffer.awaitingSlot.push(run('occupant'))
      dispatch.assignSlots(exchangeBuffer.awaitingSlot)
      work()
      begun.splice(0)
    },
    /** Its code ends. */
    free: () => thread.end(occupant),
    work,
    async tick(response: Partial<WorkExchangeResult> = {}) {
      answer = response
      const next = await exchangeTick(deps)
      work()
      return next
    },
  }
}

test('a claimed run begins before the server has looked for more', async () => {
  const one = replica()
  const looked = Promise.withResolvers<boolean>()
  const ticked = one.tick({ claimed: [run('1')], more: looked.promise })
  await expect.poll(() => one.exchangeBuffer.awaitingSlot.length + one.sent.length).toBe(1)
  one.work()
  expect(one.begun).toMatchObject([{ runId: '1' }])
  looked.resolve(true)
  expect(await ticked).toEqual({ afterMs: one.deps.backlog.lingerMs })
})

test('a claimed run begins although the look that follows fails, and the loop receives the error', async () => {
  const one = replica()
  const failed = Promise.reject<boolean>(new Error('The server is gone.'))
  await expect(one.tick({ claimed: [run('1')], more: failed })).rejects.toThrow('The server is gone.')
  one.work()
  expect(one.begun).toMatchObject([{ runId: '1' }])
})

test('a run for which no thread becomes free is released within its bound, and nothing is claimed in its place', async () => {
  const one = replica()
  await one.occupy()
  one.exchangeBuffer.awaitingSlot.push(run('1'))
  await one.heldRuns.claiming(0, async () => [run('1')])
  one.now.ms = 4_999
  expect(await one.tick()).toEqual({ afterMs: 5_000 })
  expect([one.given, one.begun]).toEqual([[], []])
  one.now.ms = 5_000
  await one.tick()
  expect([one.given, one.begun, one.exchangeBuffer.awaitingSlot]).toEqual([['1'], [], []])
  expect(one.sent).toEqual([])
})

test('a run whose thread becomes free in time begins, and a run that cannot be released yet may still begin', async () => {
  const one = replica()
  await one.occupy()
  one.exchangeBuffer.awaitingSlot.push(run('1'))
  one.now.ms = 10_000
  await exchangeTick({ ...one.deps, releaseUnstarted: async () => [] }) // another transaction has it locked
  expect(one.exchangeBuffer.awaitingSlot).toHaveLength(1)
  one.free()
  await one.tick()
  expect([one.begun.map(({ runId }) => runId), one.given]).toEqual([['1'], []])
})

test('a run that another transaction has locked keeps its claim, lets others start, and is tried again', async () => {
  const one = replica({ prefetch: 1 })
  await one.occupy()
  await one.tick({ prefetched: [run('locked')] })
  one.free()
  // Its slot goes to another run with the next exchange, at once.
  expect(await one.tick({ busy: ['locked' as RunId] })).toEqual({ afterMs: 0 })
  expect(one.sent.at(-1)).toMatchObject({ starts: [{ runId: 'locked' }], claim: 0 })
  expect(await one.tick()).toEqual({ afterMs: 1_000 })
  expect(one.sent.at(-1)).toMatchObject({ starts: [], claim: 500, prefetch: 0 }) // as far as it fits
  expect(one.heldRuns.find(run('locked'))).toBeDefined()
  expect(one.prefetched.all()).toHaveLength(1) // gets heartbeats in the meantime
  one.now.ms = 1_000
  await one.tick({ started: ['locked' as RunId] })
  expect(one.begun).toMatchObject([{ runId: 'locked', attempt: 1 }])
  expect(one.heldRuns.claimSentMs(run('locked'))).toBe(1_000)
})

describe('while runs are ready that no thread has room for', () => {
  /** Its thread executes a short run; the next one in turn is long. */
  async function busy() {
    const one = replica()
    one.startAhead.record('short', 1)
    await one.occupy()
    one.deps.backlog.record({ more: true, claimed: 0, exclusive: false }, 0)
    one.now.ms = 100
    return one
  }

  test('the event loop turns before the replica asks again', async () => {
    const one = await busy()
    expect(await one.tick({ more: Promise.resolve(true) })).toEqual({ afterMs: one.deps.backlog.lingerMs })
    expect(one.sent).toMatchObject([{ claim: 500 }])
  })

  test('a replica whose threads are full returns by itself, because they signal no end', async () => {
    const one = await busy()
    one.startAhead.record('short', 1_000)
    one.exchangeBuffer.awaitingSlot.push(run('1'))
    one.dispatch.assignSlots(one.exchangeBuffer.awaitingSlot)
    one.free()
    one.now.ms = 200
    expect(await one.tick({ more: Promise.resolve(true) })).toEqual({ afterMs: one.deps.backlog.lingerMs })
    expect(one.sent).toMatchObject([{ claim: 0, finishes: [{}] }])
  })
})

test('when only the look showed that runs are ready, the replica claims them at once', async () => {
  const one = replica()
  expect(await one.tick({ lookedOnly: true, more: Promise.resolve(true) })).toEqual({ afterMs: 0 })
  expect(await one.tick({ more: Promise.resolve(true) })).toEqual({ afterMs: one.deps.backlog.lingerMs })
})

test('a prefetched run whose lease is lost is forgotten', async () => {
  const one = replica({ prefetch: 1 })
  await one.occupy()
  await one.tick({ prefetched: [run('lost')] })
  one.free()
  await one.tick()
  expect(one.heldRuns.find(run('lost'))).toBeUndefined()
  expect(one.prefetched.all()).toEqual([])
})

test.each(['cancelled', 'ended'] as const)(
  'a run that began while its claim heartbeat was in flight stays held, even if the response says that it is %s',
  async (answer: BeatAnswer) => {
    const one = replica({ prefetch: 1 })
    await one.occupy()
    await one.tick({ prefetched: [run('1')] })
    const control = {
      async beatTaskRuns() {
        one.free()
        await one.tick({ started: ['1' as RunId] })
        return [answer]
      },
    } as Partial<Store> as Store
    const sender = { replicaId: 'r', hostname: 'h', pid: 1 }
    await beatPrefetchedTick({
      control,
      prefetched: one.prefetched,
      heldRuns: one.heldRuns,
      sender,
      beatEveryMs: 1_000,
    })
    expect(one.begun.map(({ runId }) => runId)).toEqual(['1'])
    expect(one.heldRuns.find(run('1'))).toMatchObject({ runId: '1' })
  },
)

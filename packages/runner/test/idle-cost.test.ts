/** All loops that an idle replica sends statements from, on a virtual clock: the statements are counted, not timed. */
import { expect, test } from 'vitest'
import { readConfig } from '@q/runner'
import type { Store, WatchAnswer } from '@q/store'
import { createPrefetchBuffer } from '../src/main/claim/prefetch-buffer.ts'
import { createBacklog } from '../src/main/claim/backlog.ts'
import { maintenanceJobs } from '../src/main/maintenance/maintenance-jobs.ts'
import { createHeldRuns } from '../src/main/liveness/held-runs.ts'
import { createJobLoop } from '../src/main/maintenance/job-loop.ts'
import { operationsTick } from '../src/main/maintenance/operations.ts'
import { createDestinationWatch } from '../src/main/deliver/start-deliveries.ts'
import { createCountFlusher } from '../src/main/stats/flush-counts.ts'
import { createRunCounts } from '../src/main/stats/run-counts.ts'
import { exchangeTick } from '../src/main/claim/exchange.ts'
import { createPresenceWatch } from '../src/main/liveness/presence-watch.ts'
import { createPromoter } from '../src/main/claim/promote.ts'
import { reapTick } from '../src/main/liveness/reap.ts'
import { scheduleTick } from '../src/main/claim/schedule.ts'
import { createPresenceSession } from '../src/main/liveness/presence-session.ts'
import { sweepTick } from '../src/main/claim/sweep.ts'
import type { Next } from '../src/main/loop.ts'
import { createPolling } from '../src/main/claim/polling.ts'
import { createOwnPresence } from '../src/main/liveness/own-presence.ts'
import { createBeatStreak } from '../src/main/liveness/beat-streak.ts'
import { emptyExchange } from './empty-exchange.ts'
import { heartOf } from './heartbeat-scene.ts'
import { threadsScene } from './threads-scene.ts'

/** A store that answers as an idle database does, and counts the statements. */
function idleStore(post: WatchAnswer['post'], mine: boolean) {
  let statements = 0
  const answers: Record<string, unknown> = {
    /** On average: the deputy renews a lease of 2.2 s each 0.65 s. */
    watchPresence: { post, untilInMs: 1_875, clockMs: 0, gone: [] },
    upsertReplicaHeartbeat: { known: true, draining: null, clockMs: 0 },
    reap: { ids: [], count: 0 },
    pruneReplicas: { ids: [], samples: 0, failures: 0 },
    repairWorkflows: { repaired: [] },
    pruneTaskRuns: {},
    pruneWorkflows: {},
    nextTickInMs: undefined,
    nextDueInMs: undefined,
  }
  const count = () => void statements++
  const store = new Proxy({} as Store, {
    get: (_, verb: string) => async (duty: { forMs: number }) => {
      if (verb !== 'promoteKeys') count() // without keys it sends nothing
      if (verb === 'takeDuty') return { mine, untilInMs: duty.forMs }
      return verb in answers ? answers[verb] : []
    },
  })
  return { store, count, statements: () => statements }
}

type Tick = () => Promise<Next>

/** Runs every loop for so long, each at the times that its ticks return. */
async function pass(ticks: readonly Tick[], now: { ms: number }, forMs: number): Promise<void> {
  const dues = ticks.map((tick) => ({ tick, atMs: now.ms }))
  const endMs = now.ms + forMs
  for (;;) {
    const next = dues.reduce((soonest, due) => (due.atMs < soonest.atMs ? due : soonest))
    if (next.atMs > endMs) return
    now.ms = next.atMs
    next.atMs += (await next.tick()).afterMs
  }
}

async function statementsPerSecond(post: WatchAnswer['post'], hasSession = true): Promise<number> {
  const now = { ms: 0 }
  const nowMs = () => now.ms
  const { store, count, statements } = idleStore(post, post === 'watcher')
  const config = readConfig({})
  const presence = createOwnPresence()
  const polling = () => createPolling(config.pollEveryMs, presence.isHeld)
  const own = { control: store, store, replicaId: 'me', observe: () => {}, nowMs }
  const session = createPresenceSession({
    ...own,
    presence,
    open: async () => (hasSession ? { ping: async () => {}, verify: async () => count(), close: () => {} } : undefined),
    onWake: () => {},
    onOpen: () => {},
    onLost: () => {},
    onExposed: () => {},
  })
  const watch = createPresenceWatch({
    ...own,
    duty: 'presence',
    presence,
    streak: createBeatStreak(1_500),
    onSelfGone: () => {},
    reap: async () => {},
  })
  const { exchangeBuffer, dispatch } = threadsScene(2)
  const claim = {
    exchangeBuffer,
    dispatch,
    backlog: createBacklog({ startAheadMs: 25 }),
    mayStartAhead: () => true,
    runsMin: 1,
    prefetched: createPrefetchBuffer(2),
    heldRuns: createHeldRuns(),
    idleMark: { roomLeft: async () => false, full: async () => {}, invalidate: () => {} },
    pollEveryMs: config.pollEveryMs,
    polling: polling(),
    nowMs,
    async exchangeWork() {
      count()
      return emptyExchange
    },
    slotsToFill: () => 2,
    prefetchMax: () => 2,
    isCutOff: () => false,
    awaitingSlotMsMax: 5_000,
    releaseUnstarted: async () => [],
  }
  const promoter = createPromoter({
    ...own,
    polling: polling(),
    takeKeys: () => [],
    onPromoted: () => {},
    wake: () => {},
  })
  const heart = heartOf(store, { nowMs, reconcile: async () => count() })
  const reap = {
    ...own,
    checkEveryMs: 30_000,
    states: ['CLAIMED', 'RUNNING'] as const,
    unbrokenMs: () => 60_000,
    unbrokenMsMin: 60_000,
    sharedMsMax: () => 0,
    clockMsMin: () => 0,
    clockMsMax: () => 0,
    onRecovered: async () => {},
  }
  const startLoop = () => {
    throw new Error('There is no destination.')
  }
  const routeOf = () => Promise.reject(new Error('There is nothing to enqueue.'))
  const ticks: Tick[] = [
    session.tick,
    watch.tick,
    heart.tick,
    () => exchangeTick(claim),
    promoter.tick,
    () => sweepTick({ store, onPromoted: () => {} }),
    () => scheduleTick({ ...own, routeOf, onEnqueued: () => {} }),
    () => reapTick(reap),
    ...maintenanceJobs(store, config, () => {}).map((job) => createJobLoop(own, job).tick),
    () => operationsTick(own),
    createDestinationWatch({ ...own, env: () => undefined, startLoop, canBeWoken: () => hasSession }).tick,
    createCountFlusher({ ...own, counts: createRunCounts({ version: '1', count: () => {} }) }).tick,
  ]
  await pass(ticks, now, 60_000)
  const before = statements()
  await pass(ticks, now, 600_000)
  return (statements() - before) / 600
}

test('an idle replica without a duty sends at most 1.5 statements a second', async () => {
  expect(await statementsPerSecond('none')).toBeLessThanOrEqual(1.5)
})

test.each(['watcher', 'deputy'] as const)('an idle %s sends at most 3 statements a second', async (post) => {
  expect(await statementsPerSecond(post)).toBeLessThanOrEqual(3)
})

test('without a session no wake arrives, and the replica polls as often as it is configured', async () => {
  const polling = createPolling(1_000, () => false)
  expect([polling.nextMs(), polling.nextMs(), polling.nextMs()]).toEqual([1_000, 1_000, 1_000])
  expect(await statementsPerSecond('none', false)).toBeGreaterThanOrEqual(2)
})

test('polls that find nothing become rarer up to a bound while wakes arrive; work and a lost session reset the interval', () => {
  let canBeWoken = true
  const polling = createPolling(1_000, () => canBeWoken)
  expect(Array.from({ length: 5 }, () => polling.nextMs())).toEqual([1_000, 2_000, 4_000, 8_000, 10_000])
  polling.found()
  expect([polling.nextMs(), polling.nextMs()]).toEqual([1_000, 2_000])
  canBeWoken = false
  expect(polling.nextMs()).toBe(1_000)
  expect(createPolling(60_000, () => true).nextMs()).toBe(60_000)
})

test('a session answers pings without a transaction, and proves its record from time to time and after a withdrawal', async () => {
  const now = { ms: 0 }
  const asked: string[] = []
  const session = createPresenceSession({
    open: async () => ({
      ping: async () => void asked.push('ping'),
      verify: async () => void asked.push('proved'),
      close: () => {},
    }),
    presence: createOwnPresence(),
    nowMs: () => now.ms,
    observe: () => {},
    onWake: () => {},
    onOpen: () => {},
    onLost: () => {},
    onExposed: () => {},
  })
  await pass([session.tick], now, 61_000)
  expect(asked.filter((what) => what === 'proved').length).toBe(2)
  asked.length = 0
  session.withdrawing()
  await session.tick()
  expect(asked).toEqual(['proved'])
})

/** Rounds of the presence watch: the clock is a number here, and the test sets the answers of the database. */
import { expect, test } from 'vitest'
import type { WatchAnswer } from '@q/store'
import { createPresenceWatch } from '../src/main/liveness/presence-watch.ts'
import { createOwnPresence } from '../src/main/liveness/own-presence.ts'
import { createBeatStreak } from '../src/main/liveness/beat-streak.ts'

interface Missing {
  goneForMs: number
  graceMs?: number
  /** Changes with every sign of life. */
  sign?: number
}

/** A watcher whose own presence has been good, and the database's clock steady, for `trustedMs`. */
async function watch(missing: Missing[], unbrokenMsMin: number, answer: Partial<WatchAnswer> = {}, replicaId = 'me') {
  const presence = createOwnPresence()
  presence.held()
  const streak = createBeatStreak(1_000)
  const now = { ms: 0 }
  const database = { aheadMs: 0, gone: [] as readonly Missing[], onQuestion: () => {} }
  const reaped: string[] = []
  let selfGone = 0
  const watcher = createPresenceWatch({
    control: {
      async watchPresence() {
        database.onQuestion()
        return {
          post: 'watcher',
          untilInMs: 700,
          clockMs: now.ms + database.aheadMs,
          gone: database.gone.map(({ goneForMs, graceMs = 2_500, sign = 0 }, index) => ({
            replicaId: `r${index}`,
            evidence: `r${index} ${sign}`,
            goneForMs,
            graceMs,
          })),
          ...answer,
        }
      },
    },
    replicaId,
    duty: 'presence',
    presence,
    streak,
    nowMs: () => now.ms,
    onSelfGone: () => void selfGone++,
    reap: async (overdue) => void reaped.push(...overdue.map((one) => one.replicaId)),
  })
  for (now.ms = 0; now.ms < unbrokenMsMin; now.ms += 500) await watcher.tick()
  now.ms = unbrokenMsMin
  database.gone = missing
  return { watcher, presence, now, database, reaped, selfGone: () => selfGone }
}

test('the watcher looks again exactly when the next grace ends', async () => {
  const { watcher, reaped } = await watch([{ goneForMs: 2_400 }, { goneForMs: 900 }], 10_000)
  expect(await watcher.tick()).toEqual({ afterMs: 100 })
  expect(reaped).toEqual([])
})

test('the runs of a replica that is gone for longer than its grace are recovered once the watcher has watched for that long', async () => {
  const trusted = await watch([{ goneForMs: 2_600 }, { goneForMs: 100 }], 10_000)
  await trusted.watcher.tick()
  expect(trusted.reaped).toEqual(['r0'])
  const fresh = await watch([{ goneForMs: 2_600 }], 2_000)
  await fresh.watcher.tick()
  expect(fresh.reaped).toEqual([])
})

test('the grace of the replica that is gone applies: the watcher looks again at its end, and has watched for as long', async () => {
  const soonest = await watch(
    [
      { goneForMs: 3_000, graceMs: 60_000 },
      { goneForMs: 900, graceMs: 1_000 },
    ],
    10_000,
  )
  expect(await soonest.watcher.tick()).toEqual({ afterMs: 100 })
  expect(soonest.reaped).toEqual([])
  const overdue = [{ goneForMs: 60_000, graceMs: 60_000 }]
  const [fresh, patient] = [await watch(overdue, 10_000), await watch(overdue, 60_000)]
  await fresh.watcher.tick()
  await patient.watcher.tick()
  expect([fresh.reaped, patient.reaped]).toEqual([[], ['r0']])
})

test('a step ahead of the database’s clock does not shorten the grace: the watcher counts it on its own clock', async () => {
  const { watcher, now, database, reaped } = await watch([{ goneForMs: 0 }], 10_000)
  await watcher.tick()
  now.ms += 1_900
  database.aheadMs += 3_000
  database.gone = [{ goneForMs: 1_900 + 3_000 }]
  expect(await watcher.tick()).toEqual({ afterMs: 600 })
  expect(reaped).toEqual([])
  now.ms += 600
  await watcher.tick()
  expect(reaped).toEqual(['r0'])
})

test('a new watcher that sees the database’s clock step counts from its own first look', async () => {
  const { watcher, now, database, reaped } = await watch([{ goneForMs: 1_900 + 3_000 }], 10_000)
  database.aheadMs += 3_000
  expect(await watcher.tick()).toEqual({ afterMs: 1_000 })
  now.ms += 2_499
  expect(await watcher.tick()).toEqual({ afterMs: 1 })
  expect(reaped).toEqual([])
  now.ms += 1
  await watcher.tick()
  expect(reaped).toEqual(['r0'])
})

test('a clock that stepped back does not prolong the grace', async () => {
  const { watcher, now, database, reaped } = await watch([{ goneForMs: 0 }], 10_000)
  database.aheadMs -= 3_600_000
  await watcher.tick()
  now.ms += 2_500
  await watcher.tick()
  expect(reaped).toEqual(['r0'])
})

test('any sign of life begins the grace again', async () => {
  const { watcher, now, database, reaped } = await watch([{ goneForMs: 2_000 }], 10_000)
  await watcher.tick()
  now.ms += 400
  database.gone = [{ goneForMs: 0, sign: 1 }]
  expect(await watcher.tick()).toEqual({ afterMs: 1_000 })
  now.ms += 2_400
  expect(await watcher.tick()).toEqual({ afterMs: 100 })
  expect(reaped).toEqual([])
})

test('the deputy looks again within 0.75 s; a replica without a post, when the lease of the deputy ends', async () => {
  const gone = { goneForMs: 60_000 }
  const deputy = await watch([gone], 10_000, { post: 'deputy' })
  expect((await deputy.watcher.tick()).afterMs).toBeLessThan(750)
  const other = await watch([gone], 10_000, { post: 'none' })
  const { afterMs } = await other.watcher.tick()
  expect(afterMs).toBeGreaterThanOrEqual(700)
  expect(afterMs).toBeLessThan(900)
  expect([...deputy.reaped, ...other.reaped]).toEqual([])
})

test('a watcher whose own lock is gone, although its session answers, recovers no replica and reports the loss', async () => {
  const { watcher, reaped, selfGone } = await watch([{ goneForMs: 9_000 }, { goneForMs: 9_000 }], 10_000, {}, 'r1')
  await watcher.tick()
  expect([reaped, selfGone()]).toEqual([[], 1])
})

test('a replica that has lost its own session does not watch the sessions of others', async () => {
  const { watcher, presence, now, reaped } = await watch([{ goneForMs: 9_000 }], 10_000)
  presence.lost(now.ms)
  await watcher.tick()
  presence.held()
  await watcher.tick()
  expect(reaped).toEqual([])
})

test('a watcher that lost its own session while the database did not respond recovers no replica', async () => {
  const { watcher, presence, now, database, reaped } = await watch([{ goneForMs: 100 }], 10_000)
  await watcher.tick()
  database.onQuestion = () => {
    now.ms += 2_900
    presence.lost(now.ms)
  }
  await watcher.tick()
  expect(reaped).toEqual([])
  database.onQuestion = () => {}
  presence.entering(now.ms)
  presence.held(now.ms)
  now.ms += 500
  await watcher.tick()
  expect(reaped).toEqual([])
})

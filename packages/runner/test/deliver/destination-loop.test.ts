/** The loop of one destination, round by round, on a real database with a sender that the test decides about. */
import { afterAll, beforeEach, expect, test } from 'vitest'
import { sql } from 'kysely'
import { connect, createStore, type Destination } from '@q/store'
import { testDatabase } from '@q/testing'
import { createDestinationLoop } from '../../src/main/deliver/destination-loop.ts'
import type { Report, SendResult } from '../../src/main/deliver/load-destinations.ts'
import type { RunnerEvent } from '../../src/main/events.ts'

const database = await testDatabase()
const { db, close } = connect(database.url, { purpose: 'pool' })
const store = createStore(db)
afterAll(async () => {
  await close()
  await database.drop()
})
beforeEach(() => sql`TRUNCATE q.delivery, q.duty`.execute(db))

const hook: Destination = {
  name: 'hook',
  kind: 'test',
  reports: ['status'],
  tasks: [],
  statuses: [],
  settings: {},
  everyMs: 300_000,
  declared: false,
  createdAt: new Date(0),
  pausedAt: null,
  pausedBy: null,
  pauseReason: null,
}

const delivered: SendResult = { kind: 'delivered' }

type Send = (reports: readonly Report[]) => Promise<readonly SendResult[]>

function replica(replicaId: string, send: Send, { inFlightMax = 2, batchMax = 2, sendMsMax = 30_000 } = {}) {
  const now = { ms: 0 }
  const events: RunnerEvent[] = []
  let opened = 0
  let closed = 0
  let woken = Promise.withResolvers<void>()
  const loop = createDestinationLoop(
    {
      store,
      replicaId,
      nowMs: () => now.ms,
      inFlight: { count: 0 },
      wake: () => woken.resolve(),
      observe: (event) => void events.push(event),
      env: () => undefined,
      sendMsMax,
      open() {
        opened++
        const kind = {
          problemsOf: () => [],
          localSettings: [],
          open: () => Promise.reject(new Error('unused')),
          inFlightMax,
          batchMax,
        }
        const closeSender = () => Promise.resolve(void closed++)
        return Promise.resolve({ kind, send, test: () => Promise.resolve(delivered), close: closeSender })
      },
    },
    hook,
  )
  return {
    ...loop,
    now,
    events,
    opened: () => opened,
    closed: () => closed,
    /** Resolves when a batch has ended. */
    async batchEnded() {
      await woken.promise
      woken = Promise.withResolvers()
    },
  }
}

async function write(...subjects: string[]): Promise<void> {
  await sql`INSERT INTO q.delivery (destination, news, subject, payload)
    SELECT 'hook', 'status', s || '/' || gen_random_uuid(), jsonb_build_object('text', s) FROM unnest(${subjects}::text[]) WITH ORDINALITY AS g(s, n) ORDER BY n`.execute(
    db,
  )
}

async function states(): Promise<string[]> {
  const { rows } = await sql<{
    state: string
  }>`SELECT CASE WHEN delivered_at IS NOT NULL THEN 'delivered' WHEN due_at IS NULL THEN 'given up'
    WHEN leased_until > clock_timestamp() THEN 'leased' ELSE 'waits' END AS state FROM q.delivery ORDER BY id`.execute(
    db,
  )
  return rows.map(({ state }) => state)
}

test('one replica at a time sends to a destination; the other takes over when it leaves', async () => {
  const sent: string[] = []
  const sending = (name: string) =>
    replica(name, (reports) => {
      sent.push(...reports.map(() => name))
      return Promise.resolve(reports.map(() => delivered))
    })
  const [a, b] = [sending('a'), sending('b')]
  await write('run/1')
  await a.tick()
  await b.tick()
  await a.close()
  await write('run/2')
  await b.tick()
  await b.close()
  expect(sent).toEqual(['a', 'b'])
  expect(await states()).toEqual(['delivered', 'delivered'])
})

test('no more batches are in flight than the destination allows, and each has at most so many reports', async () => {
  const gate = Promise.withResolvers<void>()
  const sizes: number[] = []
  const a = replica('a', async (reports) => {
    sizes.push(reports.length)
    await gate.promise
    return reports.map(() => delivered)
  })
  await write('run/1', 'run/2', 'run/3', 'run/4', 'run/5')
  await a.tick()
  await a.tick()
  expect(sizes).toEqual([2, 2])
  gate.resolve()
  await a.batchEnded()
  await a.tick()
  await a.close()
  expect(sizes).toEqual([2, 2, 1])
  expect(await states()).toEqual(Array.from({ length: 5 }, () => 'delivered'))
})

test('a destination without reports is looked at less often, until it has one', async () => {
  const a = replica('a', (reports) => Promise.resolve(reports.map(() => delivered)))
  const waits: number[] = []
  for (let look = 0; look < 4; look++) waits.push((await a.tick()).afterMs)
  expect(waits).toEqual([1_000, 2_000, 3_000, 3_000])
  await write('run/1')
  expect((await a.tick()).afterMs).toBe(1_000)
  await a.batchEnded()
  expect((await a.tick()).afterMs).toBe(1_000)
  await a.close()
})

test('a report carries its id, its subject and no password of a URL', async () => {
  const reports: Report[] = []
  const a = replica('a', (given) => {
    reports.push(...given)
    return Promise.resolve(given.map(() => delivered))
  })
  await write('run/1')
  await sql`UPDATE q.delivery SET payload = '{"detail":"cannot reach postgres://ada:canary@host/db"}'`.execute(db)
  await a.tick()
  await a.close()
  expect(reports).toMatchObject([{ id: expect.stringMatching(/^\d+\.1$/) as string, subject: 'run/1', attempt: 1 }])
  expect(JSON.stringify(reports)).not.toContain('canary')
})

test('a sender that hangs is given up after its time, closed, and opened again for the next batch', async () => {
  const a = replica('a', () => new Promise(() => {}), { sendMsMax: 1 })
  await write('run/1')
  await a.tick()
  await a.batchEnded()
  expect(await states()).toEqual(['waits'])
  expect(a.events).toMatchObject([{ type: 'deliveries-failed', destination: 'hook', reports: 1 }])
  expect(a.closed()).toBe(1)
  a.now.ms += 60_000
  await a.tick()
  expect(a.opened()).toBe(2)
  await a.close()
})

test('a destination that fails repeatedly is left to another replica', async () => {
  const a = replica('a', (reports) => Promise.resolve(reports.map(() => ({ kind: 'failed', error: 'HTTP 503' }))))
  const b = replica('b', (reports) => Promise.resolve(reports.map(() => delivered)))
  for (let round = 1; round <= 3; round++) {
    await write(`run/${round}`)
    await a.tick()
    await a.batchEnded()
    await b.tick()
    a.now.ms += 60_000
    await a.tick()
  }
  expect(await states()).toEqual(['waits', 'waits', 'waits'])
  await sql`UPDATE q.delivery SET due_at = clock_timestamp()`.execute(db)
  await b.tick()
  await b.close()
  await a.close()
  expect(await states()).toEqual(['delivered', 'delivered', 'delivered'])
})

test('a batch of which reports failed and others were not tried counts as a failure', async () => {
  const failed: SendResult = { kind: 'failed', error: 'It did not answer within 10000 ms.' }
  const postponed: SendResult = { kind: 'postponed', error: 'The receiver is slow.', retryAfterMs: 0 }
  let sent = 0
  const send: Send = (reports) => {
    sent += reports.length
    return Promise.resolve([failed, postponed].slice(0, reports.length))
  }
  const a = replica('a', send, { batchMax: 3 })
  await write('run/1', 'run/2')
  await a.tick()
  await a.batchEnded()
  await a.tick()
  expect(sent).toBe(2)
  a.now.ms += 60_000
  await a.tick()
  expect(sent).toBe(3)
  await a.close()
})

test('a rejected report is given up and reported to observers with its error', async () => {
  const a = replica('a', (reports) => Promise.resolve(reports.map(() => ({ kind: 'rejected', error: 'HTTP 400' }))))
  await write('run/1')
  await a.tick()
  await a.close()
  expect(await states()).toEqual(['given up'])
  expect(a.events).toMatchObject([{ type: 'deliveries-given-up', destination: 'hook', error: 'HTTP 400' }])
})

test('a sender that throws is a failure like any other', async () => {
  const a = replica('a', () => Promise.reject(new Error('unexpected')))
  await write('run/1')
  await a.tick()
  await a.close()
  expect(await states()).toEqual(['waits'])
})

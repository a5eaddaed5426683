/** Who sends which report, in which order, and what becomes of it. Rows are aged instead of waiting. */
import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import type { DeliveryOutcome, LeasedDelivery } from '@q/store'
import { leaseDeliveries } from '../../src/deliveries/lease-deliveries.ts'
import { untilSomebodyWaits } from '../blocked-sessions.ts'
import { fixture } from '../fixture.ts'

const { store, another, db } = await fixture()

beforeEach(() => sql`DELETE FROM q.delivery`.execute(db))

const delivered: DeliveryOutcome = { kind: 'delivered' }
const failed: DeliveryOutcome = { kind: 'failed', error: 'HTTP 503' }

/** Writes a report for each of these subjects, in this order. Returns the ids. */
async function write(...subjects: string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    INSERT INTO q.delivery (destination, news, subject, payload)
    SELECT 'hook', 'status', s || '/' || gen_random_uuid(), '{}' FROM unnest(${subjects}::text[]) WITH ORDINALITY AS g(s, n) ORDER BY n
    RETURNING id`.execute(db)
  return rows.map(({ id }) => id)
}

function lease(holder = 'a', limit = 10): Promise<LeasedDelivery[]> {
  return store.leaseDeliveries({ destination: 'hook', holder, limit, forMs: 60_000 })
}

function mark(holder: string, leased: readonly LeasedDelivery[], outcome: DeliveryOutcome) {
  return store.markDeliveries(
    holder,
    leased.map(({ id, revision }) => ({ id, revision, outcome })),
  )
}

async function idsLeased(holder?: string): Promise<string[]> {
  return (await lease(holder)).map(({ id }) => id)
}

/** As if this time had passed. */
async function age(time: string): Promise<void> {
  await sql`UPDATE q.delivery SET due_at = due_at - ${time}::interval, leased_until = leased_until - ${time}::interval,
    created_at = created_at - ${time}::interval`.execute(db)
}

test('of each run only the oldest report is leased, and the next one when it was delivered', async () => {
  const [a1, a2, b1] = await write('run/1', 'run/1', 'run/2')
  const first = await lease()
  expect(first.map(({ id }) => id)).toEqual([a1, b1])
  expect(await lease('b')).toEqual([])
  await mark('a', first, delivered)
  expect(await idsLeased('b')).toEqual([a2])
})

test('many senders at once lease each report once, and those of a run in order', async () => {
  const runs = Array.from({ length: 12 }, (_, index) => `run/${index}`)
  const ids = await write(...runs, ...runs, ...runs)
  const senders = Array.from({ length: 4 }, () => another())
  const sent: LeasedDelivery[] = []
  await Promise.all(
    senders.map(async (sender, index) => {
      while (sent.length < ids.length) {
        const holder = `sender-${index}`
        const leased = await sender.leaseDeliveries({ destination: 'hook', holder, limit: 3, forMs: 60_000 })
        sent.push(...leased)
        const marks = leased.map(({ id, revision }) => ({ id, revision, outcome: delivered }))
        await sender.markDeliveries(holder, marks)
      }
    }),
  )
  expect(sent.map(({ id }) => id).toSorted()).toEqual(ids.toSorted())
  for (const run of runs) {
    const own = sent.filter(({ orderKey }) => orderKey === run).map(({ id }) => Number(id))
    expect(own).toEqual(own.toSorted((x, y) => x - y))
  }
})

test('the reports of a dead sender are leased again under the same id when its lease has expired', async () => {
  const [id] = await write('run/1')
  const [first] = await lease('dead')
  expect(await lease('heir')).toEqual([])
  await age('2 minutes')
  const [second] = await lease('heir')
  expect(second).toMatchObject({ id, revision: first!.revision, attempt: 2 })
  expect(await mark('dead', [first!], delivered)).toEqual([])
  expect(await mark('heir', [second!], delivered)).toEqual([{ id, became: 'delivered' }])
})

test('a failed report is tried again later, and the later ones of its run wait for it', async () => {
  const [a1, a2, b1] = await write('run/1', 'run/1', 'run/2')
  const leased = await lease()
  await mark('a', leased.slice(0, 1), failed)
  await mark('a', leased.slice(1), delivered)
  expect(await lease()).toEqual([])
  const due = await db.selectFrom('q.delivery').select(['id', 'due_at', 'last_error']).orderBy('id').execute()
  expect(due.map(({ id }) => id)).toEqual([a1, a2, b1])
  expect(due[1]!.due_at).toEqual(due[0]!.due_at)
  expect(due[0]!.last_error).toBe('HTTP 503')
  await age('10 seconds')
  expect(await idsLeased()).toEqual([a1])
})

test('a receiver that says when to try again is not tried before', async () => {
  await write('run/1')
  await mark('a', await lease(), { ...failed, retryAfterMs: 3_600_000 })
  await age('59 minutes')
  expect(await lease()).toEqual([])
  await age('1 minute')
  expect(await lease()).toHaveLength(1)
})

test('a postponed report is due after its time, however often, and no attempt is counted', async () => {
  const [id] = await write('run/1')
  const postponed: DeliveryOutcome = { kind: 'postponed', error: 'limit reached', retryAfterMs: 1000 }
  for (let times = 1; times <= 20; times++) {
    const leased = await lease()
    expect(leased).toMatchObject([{ id, attempt: 1 }])
    expect(await mark('a', leased, postponed)).toEqual([{ id, became: 'retried' }])
    expect(await lease()).toEqual([])
    await age('1 second')
  }
})

test('a report is given up when it is rejected or after its last attempt, and the next of its run follows', async () => {
  const [first, second, third] = await write('run/1', 'run/1', 'run/1')
  expect(await mark('a', await lease(), { kind: 'rejected', error: 'HTTP 400' })).toEqual([
    { id: first, became: 'given-up' },
  ])
  for (let attempt = 1; attempt < 15; attempt++) {
    expect(await mark('a', await lease(), failed)).toEqual([{ id: second, became: 'retried' }])
    await age('2 hours')
  }
  expect(await mark('a', await lease(), failed)).toEqual([{ id: second, became: 'given-up' }])
  expect(await idsLeased()).toEqual([third])
  const { items } = await store.listDeliveries({ givenUp: true })
  expect(items.map(({ id }) => id)).toEqual([second, first])
})

test('a report that was given up is sent again by command, unless a newer one of its run was delivered', async () => {
  const [first, second] = await write('run/1', 'run/1')
  await mark('a', await lease(), { kind: 'rejected', error: 'HTTP 400' })
  expect(await store.redeliver(first!)).toBe('due')
  expect(await idsLeased()).toEqual([first])
  await mark('a', [{ id: first!, revision: 1 } as LeasedDelivery], { kind: 'rejected', error: 'HTTP 400' })
  await mark('a', await lease(), delivered)
  expect(await store.redeliver(first!)).toBe('superseded')
  expect(await store.redeliverGivenUp({ destination: 'hook', limit: 10 })).toBe(0)
  expect(await store.redeliver(second!)).toBe('due')
  expect(await store.redeliver('999999')).toBe('not-found')
})

test('a report that was given up is not sent again while a newer one of its run is under way', async () => {
  const [first, second] = await write('run/1', 'run/1')
  await mark('a', await lease(), { kind: 'rejected', error: 'HTTP 400' })
  const underWay = await lease()
  expect(underWay.map(({ id }) => id)).toEqual([second])
  expect(await store.redeliver(first!)).toBe('superseded')
  expect(await store.redeliverGivenUp({ destination: 'hook', limit: 10 })).toBe(0)
  await mark('a', underWay, delivered)
  expect(await lease()).toEqual([])
})

test.each([
  ['one report', (id: string) => another().redeliver(id)],
  ['all reports', () => another().redeliverGivenUp({ destination: 'hook', limit: 10 })],
])('%s cannot be sent again beside a newer one that is leased at the same time', async (_, redeliver) => {
  const [first, second] = await write('run/1', 'run/1')
  await mark('a', await lease(), { kind: 'rejected', error: 'HTTP 400' })
  const redelivering = await db.transaction().execute(async (trx) => {
    const [leased] = await leaseDeliveries(trx, { destination: 'hook', holder: 'a', limit: 1, forMs: 60_000 })
    expect(leased).toMatchObject({ id: second })
    const waiting = redeliver(first!)
    await untilSomebodyWaits(db)
    return { waiting }
  })
  expect(await redelivering.waiting).toBeOneOf(['superseded', 0])
  expect(await lease('b')).toEqual([])
})

test('old reports are removed, delivered or not', async () => {
  const [old] = await write('run/1')
  await age('8 days')
  const [young] = await write('run/2')
  expect(await store.pruneDeliveries({ keepMs: 7 * 86_400_000, limit: 10 })).toBe(1)
  const { items } = await store.listDeliveries()
  expect(items.map(({ id }) => id)).toEqual([young])
  expect(old).not.toBe(young)
})

test('an error with characters that the database cannot store is recorded, and does not hold up the rest of its batch', async () => {
  const [a] = await write('run/1', 'run/2')
  const leased = await lease()
  const nul: DeliveryOutcome = { kind: 'failed', error: 'It answered HTTP 503: \0 \ud83d' }
  const marks = leased.map(({ id, revision }) => ({ id, revision, outcome: id === a ? nul : delivered }))
  const marked = await store.markDeliveries('a', marks)
  expect(marked.map(({ became }) => became).toSorted()).toEqual(['delivered', 'retried'])
  const { rows } = await sql`SELECT last_error FROM q.delivery WHERE id = ${a}`.execute(db)
  expect(rows).toEqual([{ last_error: 'It answered HTTP 503: \ufffd \ufffd' }])
})

test('a report that was leased thousands of times without an answer is given up, and the next one of its run follows', async () => {
  const [first, second] = await write('run/1', 'run/1')
  await sql`UPDATE q.delivery SET attempts = 5000 WHERE id = ${first}`.execute(db)
  expect(await mark('a', await lease(), failed)).toEqual([{ id: first, became: 'given-up' }])
  expect(await idsLeased('b')).toEqual([second])
})

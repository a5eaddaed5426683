/** Concurrent enqueues with one key, by SQL and by the client, are serialized. */
import type { Client } from 'pg'
import { afterAll, expect, test } from 'vitest'
import { queue } from '@q/client'
import type { Task } from '@q/task'
import { fixture, type Answer } from './fixture.ts'

const { url, store, client, session, untilWaitedFor, enqueue, publish } = await fixture()
await publish('first', { throttle: { key: '/key', for: '1h' } })
await publish('last', { debounce: { key: '/key', for: '1h', max: '2h' } })
await publish('daily', { unique: { key: '/key', for: '1d' } })
const q = queue<Record<string, Task<unknown>>>(url)
afterAll(() => q.close())

interface Payload {
  readonly key: string
  readonly n?: number
}

type Way = 'SQL' | 'the client'
type Enqueue = (task: string, payload: Payload, within?: Client) => Promise<Pick<Answer, 'id' | 'duplicate'>>

const sessions = await Promise.all(Array.from({ length: 6 }, session))
let turn = 0
const ways: Record<Way, Enqueue> = {
  SQL: (task, payload, within = sessions[turn++ % sessions.length]) =>
    enqueue('$1, $2', [task, JSON.stringify(payload)], within),
  'the client': (task, payload, within) => q.enqueue(task, payload, within === undefined ? {} : { tx: within }),
}
const pairs: [Way, Way][] = [
  ['SQL', 'SQL'],
  ['SQL', 'the client'],
  ['the client', 'SQL'],
]

async function runsWith(key: string): Promise<{ id: string; n: number | null }[]> {
  const { rows } = await client.query<{ id: string; n: number | null }>(
    `SELECT id, (payload -> 'n')::int AS n FROM q.task_run WHERE payload ->> 'key' = $1 ORDER BY id`,
    [key],
  )
  return rows
}

/** The second comes while the transaction of the first is open, and is answered when that has ended. */
async function meet(task: string, key: string, [one, other]: readonly [Way, Way], end: 'COMMIT' | 'ROLLBACK') {
  const holder = await session()
  await holder.query('BEGIN')
  const first = await ways[one](task, { key, n: 1 }, holder)
  const waiting = ways[other](task, { key, n: 2 })
  await untilWaitedFor(holder)
  await holder.query(end)
  return { first, second: await waiting }
}

test.each(pairs)(
  'throttled, by %s and then by %s: an enqueue beside an open transaction waits, and returns its run',
  async (...pair) => {
    for (const task of ['first', 'daily']) {
      const key = `${task} ${pair.join()}`
      const { first, second } = await meet(task, key, pair, 'COMMIT')
      expect([first.duplicate, second]).toMatchObject([false, { id: first.id, duplicate: true }])
      expect(await runsWith(key)).toEqual([{ id: first.id, n: 1 }])
    }
  },
)

test.each(pairs)(
  'throttled, by %s and then by %s: after a rollback the second enqueue creates the run',
  async (...pair) => {
    for (const task of ['first', 'daily']) {
      const key = `${task} ${pair.join()} undone`
      const { second } = await meet(task, key, pair, 'ROLLBACK')
      expect(second.duplicate).toBe(false)
      expect(await runsWith(key)).toEqual([{ id: second.id, n: 2 }])
    }
  },
)

test.each(pairs)(
  'debounced, by %s and then by %s: an enqueue beside an open transaction waits, and wins',
  async (...pair) => {
    const key = `last ${pair.join()}`
    const { first, second } = await meet('last', key, pair, 'COMMIT')
    expect([first.duplicate, second]).toMatchObject([false, { id: first.id, duplicate: true }])
    expect(await runsWith(key)).toEqual([{ id: first.id, n: 2 }])
    const again = await meet('last', key, pair, 'COMMIT')
    expect([again.first, again.second]).toMatchObject([
      { id: first.id, duplicate: true },
      { id: first.id, duplicate: true },
    ])
  },
)

test.each(pairs)('debounced, by %s and then by %s: while a run is due, one new run waits', async (...pair) => {
  const key = `last ${pair.join()} due`
  const due = await ways.SQL('last', { key, n: 0 })
  await client.query(`UPDATE q.task_run SET run_at = run_at - interval '1 h' WHERE id = $1`, [due.id])
  const { first, second } = await meet('last', key, pair, 'COMMIT')
  expect([first.duplicate, second]).toMatchObject([false, { id: first.id, duplicate: true }])
  expect(await runsWith(key)).toEqual([
    { id: due.id, n: 0 },
    { id: first.id, n: 2 },
  ])
})

test.each(pairs)('debounced, by %s and then by %s: a rollback removes the first enqueue', async (...pair) => {
  const key = `last ${pair.join()} undone`
  const { second } = await meet('last', key, pair, 'ROLLBACK')
  expect(second.duplicate).toBe(false)
  expect(await runsWith(key)).toEqual([{ id: second.id, n: 2 }])
})

test.each(['first', 'last', 'daily'])('parallel enqueues with one key create one run: %s', async (task) => {
  for (let round = 0; round < 15; round++) {
    const key = `${task} parallel ${round}`
    const answers = await Promise.all(
      sessions.flatMap((own, n) => [ways.SQL(task, { key, n }, own), ways['the client'](task, { key, n: -n - 1 })]),
    )
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1)
    expect(answers.filter(({ duplicate }) => !duplicate)).toHaveLength(1)
    expect(await runsWith(key)).toHaveLength(1)
  }
})

test('one of several parallel enqueues takes over an expired window', async () => {
  for (let round = 0; round < 15; round++) {
    const answers = await Promise.all(
      sessions.flatMap((own) => [
        ways.SQL('first', { key: 'over' }, own),
        ways['the client']('first', { key: 'over' }),
      ]),
    )
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1)
    expect(answers.filter(({ duplicate }) => !duplicate)).toHaveLength(1)
    await client.query(`UPDATE q.unique_period SET until = until - interval '2 h' WHERE task = 'first'`)
  }
})

test.each(['first', 'last', 'daily'])('batches that lock many keys do not deadlock: %s', async (task) => {
  const keys = Array.from({ length: 30 }, (_, n) => `${task} circle ${n}`)
  for (let round = 0; round < 5; round++) {
    const many = `SELECT run.id FROM (SELECT key FROM unnest($2::text[]) key ORDER BY key COLLATE "C") sorted,
      q.enqueue($1, jsonb_build_object('key', key, 'n', $3::int)) AS run`
    const answers = await Promise.all([
      ...sessions.slice(0, 3).map(async (own, n) => (await own.query<Answer>(many, [task, keys, n])).rows),
      ...[10, 20].map((n) => {
        const shuffled = keys.toSorted(() => Math.random() - 0.5)
        return q.enqueueMany(shuffled.map((key) => [task, { key, n }] as const))
      }),
    ])
    expect(new Set(answers.flat().map(({ id }) => id)).size).toBe(30)
  }
})

test('a debounce that races with a promotion either changes the run or leaves it alone', async () => {
  for (let round = 0; round < 20; round++) {
    const key = `gate ${round}`
    const call = `'last', $1, debounce_key => $2, debounce_for => $3, debounce_max => '1 h'`
    const first = await enqueue(call, [JSON.stringify({ key, n: 1 }), key, '3 ms'])
    const [second] = await Promise.all([
      enqueue(call, [JSON.stringify({ key, n: 2 }), key, '1 h'], sessions[0]),
      store.promoteDueTaskRuns(100),
    ])
    expect((await runsWith(key)).map(({ n }) => n)).toEqual(second.id === first.id ? [2] : [1, 2])
    expect(second.status).toBe('PENDING')
  }
})

test.each(['first', 'last', 'daily'])('a key whose run was deleted manually is free: %s', async (task) => {
  for (const way of Object.values(ways)) {
    const { id } = await way(task, { key: `${task} removed` })
    await client.query('DELETE FROM q.task_run WHERE id = $1', [id])
    expect(await way(task, { key: `${task} removed` })).toMatchObject({ duplicate: false })
    await client.query(`DELETE FROM q.task_run WHERE payload ->> 'key' = $1`, [`${task} removed`])
  }
})

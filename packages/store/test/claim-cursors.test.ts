/**
 * Claims that begin where a slow look saw the oldest run: they take every run once and in order, and a run that becomes
 * ready before that cursor waits for the next look at most.
 */
import { afterAll, expect, test } from 'vitest'
import { sql } from 'kysely'
import { connect, createClaimer, type ClaimedRun, type Connection, type RunId } from '@q/store'
import { createClaimCursors } from '../src/runs/claim-cursors.ts'
import { by, fixture, leaseOf } from './fixture.ts'
import { wholeExchange } from './whole-exchange.ts'

const { enqueue, url, db, store, claim } = await fixture()
const connections: Connection[] = []
afterAll(() => Promise.all(connections.map((connection) => connection.close())))

/** A replica for which every look is slow: the next one is due a second later, on a clock that the test sets. */
function replica(task: string, lastMs: (lookMs: number) => number = () => 1_000) {
  const connection = connect(url, { purpose: 'exchange' })
  connections.push(connection)
  let now = 0
  const cursors = { nowMs: () => now, lastMs }
  const claimer = createClaimer({ replicaId: 'replica-aaaa', tasks: [task], queues: [], cursors })
  return {
    claimer,
    passSecond: () => void (now += 1_000),
    async take(limit: number) {
      const { claimed, more } = await wholeExchange(connection, claimer, {
        finishes: [],
        starts: [],
        claim: limit,
        prefetch: 0,
      })
      return { claimed, more, ids: claimed.map(({ runId }) => runId) }
    },
  }
}

/** How a run becomes ready before runs that wait already. `held` is the oldest run, which another replica holds. */
const ways: readonly { readonly by: string; make(task: string, held: ClaimedRun): Promise<RunId> }[] = [
  {
    by: 'a release',
    async make(_, held) {
      const [released] = await store.releaseTaskRuns([leaseOf(held)])
      return released!
    },
  },
  {
    by: 'a requeue by a reaper',
    async make(_, held) {
      await db.updateTable('q.task_run').set({ on_crash: 'retry' }).where('id', '=', held.runId).execute()
      const { ids } = await store.reap({ by: 'reaper' })
      return ids.find((id) => id === held.runId)!
    },
  },
  {
    by: 'the end of the run that had its concurrency key',
    async make(task, held) {
      const next = await db
        .selectFrom('q.task_run')
        .select('id')
        .where('task', '=', task)
        .where('status', '=', 'PENDING')
        .executeTakeFirstOrThrow()
      await store.settleTaskRuns([{ lease: leaseOf(held), outcome: { status: 'SUCCEEDED', result: '1' }, by }])
      return next.id as RunId
    },
  },
  {
    by: 'an earlier time in plain SQL',
    async make(task) {
      const [run] = await enqueue(task)
      await sql`UPDATE q.task_run SET run_at = now() - interval '1 hour' WHERE id = ${run}`.execute(db)
      return run!
    },
  },
  { by: 'a better priority', make: async (task) => (await enqueue(task, { priority: -1 }))[0]! },
  { by: 'a new group', make: async (task) => (await enqueue(task, { group: 'new' }))[0]! },
]

test.for(ways.map((way, number) => ({ ...way, task: `way-${number}` })))(
  'a run that becomes ready by $by waits for one look at most',
  async ({ make, task }) => {
    const { take, passSecond } = replica(task)
    const held = await heldWithSuccessor(task)
    await enqueue(task, { count: 6 })
    await take(1)
    const run = await make(task, held)
    passSecond()
    const before = await take(1)
    const after = await take(2)
    expect(before.ids).toHaveLength(1)
    expect([...before.ids, ...after.ids]).toContain(run)
  },
)

test('until the look, runs that waited before go on', async () => {
  const { take } = replica('until')
  const [oldest] = await enqueue('until', { count: 4 })
  const [held] = await claim('until', 1, 'replica-bbbb')
  await take(1)
  await store.releaseTaskRuns([leaseOf(held!)])
  expect((await take(1)).ids).not.toContain(oldest)
})

test('a claim that gets all it asked for moves its cursor to the last run it took', async () => {
  const { take } = replica('moves')
  const ids = await enqueue('moves', { count: 4 })
  const { claimed } = await take(2)
  await store.releaseTaskRuns(claimed.slice(0, 1).map(leaseOf))
  expect((await take(1)).ids).toEqual([ids[2]])
})

test('a claim that gets too few from its cursor is repeated from the beginning', async () => {
  const { take } = replica('too-few')
  const [oldest] = await enqueue('too-few', { count: 3 })
  const [held] = await claim('too-few', 1, 'replica-bbbb')
  await take(1)
  await store.releaseTaskRuns([leaseOf(held!)])
  const short = await take(5)
  expect(short).toMatchObject({ claimed: [{}], more: true })
  expect((await take(5)).ids).toEqual([oldest])
})

test('every run is claimed once and in order, also runs of the same microsecond', async () => {
  const { take } = replica('order')
  const ids = await enqueue('order', { count: 100 })
  await sql`UPDATE q.task_run SET run_at = now() - interval '1 second' WHERE task = 'order'`.execute(db)
  const claimed: RunId[] = []
  for (let more = true; more;) {
    const taken = await take(7)
    claimed.push(...taken.ids)
    ;({ more } = taken)
  }
  expect(claimed).toEqual(ids)
})

test('a run that is ready since forever is claimed', async () => {
  const { take } = replica('forever')
  await enqueue('forever', { count: 2 })
  await sql`UPDATE q.task_run SET run_at = '-infinity' WHERE task = 'forever'`.execute(db)
  expect([...(await take(1)).ids, ...(await take(1)).ids]).toHaveLength(2)
})

test('after a quick look, claims read from the beginning', async () => {
  const { take } = replica('quick', () => 0)
  const [oldest] = await enqueue('quick', { count: 4 })
  const [held] = await claim('quick', 1, 'replica-bbbb')
  await take(1)
  await store.releaseTaskRuns([leaseOf(held!)])
  expect((await take(1)).ids).toEqual([oldest])
})

test('looks take a tenth of the time at most, and a quick look lets claims read from the beginning', () => {
  let now = 0
  const cursors = createClaimCursors({ nowMs: () => now })
  const row = { lane: 1, task: 't', queue: 'default', priority: 0, group: '', weight: 1 }
  const position = { fromRunAt: '2026-01-01T00:00:00.000001+00:00', fromId: '7' }
  const slow = cursors.looked([{ ...row, ...position, lookMs: 60 }])
  expect(slow).toEqual([{ ...row, from: { runAt: position.fromRunAt, id: '7' } }])
  now = 599
  expect(cursors.expired).toBe(false)
  now = 600
  expect(cursors.expired).toBe(true)
  expect(cursors.looked([{ ...row, ...position, lookMs: 1 }])).toEqual([row])
  now = 1_000_000
  expect(cursors.expired).toBe(false)
})

/** The oldest run of the task, held by another replica, and a run that waits for its concurrency key. */
async function heldWithSuccessor(task: string): Promise<ClaimedRun> {
  for (let run = 0; run < 2; run++) await enqueue(task, { concurrency: { scope: task, key: 'one' } })
  const [held] = await claim(task, 1, 'replica-bbbb')
  return held!
}

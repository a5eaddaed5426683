import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { fixture } from './fixture.ts'

const { store, enqueue, claim, row, another, db } = await fixture()

test('a claimed run is RUNNING under a new fence before its code starts', async () => {
  const [id] = await enqueue('first')
  const [claimed] = await claim('first', 1, 'replica-aaaa')
  expect(claimed).toMatchObject({ runId: id, fence: 1, attempt: 1, task: 'first', payload: '{}' })
  expect(await row(id!)).toMatchObject({ status: 'RUNNING', replica_id: 'replica-aaaa', fence: 1, attempt: 1 })
})

test('no run is claimed twice, however many replicas claim at once', async () => {
  const ids = await enqueue('contended', { count: 200 })
  const replicas = Array.from({ length: 6 }, (_, index) => ({ store: another(), replicaId: `replica-${index}` }))
  const claimed = await Promise.all(
    replicas.map(async ({ store: own, replicaId }) => {
      const mine: string[] = []
      for (let empty = 0; empty < 3;) {
        const runs = await own.claimAvailableTaskRuns({ replicaId, tasks: ['contended'], queues: [], limit: 7 })
        expect(runs.length).toBeLessThanOrEqual(7)
        mine.push(...runs.map((run) => run.runId))
        empty = runs.length === 0 ? empty + 1 : 0
      }
      return mine
    }),
  )
  expect(claimed.flat().toSorted()).toEqual(ids.toSorted())
})

test('a claim never takes more than its limit', async () => {
  await enqueue('limited', { count: 10 })
  expect(await claim('limited', 3)).toHaveLength(3)
  expect(await claim('limited', 0)).toEqual([])
  expect(await claim('limited', 100)).toHaveLength(7)
})

test('a claim skips a run that another transaction has locked', async () => {
  const [locked, free] = await enqueue('locked', { count: 2 })
  const claimed = await db.transaction().execute(async (trx) => {
    await sql`SELECT FROM q.task_run WHERE id = ${locked} FOR UPDATE`.execute(trx)
    return claim('locked', 2)
  })
  expect(claimed.map(({ runId }) => runId)).toEqual([free])
  expect(await claim('locked', 2)).toMatchObject([{ runId: locked }])
})

test('only tasks the replica knows, in queues it works on, are claimed', async () => {
  const lane = await store.internLane({ queue: 'slow', task: 'known' })
  await store.enqueueTaskRuns([{ task: 'known', lane, payload: {} }])
  const request = { replicaId: 'r', tasks: ['known'], limit: 5 }
  expect(await claim('unknown')).toEqual([])
  expect(await store.claimAvailableTaskRuns({ ...request, queues: ['fast'] })).toEqual([])
  expect(await store.claimAvailableTaskRuns({ ...request, queues: ['fast', 'slow'] })).toHaveLength(1)
})

test('lower priorities go first, then the older run', async () => {
  const [late] = await enqueue('ordered', { priority: 5 })
  const [first, second] = await enqueue('ordered', { priority: -5, count: 2 })
  const [third] = await enqueue('ordered', { priority: 0 })
  const order = [await claim('ordered', 2), await claim('ordered', 2)].flat().map((run) => run.runId)
  expect(order).toEqual([first, second, third, late])
})

test('a burst of one group does not delay the single run of another by more than one round', async () => {
  await enqueue('shared', { count: 50, group: 'big' })
  const [single] = await enqueue('shared', { group: 'small' })
  expect((await claim('shared', 2)).map((run) => run.runId)).toContain(single)
})

test('gated and finished runs are not claimed', async () => {
  const [id] = await enqueue('gated', { delayMs: 3_600_000 })
  expect(await row(id!)).toMatchObject({ status: 'PENDING', waiting_for: 'time' })
  expect(await claim('gated')).toEqual([])
})

test('a run that is due is promoted once, whichever replica looks first', async () => {
  const [due, future] = [
    ...(await enqueue('due', { delayMs: 3_600_000 })),
    ...(await enqueue('due', { delayMs: 3_600_000 })),
  ]
  await db
    .updateTable('q.task_run')
    .set({ run_at: new Date(0) })
    .where('id', '=', due!)
    .execute()
  const promoted = await Promise.all([another().promoteDueTaskRuns(10), another().promoteDueTaskRuns(10)])
  expect(promoted.flatMap(({ ids }) => ids)).toEqual([due])
  expect(await row(due!)).toMatchObject({ status: 'AVAILABLE', waiting_for: null })
  expect(await row(future!)).toMatchObject({ status: 'PENDING' })
  expect(await store.nextDueInMs()).toBeGreaterThan(3_000_000)
})

test('a run that SQL has parked until infinity neither is due nor hides the run that is due next', async () => {
  const [parked] = await enqueue('parked', { delayMs: 1000 })
  await sql`UPDATE q.task_run SET run_at = 'infinity' WHERE id = ${parked!}`.execute(db)
  await enqueue('parked', { delayMs: 60_000 })
  expect(await store.nextDueInMs()).toBeLessThanOrEqual(60_000)
  await sql`DELETE FROM q.task_run WHERE due_at < 'infinity'`.execute(db)
  expect(await store.nextDueInMs()).toBeUndefined()
  const { run, why } = (await store.getTaskRun(parked!))!
  expect(run.runAt).toEqual(new Date('9999-12-31T23:59:59.999Z'))
  expect(why!.sentence).toMatch(/^It is parked: SQL has set its run_at to infinity\./)
})

test('a run whose deadline has passed does not take the place of a run that can start', async () => {
  const [late] = await enqueue('late', { priority: -1, expiresInMs: 60_000 })
  const [good] = await enqueue('late')
  await db
    .updateTable('q.task_run')
    .set({ expires_at: new Date(0) })
    .where('id', '=', late!)
    .execute()
  expect((await claim('late', 1)).map((run) => run.runId)).toEqual([good])
})

/** Deadlines: a run that has not started in time ends EXPIRED. */
import { expect, test } from 'vitest'
import { fixture, leaseOf } from './fixture.ts'

const { store, enqueue, claim, row, db, another } = await fixture()

test('a run whose deadline has passed is neither claimed nor started, and ends EXPIRED', async () => {
  const [late, ahead] = await enqueue('deadline', { count: 2, expiresInMs: 3_600_000 })
  const [claimed] = await store.claimAvailableTaskRuns({
    replicaId: 'r',
    tasks: ['deadline'],
    queues: [],
    limit: 1,
    prefetch: true,
  })
  await db
    .updateTable('q.task_run')
    .set({ expires_at: new Date(0) })
    .where('task', '=', 'deadline')
    .execute()
  expect(await claim('deadline', 5)).toEqual([])
  expect(await store.startTaskRuns([leaseOf(claimed!)])).toEqual([])
  const expired = (await Promise.all([another().expireTaskRuns(10), another().expireTaskRuns(10)])).flat()
  expect(new Set(expired)).toEqual(new Set([late, ahead]))
  expect(expired).toHaveLength(2)
  expect(await row(late!)).toMatchObject({ status: 'EXPIRED', result: { code: 'TASK_EXPIRED' } })
})

test('a run that has started does not expire when its deadline passes', async () => {
  const [id] = await enqueue('in-time', { expiresInMs: 3_600_000 })
  await claim('in-time')
  await db
    .updateTable('q.task_run')
    .set({ expires_at: new Date(0) })
    .where('task', '=', 'in-time')
    .execute()
  expect(await store.expireTaskRuns(10)).not.toContain(id)
  expect(await row(id!)).toMatchObject({ status: 'RUNNING' })
})

test('a locked run does not delay the expiry of others', async () => {
  const [locked, late] = await enqueue('deadlines', { count: 2, expiresInMs: 0 })
  await db.transaction().execute(async (trx) => {
    await trx.selectFrom('q.task_run').select('id').where('id', '=', locked!).forUpdate().execute()
    expect(await store.expireTaskRuns(10)).toEqual([late])
  })
  expect(await store.expireTaskRuns(10)).toEqual([locked])
})

/** Priority, then fair shares, then age: what a claim takes, asserted as an order. */
import { expect, onTestFinished, test } from 'vitest'
import { sql } from 'kysely'
import { connect, createFairShares, type RunId } from '@q/store'
import { fixture } from './fixture.ts'

const { url, store, enqueue, claim, db } = await fixture()

/** One run at a time, by a replica that remembers whom it served. */
async function groupsInOrder(task: string, turns: number, options: { queueWeights?: Record<string, number> } = {}) {
  const shares = createFairShares()
  const order: string[] = []
  for (let turn = 0; turn < turns; turn++) {
    const request = { replicaId: 'one-by-one', tasks: [task], queues: [], shares, limit: 1, ...options }
    const [run] = await store.claimAvailableTaskRuns(request)
    order.push(await groupOf(run!.runId))
  }
  return order
}

async function groupOf(id: RunId): Promise<string> {
  const { rows } = await sql<{ name: string }>`
    SELECT lane.queue || '/' || r.grp AS name FROM q.task_run r JOIN q.lane ON lane.id = r.lane WHERE r.id = ${id}`.execute(
    db,
  )
  return rows[0]!.name
}

test('a tenant’s million runs do not delay another tenant’s single run by more than one round', async () => {
  const lane = await store.internLane({ queue: 'default', task: 'million' })
  // Without the limits of ordinary connections: a busy machine takes its time for a million rows.
  const patient = connect(url, { purpose: 'migrate' })
  onTestFinished(() => patient.close())
  await patient.db.transaction().execute(async (trx) => {
    // A superuser with the triggers off; generated columns and CHECKs still hold.
    await sql`SET LOCAL session_replication_role = replica`.execute(trx)
    await sql`INSERT INTO q.task_run (lane, task, grp) SELECT ${lane}, 'million', 'big' FROM generate_series(1, 1000000)`.execute(
      trx,
    )
  })
  await enqueue('million', { group: 'small' })
  expect(await groupsInOrder('million', 4)).toEqual(['default/big', 'default/small', 'default/big', 'default/big'])
  // Faster than a DELETE, and the other tests enqueue their own.
  await sql`TRUNCATE q.task_run CASCADE`.execute(patient.db)
}, 300_000)

test('groups get turns in proportion to their weights', async () => {
  await enqueue('weighed', { count: 20, group: 'light' })
  await enqueue('weighed', { count: 20, group: 'heavy' })
  await store.setGroupWeight({ queue: 'default', group: 'heavy' }, 3)
  const order = await groupsInOrder('weighed', 16)
  expect(order.filter((name) => name === 'default/heavy')).toHaveLength(12)
  const all = await claim('weighed', 12)
  const names = await Promise.all(all.map((run) => groupOf(run.runId)))
  // 8 of the heavy group are left: 9 of 12 would be its share, and no share is wasted.
  expect(names.filter((name) => name === 'default/heavy')).toHaveLength(8)
  expect(all).toHaveLength(12)
})

test('queues get turns in proportion to the replica’s weights', async () => {
  for (const queue of ['cpu', 'mail']) {
    const lane = await store.internLane({ queue, task: 'two-queues' })
    await store.enqueueTaskRuns(Array.from({ length: 9 }, () => ({ task: 'two-queues', lane, payload: {} })))
  }
  const order = await groupsInOrder('two-queues', 8, { queueWeights: { cpu: 3 } })
  expect(order.filter((name) => name === 'cpu/')).toHaveLength(6)
})

test('a better priority goes before any share', async () => {
  await enqueue('urgent', { count: 3, group: 'a' })
  await enqueue('urgent', { count: 2, group: 'b', priority: -1 })
  expect(await groupsInOrder('urgent', 3)).toEqual(['default/b', 'default/b', 'default/a'])
})

test('within a group the older run is first', async () => {
  const ids = await enqueue('aged', { count: 3, group: 'g' })
  await db
    .updateTable('q.task_run')
    .set({ run_at: new Date(0) })
    .where('id', '=', ids[2]!)
    .execute()
  expect((await claim('aged', 3)).map((run) => run.runId)).toEqual([ids[2], ids[0], ids[1]])
})

test('a claim takes all ready runs up to its limit, however they are distributed', async () => {
  for (const [group, count] of [
    ['a', 1],
    ['b', 17],
    ['c', 2],
    ['d', 5],
  ] as const)
    await enqueue('spread', { group, count })
  expect(await claim('spread', 20)).toHaveLength(20)
  expect(await claim('spread', 20)).toHaveLength(5)
})

test('two names that look the same are two groups', async () => {
  await enqueue('alike', { count: 2, group: '1 a' })
  await enqueue('alike', { count: 2, group: 'a' })
  expect(await claim('alike', 4)).toHaveLength(4)
})

test.each([0, 1.5, 1_001, Number.NaN])('a weight of %d is refused', async (weight) => {
  await expect(store.setGroupWeight({ queue: 'default', group: 'g' }, weight)).rejects.toMatchObject({
    code: 'WEIGHT_INVALID',
  })
})

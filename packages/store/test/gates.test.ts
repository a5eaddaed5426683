import { expect, test } from 'vitest'
import type { RunId } from '@q/store'
import { by, fixture, leaseOf } from './fixture.ts'

const { store, enqueue, claim, claimOne, row, db, another } = await fixture()
const ok = { status: 'SUCCEEDED', result: '1' } as const

async function states(ids: readonly RunId[]): Promise<string[]> {
  return Promise.all(ids.map(async (id) => (await row(id)).status))
}

async function liveOf(task: string): Promise<number> {
  const rows = await db
    .selectFrom('q.task_run')
    .select('id')
    .where('task', '=', task)
    .where('concurrency_slot', 'is not', null)
    .execute()
  return rows.length
}

test('one run of a concurrency key is live; its end hands the slot to the next, by priority and then by age', async () => {
  const concurrency = { scope: 'keyed', key: 'a' }
  const [first, third] = await enqueue('keyed', { count: 2, concurrency })
  let claimed = (await claim('keyed', 5)).find((run) => run.runId === first)
  const [second] = await enqueue('keyed', { concurrency, priority: -1 })
  const [other] = await enqueue('keyed', { concurrency: { scope: 'keyed', key: 'b' } })
  expect(await states([first!, second!, third!, other!])).toEqual(['RUNNING', 'PENDING', 'PENDING', 'AVAILABLE'])
  for (const [done, next] of [
    [first, second],
    [second, third],
  ] as const) {
    claimed ??= (await claim('keyed', 5)).find((run) => run.runId === done)
    expect(await row(next!)).toMatchObject({ status: 'PENDING', waiting_for: 'concurrency' })
    await store.settleTaskRuns([{ lease: leaseOf(claimed!), outcome: ok, by }])
    claimed = undefined
    expect(await row(next!)).toMatchObject({ status: 'AVAILABLE', waiting_for: null, concurrency_slot: 1 })
  }
})

test('the limit is one value per scope: raised, more runs of every key of it are live', async () => {
  const concurrency = { scope: 'wide', key: 'k' }
  const ids = await enqueue('wide', { count: 4, concurrency })
  expect(await liveOf('wide')).toBe(1)
  await store.setConcurrencyLimit('wide', 3)
  expect(await store.sweepGatedKeys(100)).toHaveLength(2)
  expect(await states(ids)).toEqual(['AVAILABLE', 'AVAILABLE', 'AVAILABLE', 'PENDING'])
  await store.setConcurrencyLimit('wide', 1)
  const claimed = await claim('wide', 5)
  await store.settleTaskRuns(claimed.map((run) => ({ lease: leaseOf(run), outcome: ok, by })))
  expect(await states(ids)).toEqual(['SUCCEEDED', 'SUCCEEDED', 'SUCCEEDED', 'AVAILABLE'])
  expect(await liveOf('wide')).toBe(1)
})

test('a run that waits for its retry holds no slot and is overtaken', async () => {
  const concurrency = { scope: 'overtaken', key: 'k' }
  const [slow, fast] = await enqueue('overtaken', { count: 2, concurrency, maxAttempts: 2 })
  const claimed = await claimOne('overtaken')
  const retry = { delayMs: 60_000, delayMsMax: 60_000 }
  const outcome = { status: 'FAILED', code: 'TASK_ERROR', detail: 'no', retry } as const
  await store.settleTaskRuns([{ lease: leaseOf(claimed), outcome, by }])
  expect(await states([slow!, fast!])).toEqual(['PENDING', 'AVAILABLE'])
  await db
    .updateTable('q.task_run')
    .set({ run_at: new Date(0) })
    .where('id', '=', slow!)
    .execute()
  expect((await store.promoteDueTaskRuns(10)).ids).toEqual([])
  expect(await row(slow!)).toMatchObject({ status: 'PENDING', waiting_for: 'concurrency' })
  const next = await claimOne('overtaken')
  await store.settleTaskRuns([{ lease: leaseOf(next), outcome: ok, by }])
  expect(await states([slow!])).toEqual(['AVAILABLE'])
})

test('a released run keeps its slot, a cancelled run hands it on', async () => {
  const concurrency = { scope: 'handed', key: 'k' }
  const [first, second] = await enqueue('handed', { count: 2, concurrency })
  const claimed = await claimOne('handed')
  await store.releaseTaskRuns([leaseOf(claimed)])
  expect(await states([first!, second!])).toEqual(['AVAILABLE', 'PENDING'])
  await store.cancelTaskRuns([first!])
  expect(await states([first!, second!])).toEqual(['CANCELLED', 'AVAILABLE'])
})

test('a key never has more holders than its limit and no run waits forever, under concurrent enqueues, settles and cancels', async () => {
  await store.setConcurrencyLimit('storm', 2)
  const keys = ['a', 'b', 'c']
  const lane = await store.internLane({ queue: 'default', task: 'storm' })
  const enqueued = Promise.all(
    Array.from({ length: 3 }, async () => {
      const own = another()
      for (let round = 0; round < 40; round++) {
        const concurrency = { scope: 'storm', key: keys[round % 3]! }
        const [run] = await own.enqueueTaskRuns([{ task: 'storm', lane, payload: {}, concurrency }])
        if (round % 5 === 0) await own.cancelTaskRuns([run!.id])
      }
    }),
  )
  let more = true
  const workers = Array.from({ length: 3 }, async (_, worker) => {
    const own = another()
    // The session that settles the last run checks again, and leaves only when nothing follows.
    for (let last = false; !last;) {
      const isLast = !more
      const runs = await own.claimAvailableTaskRuns({ replicaId: `w${worker}`, tasks: ['storm'], queues: [], limit: 3 })
      await own.settleTaskRuns(runs.map((run) => ({ lease: leaseOf(run), outcome: ok, by })))
      last = isLast && runs.length === 0
    }
  })
  const watch = { on: true, most: 0 }
  const watcher = (async () => {
    const own = another()
    while (watch.on) watch.most = Math.max(watch.most, await holdersOfBusiestKey(own))
  })()
  await enqueued.finally(() => (more = false))
  await Promise.all(workers)
  watch.on = false
  await watcher
  expect(watch.most).toBeLessThanOrEqual(2)
  const left = await db
    .selectFrom('q.task_run')
    .select('id')
    .where('task', '=', 'storm')
    .where('finished_at', 'is', null)
    .execute()
  expect(left).toEqual([])
})

async function holdersOfBusiestKey(own: typeof store): Promise<number> {
  await own.countRunsByState()
  const rows = await db
    .selectFrom('q.task_run')
    .select((e) => ['concurrency_key', e.fn.countAll<string>().as('holders')])
    .where('concurrency_slot', 'is not', null)
    .where('task', '=', 'storm')
    .groupBy('concurrency_key')
    .execute()
  return Math.max(0, ...rows.map((found) => Number(found.holders)))
}

test('two parallel enqueues with one unique key insert one run, and both return it', async () => {
  const lane = await store.internLane({ queue: 'default', task: 'once' })
  const run = { task: 'once', lane, payload: {}, uniqueKey: 'only' }
  const answers = (await Promise.all(Array.from({ length: 8 }, () => another().enqueueTaskRuns([run])))).flat()
  expect(new Set(answers.map(({ id }) => id)).size).toBe(1)
  expect(answers.filter(({ duplicate }) => !duplicate)).toHaveLength(1)
  await store.cancelTaskRuns([answers[0]!.id])
  expect((await store.enqueueTaskRuns([run]))[0]).toMatchObject({ duplicate: false })
})

test('a unique key belongs to its task', async () => {
  const [a] = await enqueue('task-a', { uniqueKey: 'shared' })
  const [b] = await enqueue('task-b', { uniqueKey: 'shared' })
  expect(a).not.toBe(b)
})

test('a paused queue is skipped and none of its runs is rewritten', async () => {
  const lane = await store.internLane({ queue: 'pausable', task: 'paused' })
  const [run] = await store.enqueueTaskRuns([{ task: 'paused', lane, payload: {} }])
  const before = await row(run!.id)
  await store.pauseQueue('pausable', 'ada')
  expect(await claim('paused')).toEqual([])
  expect(await row(run!.id)).toEqual(before)
  await store.resumeQueue('pausable')
  expect(await claim('paused')).toHaveLength(1)
})

test('a run that requires a capability is claimed only by a replica that has it', async () => {
  const lane = await store.internLane({ queue: 'default', task: 'gpu', requires: ['gpu', 'avx', 'gpu'] })
  expect(await store.internLane({ queue: 'default', task: 'gpu', requires: ['avx', 'gpu'] })).toBe(lane)
  await store.enqueueTaskRuns([{ task: 'gpu', lane, payload: {} }])
  const request = { replicaId: 'r', tasks: ['gpu'], queues: [], limit: 1 }
  expect(await store.claimAvailableTaskRuns({ ...request, capabilities: ['gpu'] })).toEqual([])
  expect(await store.claimAvailableTaskRuns({ ...request, capabilities: ['ssd', 'gpu', 'avx'] })).toHaveLength(1)
})

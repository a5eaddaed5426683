/** Delay, priority, groups, expiry and retention, as a producer asks for them; rows are aged instead of waiting. */
import { sql } from 'kysely'
import { afterAll, expect, test } from 'vitest'
import { queue } from '@q/client'
import { connect, createStore } from '@q/store'
import { optionData, type TaskOptions } from '@q/task'
import { testDatabase } from '@q/testing'
import type * as tasks from './tasks.ts'

const database = await testDatabase()
const connection = connect(database.url, { purpose: 'pool' })
const { db } = connection
const store = createStore(db)
const closing: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const close of closing) await close()
  await connection.close()
  await database.drop()
})

/** A producer of a task that says this about itself, in a queue of its own. */
async function producer(queueName: string, options: TaskOptions = {}) {
  const data = optionData({ ...options, queue: queueName })
  await store.publishTasks('r', [{ name: 'hello', queue: queueName, options: data, payloadSchema: null }])
  const q = queue<typeof tasks>(database.url)
  closing.push(() => q.close())
  const claim = async (limit: number) => {
    const request = { replicaId: 'r', tasks: ['hello'], queues: [queueName], limit }
    return (await store.claimAvailableTaskRuns(request)).map(({ runId }) => runId)
  }
  const enqueue = (name: string, more: Parameters<typeof q.enqueue>[2] = {}) => q.enqueue('hello', { name }, more)
  return { q, claim, enqueue }
}

async function age(id: string, ms: number): Promise<void> {
  const earlier = sql`${ms} * interval '1 ms'`
  await sql`UPDATE q.task_run SET created_at = created_at - ${earlier}, run_at = run_at - ${earlier},
    expires_at = expires_at - ${earlier} WHERE id = ${id}`.execute(db)
}

test('delay: a run becomes available at its time', async () => {
  const { enqueue, claim } = await producer('delay')
  const later = await enqueue('later', { delay: '1h' })
  expect((await later.status()).status).toBe('PENDING')
  await store.promoteDueTaskRuns(100)
  expect(await claim(5)).toEqual([])
  await age(later.id, 3_600_001)
  await store.promoteDueTaskRuns(100)
  expect(await claim(5)).toEqual([later.id])
})

test('priority: lower numbers run first; the priority of an enqueue takes precedence over the task’s', async () => {
  const { enqueue, claim } = await producer('priority', { priority: 5 })
  const usual = await enqueue('usual')
  const last = await enqueue('last', { priority: 6 })
  const first = await enqueue('first', { priority: -1 })
  expect([await claim(1), await claim(1), await claim(1)]).toEqual([[first.id], [usual.id], [last.id]])
})

test('groups: each gets its share of the queue by its weight, however long the backlog of another is', async () => {
  const { q, enqueue, claim } = await producer('groups')
  const busy = await Promise.all(Array.from({ length: 40 }, () => enqueue('x', { group: 'busy' })))
  const single = await enqueue('x', { group: 'single' })
  expect(await claim(2)).toContain(single.id)
  await q.setGroupWeight({ queue: 'groups', group: 'heavy' }, 3)
  await Promise.all(Array.from({ length: 40 }, () => enqueue('x', { group: 'heavy' })))
  const ids = new Set(busy.map(({ id }) => id))
  const share = (await claim(16)).filter((id) => ids.has(id)).length
  expect(share).toBe(4)
  await expect(q.setGroupWeight({ group: 'heavy' }, 0)).rejects.toMatchObject({ code: 'WEIGHT_INVALID' })
})

test('expiry: a run that has not begun in time never begins; the deadline of an enqueue takes precedence over the task’s', async () => {
  const { enqueue, claim } = await producer('expiry', { expires: '1h' })
  const [usual, longer] = [await enqueue('usual'), await enqueue('longer', { expires: '3h' })]
  const delayed = await enqueue('delayed', { delay: '2h' })
  for (const { id } of [usual, longer, delayed]) await age(id, 3_600_001)
  expect(await claim(5)).toEqual([longer.id])
  await store.expireTaskRuns(100)
  await expect(usual.result({ timeout: '100s' })).rejects.toMatchObject({ code: 'TASK_EXPIRED' })
  await expect(delayed.result({ timeout: '100s' })).rejects.toMatchObject({ code: 'TASK_EXPIRED' })
})

test('expiry: a retry does not begin after the deadline either', async () => {
  const { enqueue, claim } = await producer('again', { expires: '1h', retry: { attempts: 2 } })
  const run = await enqueue('again')
  await claim(1)
  const { fence } = await db.selectFrom('q.task_run').select('fence').where('id', '=', run.id).executeTakeFirstOrThrow()
  const outcome = { status: 'FAILED', code: 'TASK_ERROR', detail: 'no', retry: { delayMs: 0, delayMsMax: 0 } } as const
  await store.settleTaskRuns([{ lease: { runId: run.id, fence }, outcome, by: { hostname: 'h', pid: 1, thread: 0 } }])
  await age(run.id, 3_600_001)
  await store.promoteDueTaskRuns(100)
  expect(await claim(1)).toEqual([])
})

test('retention: an ended run is kept for as long as its task says', async () => {
  const { q, enqueue } = await producer('keep', { keep: '2h' })
  const run = await enqueue('kept')
  await store.cancelTaskRuns([run.id])
  const endedHoursAgo = (hours: number) =>
    db.transaction().execute(async (trx) => {
      // An end is never rewritten, except here.
      await sql`SET LOCAL session_replication_role = replica`.execute(trx)
      await sql`UPDATE q.task_run SET finished_at = now() - ${hours} * interval '1 hour' WHERE id = ${run.id}`.execute(
        trx,
      )
    })
  await endedHoursAgo(1)
  await store.pruneTaskRuns({ keepMs: 0, limit: 1_000 })
  expect(await q.get(run.id)).toBeDefined()
  await endedHoursAgo(3)
  await store.pruneTaskRuns({ keepMs: 1e12, limit: 1_000 })
  expect(await q.get(run.id)).toBeUndefined()
})

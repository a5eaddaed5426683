/** Only runs that can start now hold a concurrency key, the most urgent first. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { TaskState } from '@q/schema'
import { enqueueTaskRuns, promoteKeys, sweepGatedKeys, type NewRun, type RunId } from '@q/store'
import { untilSomebodyWaits } from './blocked-sessions.ts'
import { by, fixture, leaseOf } from './fixture.ts'
import { introduction } from './replica-registration.ts'

const { store, db, claim, claimOne, row } = await fixture()
const ok = { status: 'SUCCEEDED', result: '1' } as const

/** A task that replicas have published, in a queue of its own name, and how its runs are enqueued with a shared key. */
async function shared(task: string, key: string, { requires = [] as string[] } = {}) {
  const options = { requires }
  await store.publishTasks('publisher', [{ name: task, queue: task, options, payloadSchema: null }])
  const lane = await store.internLane({ queue: task, task, requires })
  return async (more: Partial<NewRun> = {}): Promise<RunId> => {
    const [run] = await store.enqueueTaskRuns([
      { task, lane, payload: {}, concurrency: { scope: 'shared', key }, ...more },
    ])
    return run!.id
  }
}

async function replica(id: string, tasks: string[], capabilities: string[] = []): Promise<void> {
  await store.registerReplica({ ...introduction(id, id), tasks, capabilities })
}

async function states(...ids: RunId[]): Promise<TaskState[]> {
  return Promise.all(ids.map(async (id) => (await row(id)).status))
}

async function settle(task: string): Promise<void> {
  await store.settleTaskRuns([{ lease: leaseOf(await claimOne(task)), outcome: ok, by }])
}

test('a paused queue hands its keys to runs of other queues, and gets them again when it is resumed', async () => {
  const [paused, open] = [await shared('paused-a', 'pause'), await shared('open-a', 'pause')]
  await replica('pausing', ['paused-a', 'open-a'])
  const [first, second] = [await paused(), await open()]
  expect(await states(first, second)).toEqual(['AVAILABLE', 'PENDING'])
  await store.pauseQueue('paused-a', 'ada')
  expect(await row(first)).toMatchObject({ status: 'PENDING', waiting_for: 'concurrency', concurrency_slot: null })
  expect(await states(second)).toEqual(['AVAILABLE'])
  const why = await store.whyNotRunning(first)
  expect(why?.reasons.map(({ reason }) => reason)).toEqual(['concurrency', 'queue-paused'])
  expect(why?.sentence).toContain('It gets no slot of its concurrency key pause while it cannot start.')
  await settle('open-a')
  expect(await states(first)).toEqual(['PENDING'])
  const third = await open()
  expect(await states(first, third)).toEqual(['PENDING', 'AVAILABLE'])
  await settle('open-a')
  await store.resumeQueue('paused-a')
  expect(await states(first)).toEqual(['AVAILABLE'])
  await settle('paused-a')
})

test('a run of a paused queue frees its key, even if no other run waits for it', async () => {
  const enqueue = await shared('alone', 'alone')
  await replica('lonely', ['alone'])
  const first = await enqueue()
  await store.pauseQueue('alone', 'ada')
  const second = await enqueue()
  expect(await states(first, second)).toEqual(['PENDING', 'PENDING'])
  await store.resumeQueue('alone')
  expect(await states(first, second)).toEqual(['AVAILABLE', 'PENDING'])
})

test.each<[string, (id: string) => Promise<unknown>]>([
  ['is drained', (id) => store.drainReplica(id, { by: 'ada' })],
  ['leaves', (id) => store.retireReplica(id)],
  [
    'dies',
    (id) =>
      sql`UPDATE q.replica_heartbeat SET last_heartbeat = last_heartbeat - interval '1 hour'
    WHERE replica_id = ${id}`.execute(db),
  ],
])(
  'when the last replica that could serve a run %s, the run hands its key on until another replica starts',
  async (how, end) => {
    const [gpu, cpu] = [await shared(`gpu ${how}`, how, { requires: ['gpu'] }), await shared(`cpu ${how}`, how)]
    const tasks = [`gpu ${how}`, `cpu ${how}`]
    await replica(`strong ${how}`, tasks, ['gpu'])
    await replica(`weak ${how}`, tasks)
    const [first, second] = [await gpu(), await cpu()]
    expect(await states(first, second)).toEqual(['AVAILABLE', 'PENDING'])
    await end(`strong ${how}`)
    if (how !== 'is drained') await store.sweepGatedKeys(100)
    expect(await states(first, second)).toEqual(['PENDING', 'AVAILABLE'])
    expect(await states(await gpu())).toEqual(['PENDING'])
    await settle(`cpu ${how}`)
    expect(await states(first)).toEqual(['PENDING'])
    await replica(`new ${how}`, tasks, ['gpu'])
    await store.sweepGatedKeys(100)
    expect(await states(first)).toEqual(['AVAILABLE'])
  },
)

test('an urgent run takes the key of a run that has not started, and not of a run that has', async () => {
  const enqueue = await shared('urgent', 'urgent')
  await replica('hurried', ['urgent'])
  const usual = await enqueue()
  const urgent = await enqueue({ priority: -5 })
  expect(await states(usual, urgent)).toEqual(['PENDING', 'AVAILABLE'])
  expect(await states(await enqueue({ priority: -5 }))).toEqual(['PENDING'])
  const [claimed] = await store.claimAvailableTaskRuns({
    replicaId: 'hurried',
    tasks: ['urgent'],
    queues: [],
    limit: 1,
    prefetch: true,
  })
  expect(claimed?.runId).toBe(urgent)
  const most = await enqueue({ priority: -9 })
  expect(await states(urgent, most)).toEqual(['CLAIMED', 'PENDING'])
})

test('a run that is released while its queue is paused does not keep the key', async () => {
  const [paused, open] = [await shared('paused-b', 'release'), await shared('open-b', 'release')]
  await replica('releasing', ['paused-b', 'open-b'])
  const first = await paused()
  const claimed = await claimOne('paused-b')
  const second = await open()
  await store.pauseQueue('paused-b', 'ada')
  expect(await states(first, second)).toEqual(['RUNNING', 'PENDING'])
  await store.releaseTaskRuns([leaseOf(claimed)])
  expect(await states(first, second)).toEqual(['PENDING', 'AVAILABLE'])
})

test('a run that a replica serves goes before a run whose task no replica has published', async () => {
  const known = await shared('known', 'unpublished')
  await replica('knowing', ['known'])
  const lane = await store.internLane({ queue: 'default', task: 'unknown' })
  const concurrency = { scope: 'shared', key: 'unpublished' }
  const [unknown] = await store.enqueueTaskRuns([{ task: 'unknown', lane, payload: {}, concurrency }])
  expect(unknown?.status).toBe('AVAILABLE')
  const served = await known()
  expect(await states(unknown!.id, served)).toEqual(['PENDING', 'AVAILABLE'])
})

test('each of several slots goes to a run that can start, and no more slots than the limit are taken', async () => {
  await store.setConcurrencyLimit('wide', 3)
  const enqueue = await shared('wide', 'wide')
  await replica('broad', ['wide'])
  const own = { concurrency: { scope: 'wide', key: 'k' } }
  const usual = [await enqueue(own), await enqueue(own), await enqueue(own), await enqueue(own)]
  const urgent = [await enqueue({ ...own, priority: -1 }), await enqueue({ ...own, priority: -1 })]
  expect(await states(...usual)).toEqual(['AVAILABLE', 'PENDING', 'PENDING', 'PENDING'])
  expect(await states(...urgent)).toEqual(['AVAILABLE', 'AVAILABLE'])
  const claimed = await claim('wide', 5)
  expect(new Set(claimed.map(({ runId }) => runId))).toEqual(new Set([usual[0], ...urgent]))
})

test('a sweep fills the keys of other queues, however many keys of a paused queue wait', async () => {
  const [many, one] = [await shared('z-many', 'z'), await shared('a-one', 'z')]
  await replica('sweeping', ['z-many', 'a-one'])
  await store.pauseQueue('z-many', 'ada')
  for (const key of ['a', 'b', 'c']) await many({ concurrency: { scope: 'a-shared', key } })
  await store.pauseQueue('a-one', 'ada')
  const waiting = await one({ concurrency: { scope: 'z-shared', key: 'k' } })
  await db.updateTable('q.queue').set({ paused_at: null }).where('name', '=', 'a-one').execute()
  expect(await store.sweepGatedKeys(1)).toEqual([waiting])
})

test('sweeps that each read a few keys reach the last one, however many keys wait', async () => {
  const enqueue = await shared('walked', 'walked')
  await replica('walking', ['walked'])
  const ofKey = (key: string) => ({ concurrency: { scope: 'walk', key } })
  for (const key of ['a', 'b', 'c', 'd']) {
    await enqueue(ofKey(key))
    await enqueue(ofKey(key))
  }
  await store.pauseQueue('walked', 'ada')
  const [last] = await enqueueTaskRuns(db, [await newRunOf('served', ofKey('z'))])
  await sql`UPDATE q.task_run SET status = 'PENDING', waiting_for = 'concurrency', concurrency_slot = NULL WHERE id = ${last!.id}`.execute(
    db,
  )
  const walk = { after: 'walk', keysMax: 2 }
  const promoted: RunId[] = []
  for (let sweep = 0; sweep < 4; sweep++) promoted.push(...(await sweepGatedKeys(db, 100, walk)))
  expect(promoted).toContain(last!.id)
})

test('a key does not count as open because of an urgent run that no replica takes', async () => {
  const enqueue = await shared('taken', 'taken')
  await replica('taking', ['taken'])
  const own = { concurrency: { scope: 'ranked', key: 'k' } }
  await enqueue(own)
  await enqueueTaskRuns(db, [{ ...(await newRunOf('unpublished-task', own)), priority: -5 }])
  const other = { concurrency: { scope: 'ranked', key: 'l' } }
  const [open] = await enqueueTaskRuns(db, [await newRunOf('taken', other)])
  await sql`UPDATE q.task_run SET status = 'PENDING', waiting_for = 'concurrency', concurrency_slot = NULL WHERE id = ${open!.id}`.execute(
    db,
  )
  expect(await sweepGatedKeys(db, 1, { after: 'ranked', keysMax: 10 })).toEqual([open!.id])
})

async function newRunOf(task: string, more: Partial<NewRun>): Promise<NewRun> {
  return { task, lane: await store.internLane({ queue: task, task }), payload: {}, ...more }
}

test('a transaction that promotes many keys takes their locks in one order, so two of them cannot deadlock', async () => {
  const keys = Array.from({ length: 501 }, (_, number) => `ordered\u001f${number}`)
  const { rows } = await sql<{ key: string }>`
    SELECT key FROM unnest(${keys}::text[]) key ORDER BY hashtext(key) LIMIT 1`.execute(db)
  const first = rows[0]!.key
  const promotion = await db.transaction().execute(async (holder) => {
    await promoteKeys(holder, [first])
    const waiting = db.transaction().execute((trx) => promoteKeys(trx, [...keys.filter((key) => key !== first), first]))
    await untilSomebodyWaits(db)
    const { rows: held } = await sql`SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND pid IN (SELECT pid FROM pg_locks WHERE NOT granted)`.execute(db)
    expect(held).toEqual([])
    return { waiting }
  })
  expect(await promotion.waiting).toEqual([])
})

test('a replica whose drain is undone gets the runs that wait for a key', async () => {
  const enqueue = await shared('undrained', 'undrained')
  await replica('back', ['undrained'])
  await sql`UPDATE q.replica SET level = 12 WHERE id = 'back'`.execute(db)
  const run = await enqueue()
  await store.drainReplica('back', { by: 'ada' })
  expect(await states(run)).toEqual(['PENDING'])
  expect(await store.undrainReplica('back')).toBe('claiming')
  expect(await states(run)).toEqual(['AVAILABLE'])
})

/** Users' own transactions and plain SQL wake a replica when they commit: the trigger of the table, seen by a session that listens. */
import { Client, type Notification } from 'pg'
import { afterAll, afterEach, expect, onTestFinished, test } from 'vitest'
import { enqueueTaskRuns, usingPg, type NewRun } from '@q/store'
import { sql } from 'kysely'
import { fixture, leaseOf } from './fixture.ts'
import { introduction } from './replica-registration.ts'

const { store, db, url, claimOne, row } = await fixture()
const client = new Client({ connectionString: url })
const listener = new Client({ connectionString: url })
await client.connect()
await listener.connect()
await listener.query('LISTEN q_ready; LISTEN q_gated; LISTEN q_due')
afterAll(async () => {
  await client.end()
  await listener.end()
})
afterEach(async () => {
  await db.deleteFrom('q.idle').execute()
})

const heard: string[] = []
let onMark = () => {}
listener.on('notification', ({ channel, payload = '' }: Notification) => {
  if (payload === 'mark') onMark()
  else heard.push(`${channel} ${payload}`)
})

/** All that was notified until now: notifications come in the order of the commits, and this is one of another session. */
async function heardSoFar(): Promise<string[]> {
  const mark = Promise.withResolvers<void>()
  onMark = mark.resolve
  await sql`SELECT pg_notify('q_due', 'mark')`.execute(db)
  await mark.promise
  return heard.splice(0)
}

async function newRun(task: string, more: Partial<NewRun> = {}): Promise<NewRun> {
  return { task, lane: await store.internLane({ queue: `queue of ${task}`, task }), payload: {}, ...more }
}

/** A replica that does not report its level, as those of earlier releases. */
async function beIdle(): Promise<void> {
  await db.insertInto('q.idle').values({ replica_id: 'idle-replica' }).execute()
}

test('the commit of a user’s transaction wakes an idle replica, once for a queue', async () => {
  await beIdle()
  const run = await newRun('woken')
  await client.query('BEGIN')
  await enqueueTaskRuns(usingPg(client), [run, run, run])
  expect(await heardSoFar()).toEqual([])
  await client.query('COMMIT')
  expect(await heardSoFar()).toEqual(['q_ready queue of woken'])
})

test('a rollback wakes no replica', async () => {
  await beIdle()
  await client.query('BEGIN')
  await enqueueTaskRuns(usingPg(client), [await newRun('undone')])
  await client.query('ROLLBACK')
  expect(await heardSoFar()).toEqual([])
})

test('nothing is notified while no replica is idle', async () => {
  await client.query('BEGIN')
  await enqueueTaskRuns(usingPg(client), [await newRun('unheard')])
  await client.query('COMMIT')
  expect(await heardSoFar()).toEqual([])
})

test('a replica that becomes idle before the commit is woken, though it was not when the run was enqueued', async () => {
  await client.query('BEGIN')
  await enqueueTaskRuns(usingPg(client), [await newRun('in between')])
  await beIdle()
  await client.query('COMMIT')
  expect(await heardSoFar()).toEqual(['q_ready queue of in between'])
})

test('a keyed run is announced by its key, and the woken replica can promote it', async () => {
  await beIdle()
  const run = await newRun('keyed', { concurrency: { scope: 'keyed', key: 'k' } })
  await client.query('BEGIN')
  const [gated] = await enqueueTaskRuns(usingPg(client), [run])
  expect(gated).toMatchObject({ status: 'PENDING' })
  await client.query('COMMIT')
  const wakes = await heardSoFar()
  expect(wakes).toEqual(['q_gated keyed\u001Fk'])
  expect(await store.promoteKeys([wakes[0]!.slice('q_gated '.length)])).toEqual([gated!.id])
  expect(await heardSoFar()).toEqual(['q_ready queue of keyed'])
  expect(leaseOf(await claimOne('keyed')).runId).toBe(gated!.id)
})

test('a run that is due soon wakes replicas with the time until it is due', async () => {
  await beIdle()
  await client.query('BEGIN')
  await enqueueTaskRuns(usingPg(client), [await newRun('soon', { delayMs: 20_000 })])
  await client.query('COMMIT')
  const [wake = '', ...others] = await heardSoFar()
  expect([wake.split(' ')[0], others]).toEqual(['q_due', []])
  expect(Number(wake.split(' ')[1])).toBeLessThanOrEqual(20_000)
})

test('a run that waits long for its time wakes no replica', async () => {
  await beIdle()
  const run = await newRun('later', { delayMs: 3_600_000 })
  await client.query('BEGIN')
  const [later] = await enqueueTaskRuns(usingPg(client), [run])
  await client.query('COMMIT')
  expect(await heardSoFar()).toEqual([])
  expect(await row(later!.id)).toMatchObject({ status: 'PENDING', waiting_for: 'time' })
})

test('plain SQL sends wakes too, unless the session sets q.quiet', async () => {
  await beIdle()
  const { lane } = await newRun('manual')
  const insert = `INSERT INTO q.task_run (task, lane) VALUES ('manual', ${lane})`
  await client.query(insert)
  expect(await heardSoFar()).toEqual(['q_ready queue of manual'])
  await client.query(`BEGIN; SET LOCAL q.quiet = 'on'; ${insert}; COMMIT`)
  expect(await heardSoFar()).toEqual([])
})

test('a run that is handed a concurrency key, is released, or whose queue is resumed wakes an idle replica', async () => {
  const key = { concurrency: { scope: 'handed', key: 'k' } }
  await store.enqueueTaskRuns([await newRun('first', key), await newRun('second', key)])
  const first = await claimOne('first')
  await beIdle()
  expect(await heardSoFar()).toEqual([])
  const outcome = { status: 'SUCCEEDED', result: '1' } as const
  await store.settleTaskRuns([{ lease: leaseOf(first), outcome, by: { hostname: 'host', pid: 1, thread: 0 } }])
  expect(await heardSoFar()).toEqual(['q_ready queue of second'])
  await store.releaseTaskRuns([leaseOf(await claimOne('second'))])
  expect(await heardSoFar()).toEqual(['q_ready queue of second'])
  await store.pauseQueue('queue of second', 'ada')
  expect(await heardSoFar()).toEqual([])
  await store.resumeQueue('queue of second')
  expect(await heardSoFar()).toContain('q_ready queue of second')
})

test('a run that is retried manually, or becomes due, wakes an idle replica', async () => {
  await store.enqueueTaskRuns([await newRun('again')])
  const claimed = await claimOne('again')
  const outcome = { status: 'SUCCEEDED', result: '1' } as const
  await store.settleTaskRuns([{ lease: leaseOf(claimed), outcome, by: { hostname: 'host', pid: 1, thread: 0 } }])
  const [late] = await store.enqueueTaskRuns([await newRun('late', { delayMs: 3_600_000 })])
  await db
    .updateTable('q.task_run')
    .set({ run_at: sql`now()` })
    .where('id', '=', late!.id)
    .execute()
  await beIdle()
  expect(await heardSoFar()).toEqual([])
  expect(await store.retryTaskRun(claimed.runId)).toBe('retried')
  expect(await heardSoFar()).toEqual(['q_ready queue of again'])
  expect(await store.promoteDueTaskRuns(10)).toMatchObject({ ids: [late!.id] })
  expect(await heardSoFar()).toEqual(['q_ready queue of late'])
})

test('runs that hand on their keys with one statement send one notification for a queue, and none if no replica is idle', async () => {
  const newRuns = async (isIdle: boolean) => {
    const task = `chain ${isIdle}`
    const run = await newRun(task)
    const keyed = Array.from({ length: 40 }, (_, at) => ({ ...run, concurrency: { scope: task, key: `k${at % 20}` } }))
    await store.enqueueTaskRuns(keyed)
    return store.claimAvailableTaskRuns({ replicaId: 'replica-aaaa', tasks: [task], queues: [], limit: 40 })
  }
  const outcome = { status: 'SUCCEEDED', result: '1' } as const
  const by = { hostname: 'host', pid: 1, thread: 0 }
  for (const isIdle of [false, true]) {
    const claimed = await newRuns(isIdle)
    expect(claimed).toHaveLength(20)
    if (isIdle) await beIdle()
    await heardSoFar()
    await store.settleTaskRuns(claimed.map((run) => ({ lease: leaseOf(run), outcome, by })))
    expect(await heardSoFar()).toEqual(isIdle ? ['q_ready queue of chain true'] : [])
  }
})

test('a run names its queue and what it requires; earlier releases are woken while one of their replicas is idle', async () => {
  const released = await db.selectFrom('q.compatibility').select('oldest_program').executeTakeFirstOrThrow()
  onTestFinished(async () => {
    await listener.query('UNLISTEN q_available')
    await db.updateTable('q.compatibility').set(released).execute()
  })
  await listener.query('LISTEN q_available')
  await store.registerReplica(introduction('present'))
  await store.markIdle('present')
  const lane = await store.internLane({ queue: 'gpus', task: 'render', requires: ['gpu'] })
  const run = { task: 'render', lane, payload: {} }
  const wake = 'q_available {"queue" : "gpus", "requires" : ["gpu"]}'
  const manually = `INSERT INTO q.task_run (task, lane) VALUES ('render', ${lane})`
  await store.enqueueTaskRuns([run, run])
  expect(await heardSoFar()).toEqual([wake])
  await client.query(manually)
  expect(await heardSoFar()).toEqual([wake])
  await beIdle()
  await store.enqueueTaskRuns([run, run])
  expect((await heardSoFar()).toSorted()).toEqual([wake, 'q_ready gpus'])
  await client.query(manually)
  expect((await heardSoFar()).toSorted()).toEqual([wake, 'q_ready gpus'])
  await db.updateTable('q.compatibility').set({ oldest_program: 14 }).execute()
  await store.enqueueTaskRuns([run])
  expect(await heardSoFar()).toEqual([wake])
  const filter = { replicaId: 'replica-aaaa', tasks: ['render'], queues: [], capabilities: ['gpu'], limit: 1 }
  await store.releaseTaskRuns((await store.claimAvailableTaskRuns(filter)).map(leaseOf))
  expect(await heardSoFar()).toEqual([wake])
  const [late] = await store.enqueueTaskRuns([{ ...run, delayMs: 3_600_000 }])
  await sql`UPDATE q.task_run SET run_at = now() WHERE id = ${late!.id}`.execute(db)
  await store.promoteDueTaskRuns(10)
  expect(await heardSoFar()).toEqual([wake])
  await store.wakeQueue('gpus')
  expect(await heardSoFar()).toEqual(['q_available {"queue" : "gpus", "requires" : null}'])
})

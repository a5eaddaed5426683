/** Which reports are written: each change of status that a destination asks for, once, with the change itself. */
import { sql } from 'kysely'
import { afterEach, expect, test } from 'vitest'
import { finishTaskRun, type DestinationInput, type RunId } from '@q/store'
import { by, fixture, leaseOf } from '../fixture.ts'
import { introduction } from '../replica-registration.ts'

const { store, enqueue, claimOne, db, row } = await fixture()

const destination = (input: Partial<DestinationInput>): DestinationInput => ({
  name: 'hook',
  kind: 'log',
  reports: ['status'],
  ...input,
})

afterEach(async () => {
  for (const { name } of await store.listDestinations()) await store.removeDestination(name)
  await db.deleteFrom('q.delivery').execute()
})

async function reported(runId: RunId, name = 'hook') {
  const rows = await db
    .selectFrom('q.delivery')
    .select(['news', 'payload'])
    .where('destination', '=', name)
    .where('run_id', '=', runId)
    .orderBy('id')
    .execute()
  return rows.map(({ news, payload }) => ({ news, ...(payload as Record<string, unknown>) }))
}

async function statuses(runId: RunId, name = 'hook') {
  return (await reported(runId, name)).map((report) => (report as { status?: string }).status)
}

test('every change of status is reported once, in the order of the changes, with its state before and its worker', async () => {
  await store.registerReplica(introduction('holder-1', 'eu-1'))
  await store.putDestination(destination({ settings: { issue: '/issue' } }))
  const [id] = await enqueue('reporting', { payload: { issue: 12 }, maxAttempts: 2 })
  const first = leaseOf(await claimOne('reporting', 'holder-1'))
  await store.releaseTaskRuns([first])
  const second = leaseOf(await claimOne('reporting', 'holder-1'))
  await store.settleTaskRuns([{ lease: second, outcome: { status: 'SUCCEEDED', result: '1' }, by }])
  expect(await statuses(id!)).toEqual(['AVAILABLE', 'RUNNING', 'AVAILABLE', 'RUNNING', 'SUCCEEDED'])
  expect((await reported(id!)).at(-1)).toMatchObject({
    news: 'status',
    of: 'run',
    runId: id,
    epoch: 1,
    task: 'reporting',
    queue: 'default',
    issue: '12',
    status: 'SUCCEEDED',
    previous: 'RUNNING',
    worker: 'eu-1',
    at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
  })
})

test('a destination receives only what it asks for: kinds, tasks and statuses', async () => {
  await store.putDestination(destination({ name: 'ends', reports: ['run-ended'] }))
  await store.putDestination(destination({ name: 'failures', statuses: ['FAILED'] }))
  await store.putDestination(destination({ name: 'others', tasks: ['another'] }))
  const [id] = await enqueue('choosy')
  const lease = leaseOf(await claimOne('choosy'))
  await store.settleTaskRuns([{ lease, outcome: { status: 'FAILED', code: 'TASK_ERROR', detail: 'no' }, by }])
  expect(await reported(id!, 'ends')).toMatchObject([
    { news: 'run-ended', status: 'FAILED', code: 'TASK_ERROR', detail: 'no' },
  ])
  expect(await statuses(id!, 'failures')).toEqual(['FAILED'])
  expect(await reported(id!, 'others')).toEqual([])
})

test('a report is rolled back with its change', async () => {
  await store.putDestination(destination({ reports: ['run-ended'] }))
  const [id] = await enqueue('undone')
  const lease = leaseOf(await claimOne('undone'))
  const undone = db.transaction().execute(async (trx) => {
    await finishTaskRun(trx, lease, '1')
    throw new Error('rolled back')
  })
  await expect(undone).rejects.toThrow('rolled back')
  expect(await reported(id!)).toEqual([])
})

test('a write under a lost lease reports nothing', async () => {
  await store.putDestination(destination({ reports: ['status', 'run-ended'] }))
  const [id] = await enqueue('zombie')
  const zombie = leaseOf(await claimOne('zombie'))
  await store.releaseTaskRuns([zombie])
  const holder = leaseOf(await claimOne('zombie', 'replica-bbbb'))
  const before = await statuses(id!)
  await store.settleTaskRuns([{ lease: zombie, outcome: { status: 'SUCCEEDED', result: '1' }, by }])
  expect(await statuses(id!)).toEqual(before)
  await store.settleTaskRuns([{ lease: holder, outcome: { status: 'SUCCEEDED', result: '2' }, by }])
  expect((await statuses(id!)).filter((status) => status === 'SUCCEEDED')).toHaveLength(2) // the status and the end
})

test('of two writers that end a run, the winner alone is reported', async () => {
  await store.putDestination(destination({ reports: ['run-ended'] }))
  const [id] = await enqueue('raced')
  const lease = leaseOf(await claimOne('raced'))
  await Promise.all([
    store.settleTaskRuns([{ lease, outcome: { status: 'SUCCEEDED', result: '1' }, by }]),
    store.settleTaskRuns([{ lease, outcome: { status: 'FAILED', code: 'TASK_ERROR', detail: 'x' }, by }]),
  ])
  expect(await statuses(id!)).toEqual([(await row(id!)).status])
})

test('plain SQL is reported too, and a run of a new epoch ends again', async () => {
  await store.putDestination(destination({ reports: ['run-ended'] }))
  const [id] = await enqueue('manual')
  await sql`UPDATE q.task_run SET status = 'CANCELLED', result = '{"code":"TASK_CANCELLED"}', finished_at = clock_timestamp()
    WHERE id = ${id}`.execute(db)
  await store.retryTaskRun(id!)
  await store.cancelTaskRuns([id!])
  expect(await reported(id!)).toMatchObject([
    { epoch: 1, status: 'CANCELLED' },
    { epoch: 2, status: 'CANCELLED' },
  ])
})

test('a recovery is reported with the worker that died and what the run became', async () => {
  await store.putDestination(destination({ reports: ['recovery', 'status'] }))
  const [id] = await enqueue('abandoned')
  await claimOne('abandoned', 'never-alive')
  await store.reap({ by: 'reaper' })
  expect((await reported(id!)).filter(({ news }) => news === 'recovery')).toMatchObject([
    { runId: id, worker: 'never-alive', became: 'FAILED', code: 'WORKER_CRASHED', cause: 'never-alive' },
  ])
  expect((await statuses(id!)).filter((status) => status === 'FAILED')).toHaveLength(1)
})

test('a workflow reports its states under its name', async () => {
  await store.putDestination(destination({}))
  const { rows } = await sql<{ id: string }>`INSERT INTO q.workflow (name) VALUES ('nightly') RETURNING id`.execute(db)
  await sql`UPDATE q.workflow SET status = 'PAUSED' WHERE id = ${rows[0]!.id}`.execute(db)
  await sql`UPDATE q.workflow SET open_steps = 1 WHERE id = ${rows[0]!.id}`.execute(db)
  const deliveries = await db.selectFrom('q.delivery').select(['order_key', 'payload']).orderBy('id').execute()
  expect(deliveries).toMatchObject([
    { order_key: `workflow/${rows[0]!.id}`, payload: { name: 'nightly', status: 'RUNNING', previous: null } },
    { payload: { status: 'PAUSED', previous: 'RUNNING' } },
  ])
})

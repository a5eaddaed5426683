/** What people decide about single runs, recoveries and schedules, and the record of it. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { RunId } from '@q/store'
import { failed, step, workflowFixture } from './workflow-fixture.ts'

const scene = await workflowFixture()
const { db, store, enqueue, row, claimOne } = scene

async function lost(task: string): Promise<RunId> {
  const [id] = await enqueue(task)
  await sql`UPDATE q.task_run SET status = 'RUNNING', replica_id = 'dead' WHERE id = ${id}`.execute(db)
  await store.reap({ by: 'reaper' })
  return id!
}

function recoveriesOf(id: RunId) {
  return db.selectFrom('q.recovery').select(['id', 'reviewed_by']).where('run_id', '=', id).execute()
}

function originOf(id: RunId) {
  return db.selectFrom('q.run_origin').select(['origin_id', 'kind']).where('run_id', '=', id).executeTakeFirst()
}

test('a recovery is reviewed once, by its id or by its run', async () => {
  const [one, two] = [await lost('a'), await lost('b')]
  const [recovery] = await recoveriesOf(one)
  const ids = [recovery!.id]
  expect(await store.reviewRecoveries({ ids, by: 'ada' })).toBe(1)
  expect(await store.reviewRecoveries({ ids, runIds: [two], by: 'bob' })).toBe(1)
  expect(await recoveriesOf(one)).toMatchObject([{ reviewed_by: 'ada' }])
  expect(await recoveriesOf(two)).toMatchObject([{ reviewed_by: 'bob' }])
})

test('a recovery whose run continued needs no review, and can be reviewed', async () => {
  const [id] = await enqueue('requeued')
  await sql`UPDATE q.task_run SET status = 'CLAIMED', replica_id = 'dead' WHERE id = ${id}`.execute(db)
  await store.reap({ by: 'reaper' })
  expect((await store.listRecoveries()).items[0]).toMatchObject({ runId: id, became: 'AVAILABLE', needsReview: false })
  expect(await store.reviewRecoveries({ runIds: [id!], by: 'ada' })).toBe(1)
  expect(await store.reviewRecoveries({ runIds: [id!], by: 'bob' })).toBe(0)
  expect(await recoveriesOf(id!)).toMatchObject([{ reviewed_by: 'ada' }])
})

test('a retry of a run that its replica left behind counts as a review', async () => {
  const id = await lost('retried')
  expect(await store.retryTaskRun(id)).toBe('retried')
  expect(await recoveriesOf(id)).toMatchObject([{ reviewed_by: 'a retry' }])
})

test('enqueueAgain inserts a copy and leaves the old run unchanged; it records the link and the actor', async () => {
  const lane = await store.internLane({ queue: 'q2', task: 'copied', requires: ['gpu'] })
  const [old] = await store.enqueueTaskRuns([
    {
      task: 'copied',
      lane,
      payload: { n: 1 },
      priority: 3,
      group: 'g',
      maxAttempts: 4,
      timeoutMs: 5,
      onCrash: 'retry',
    },
  ])
  await store.cancelTaskRuns([old!.id])
  const again = await store.enqueueAgain(old!.id, { by: 'ada' })
  const { runId } = again as { runId: RunId }
  expect(await row(runId)).toMatchObject({
    status: 'AVAILABLE',
    lane,
    payload: { n: 1 },
    priority: 3,
    grp: 'g',
    max_attempts: 4,
    timeout_ms: 5,
    on_crash: 'retry',
    epoch: 1,
    fence: 0,
  })
  expect((await row(old!.id)).status).toBe('CANCELLED')
  expect(await originOf(runId)).toEqual({ origin_id: old!.id, kind: 'again' })
  const event = await db.selectFrom('q.task_event').select(['kind', 'detail']).where('run_id', '=', runId).execute()
  expect(event).toEqual([{ kind: 'run-again', detail: `By ada, of run ${old!.id}.` }])
  expect(await store.enqueueAgain('999999' as RunId, { by: 'ada' })).toBe('not-found')
})

test('another payload keeps every digit, and the keys of the published task are computed from it', async () => {
  await scene.store.publishTasks('r', [
    {
      name: 'keyed',
      queue: 'default',
      options: { concurrency: { key: '/customer' }, unique: { key: '/id' } },
      payloadSchema: null,
    },
  ])
  const { rows } = await sql<{
    id: RunId
  }>`SELECT id::text AS id FROM q.enqueue('keyed', '{"id": 1, "customer": "a"}')`.execute(db)
  const old = rows[0]!.id
  const { runId } = (await store.enqueueAgain(old, {
    by: 'ada',
    payload: '{"id": 12345678901234567890, "customer": "b"}',
  })) as { runId: RunId }
  const made = await sql<{ text: string; unique_key: string; concurrency_key: string }>`
    SELECT payload::text AS text, unique_key, concurrency_key FROM q.task_run WHERE id = ${runId}`.execute(db)
  const before = await row(old)
  expect(made.rows[0]!.text).toBe('{"id": 12345678901234567890, "customer": "b"}')
  expect(made.rows[0]!.unique_key).not.toBe(before.unique_key)
  expect(made.rows[0]!.concurrency_key).not.toBe(before.concurrency_key)
  await expect(store.enqueueAgain(old, { by: 'ada' })).rejects.toMatchObject({ code: 'AGAIN_CONFLICT' })
})

test('a payload that is not JSON, or that the task does not accept, enqueues nothing', async () => {
  const schema = { type: 'object', required: ['n'], properties: { n: { type: 'number' } } }
  await store.publishTasks('r', [{ name: 'strict', queue: 'default', options: {}, payloadSchema: schema }])
  const [id] = await enqueue('strict', { payload: { n: 1 } })
  await expect(store.enqueueAgain(id!, { by: 'ada', payload: '{' })).rejects.toMatchObject({ code: 'INVALID_PAYLOAD' })
  await expect(store.enqueueAgain(id!, { by: 'ada', payload: '{"n": "x"}' })).rejects.toMatchObject({
    code: 'INVALID_PAYLOAD',
  })
  expect(await db.selectFrom('q.task_run').select('id').where('task', '=', 'strict').execute()).toHaveLength(1)
})

test('a step of a workflow cannot be enqueued again alone', async () => {
  const workflow = await scene.start({ steps: [step('alone')] })
  await scene.end('alone', failed)
  await expect(store.enqueueAgain(workflow.run('alone'), { by: 'ada' })).rejects.toMatchObject({ code: 'AGAIN_STEP' })
})

test('a child keeps the run that enqueued it as its origin', async () => {
  await enqueue('parent')
  const parent = await claimOne('parent')
  const lane = await store.internLane({ queue: 'default', task: 'child' })
  const children = await store.enqueueUnderLease(parent, [{ task: 'child', lane, payload: {} }])
  if (children === 'lease-lost') throw new Error('lost')
  expect(await originOf(children[0]!.id)).toEqual({ origin_id: parent.runId, kind: 'child' })
})

test('runNow enqueues one run at once, even of a paused schedule, and keeps its next tick', async () => {
  await store.putSchedule({
    name: 'nightly',
    task: 'report',
    cron: '0 3 * * *',
    timezone: 'UTC',
    missed: 'one',
    payload: { a: 1 },
    options: { priority: 7, group: 'g' },
  })
  await store.pauseSchedule('nightly', 'bob')
  const before = await store.getSchedule('nightly')
  const { runId } = (await store.runScheduleNow('nightly', { by: 'ada' })) as { runId: RunId }
  expect(await row(runId)).toMatchObject({ task: 'report', payload: { a: 1 }, grp: 'g' })
  expect(await store.getSchedule('nightly')).toEqual(before)
  expect(await db.selectFrom('q.schedule_tick').select('run_id').where('schedule', '=', 'nightly').execute()).toEqual([
    { run_id: runId },
  ])
  expect(await store.runScheduleNow('unknown', { by: 'ada' })).toBe('not-found')
})

test('an action is recorded with actor, channel, command and result, and listed newest first', async () => {
  const act = { by: 'ada', via: 'cli', what: 'drain', subject: 'eu-1', answer: 'draining' } as const
  const first = await store.recordAction(act)
  const second = await store.recordAction({ ...act, via: 'page', detail: { deadlineMs: 5 } })
  const page = await store.listActions({ limit: 1 })
  expect(page.items).toEqual([{ ...act, id: second, via: 'page', detail: { deadlineMs: 5 }, at: expect.any(Date) }])
  expect(page.next).toBe(second)
  expect((await store.listActions({ cursor: second })).items).toMatchObject([{ ...act, id: first, detail: {} }])
})

test('a paused queue keeps who paused it and why until it is resumed', async () => {
  await store.pauseQueue('slow', 'ada', 'bad deploy')
  const paused = () =>
    db.selectFrom('q.queue').select(['paused_by', 'pause_reason']).where('name', '=', 'slow').executeTakeFirstOrThrow()
  expect(await paused()).toEqual({ paused_by: 'ada', pause_reason: 'bad deploy' })
  await store.resumeQueue('slow')
  expect(await paused()).toEqual({ paused_by: null, pause_reason: null })
})

/** onCrash is resolved in one order, whichever replica decides about the run of a dead holder. */
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { by, fixture, leaseOf } from './fixture.ts'
import { introduction } from './replica-registration.ts'

const { store, enqueue, claimOne, row, db } = await fixture()

type OnCrash = 'fail' | 'retry'

interface OnCrashSettings {
  readonly run?: OnCrash
  readonly task?: OnCrash
  readonly holder: OnCrash
}

let scenes = 0

/** A replica that registered `holder` and holds a RUNNING run of a published task. */
async function held({ run, task, holder }: OnCrashSettings) {
  const name = `scene-${++scenes}`
  await store.registerReplica({ ...introduction(name, name), onCrash: holder })
  const options = task === undefined ? {} : { onCrash: task }
  await store.publishTasks(name, [{ name, queue: 'default', options, payloadSchema: null }])
  const [id] = await enqueue(name, run === undefined ? {} : { onCrash: run })
  return { id: id!, name, claimed: await claimOne(name, name) }
}

async function age(replicaId: string): Promise<void> {
  const ago = sql<Date>`clock_timestamp() - interval '10 minutes'`
  await db.updateTable('q.replica').set({ started_at: ago }).where('id', '=', replicaId).execute()
  await db.updateTable('q.replica_heartbeat').set({ last_heartbeat: ago }).where('replica_id', '=', replicaId).execute()
  const times = { claimed_at: ago, started_at: ago }
  await db.updateTable('q.task_run').set(times).where('replica_id', '=', replicaId).execute()
}

describe.each<[OnCrash, OnCrashSettings]>([
  ['fail', { run: 'fail', task: 'retry', holder: 'retry' }],
  ['retry', { run: 'retry', task: 'fail', holder: 'fail' }],
  ['fail', { task: 'fail', holder: 'retry' }],
  ['retry', { task: 'retry', holder: 'fail' }],
  ['fail', { holder: 'fail' }],
  ['retry', { holder: 'retry' }],
])('onCrash is %s if run, task and holder set %o', (resolved, said) => {
  const end = resolved === 'retry' ? { status: 'AVAILABLE' } : { status: 'FAILED', result: { code: 'WORKER_CRASHED' } }

  test('for the holder, when it claims the run', async () => {
    const { id, claimed } = await held(said)
    expect(claimed.onCrash).toBe(resolved)
    await store.settleTaskRuns([{ lease: leaseOf(claimed), outcome: { status: 'SUCCEEDED', result: '1' }, by }])
    expect(await row(id)).toMatchObject({ status: 'SUCCEEDED' })
  })

  test('for a reaper', async () => {
    const { id, name } = await held(said)
    await age(name)
    await store.reap({ by: 'reaper' })
    expect(await row(id)).toMatchObject(end)
  })

  test('for the holder that reconciles', async () => {
    const { id, name, claimed } = await held(said)
    await store.recoverOwnTaskRuns({ replicaId: name, hostname: 'host', leases: [leaseOf(claimed)] })
    expect(await row(id)).toMatchObject(end)
  })

  test('for the holder whose thread died', async () => {
    const { id, claimed } = await held(said)
    const outcome = { status: 'FAILED', code: 'WORKER_CRASHED', detail: 'died', crashed: true } as const
    await store.settleTaskRuns([{ lease: leaseOf(claimed), outcome, by }])
    expect(await row(id)).toMatchObject(end)
  })
})

test('a run of a holder without a row, whose task sets no onCrash, fails', async () => {
  const { id, name } = await held({ holder: 'retry' })
  await db.deleteFrom('q.replica_heartbeat').where('replica_id', '=', name).execute()
  await db.deleteFrom('q.replica').where('id', '=', name).execute()
  await store.reap({ by: 'reaper' })
  expect(await row(id)).toMatchObject({ status: 'FAILED', crash_count: 1 })
})

test('failStaleTaskRuns fails a run with any onCrash, and counts the crash', async () => {
  const { id, name } = await held({ run: 'retry', holder: 'retry' })
  await age(name)
  expect((await store.failStaleTaskRuns({ by: 'operator' })).ids).toEqual([id])
  expect(await row(id)).toMatchObject({ status: 'FAILED', crash_count: 1, result: { code: 'WORKER_CRASHED' } })
  const [attempt] = await db.selectFrom('q.task_attempt').selectAll().where('run_id', '=', id).execute()
  expect(attempt).toMatchObject({ outcome: 'crashed', code: 'WORKER_CRASHED' })
})

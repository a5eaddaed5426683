/** A run enqueues others only while it is held under its lease. */
import { expect, test } from 'vitest'
import { finishTaskRun, type Lease, type NewRun } from '@q/store'
import { enqueueUnderLease } from '../src/runs/enqueue-under-lease.ts'
import { untilSomebodyWaits } from './blocked-sessions.ts'
import { fixture, leaseOf } from './fixture.ts'

const { store, db, another, enqueue, claimOne, row } = await fixture()

async function running(task: string): Promise<Lease> {
  await enqueue(task)
  return leaseOf(await claimOne(task))
}

async function child(task: string, more: Partial<NewRun> = {}): Promise<NewRun> {
  return { task, lane: await store.internLane({ queue: 'default', task }), payload: {}, ...more }
}

async function runsOf(task: string): Promise<number> {
  return (await db.selectFrom('q.task_run').select('id').where('task', '=', task).execute()).length
}

test('a run that is held enqueues others, and keyed ones get a free concurrency slot', async () => {
  const lease = await running('parent')
  const plain = await child('plain')
  const keyed = await child('keyed', { concurrency: { scope: 'keyed', key: 'k' } })
  const made = await store.enqueueUnderLease(lease, [plain, keyed])
  if (made === 'lease-lost') throw new Error('The lease is held.')
  for (const { id, status } of made) {
    expect(status).toBe('AVAILABLE')
    expect(await row(id)).toMatchObject({ status })
  }
  expect(await row(lease.runId)).toMatchObject({ status: 'RUNNING' })
})

test('a run whose lease was lost enqueues nothing, and one event records that', async () => {
  const lease = await running('zombie')
  await store.releaseTaskRuns([lease])
  const again = await claimOne('zombie', 'replica-bbbb')
  const orphan = await child('orphan')
  expect(await store.enqueueUnderLease(lease, [orphan])).toBe('lease-lost')
  expect(await store.enqueueUnderLease(lease, [orphan])).toBe('lease-lost')
  expect(await runsOf('orphan')).toBe(0)
  const { events } = (await store.getTaskRun(lease.runId))!
  expect(events).toMatchObject([{ kind: 'refused-enqueue', fence: lease.fence }])
  expect(await store.enqueueUnderLease(leaseOf(again), [orphan])).toMatchObject([{ duplicate: false }])
})

test('an enqueue that waits for the end of its run inserts nothing', async () => {
  const lease = await running('ending')
  const late = await child('late')
  const { promise: waiting, resolve } = Promise.withResolvers<unknown>()
  await db.transaction().execute(async (trx) => {
    await finishTaskRun(trx, lease, null)
    const enqueuing = another().enqueueUnderLease(lease, [late])
    await untilSomebodyWaits(db)
    resolve(enqueuing)
  })
  expect(await waiting).toBe('lease-lost')
  expect(await runsOf('late')).toBe(0)
})

test('a run is not recovered while it enqueues; its heartbeats pass', async () => {
  const lease = await running('sending')
  const sent = await child('sent')
  const beat = { lease, thread: 0, ageMs: 0, progress: null, note: null }
  await db.transaction().execute(async (trx) => {
    await enqueueUnderLease(trx, lease, [sent])
    const other = another()
    expect((await other.reap({ by: 'reaper' })).ids).not.toContain(lease.runId)
    expect(await other.beatTaskRuns({ replicaId: 'replica-aaaa', hostname: 'h', pid: 1 }, [beat])).toEqual(['alive'])
  })
  expect((await store.reap({ by: 'reaper' })).ids).toContain(lease.runId) // its holder was never alive
  expect(await runsOf('sent')).toBe(1)
})

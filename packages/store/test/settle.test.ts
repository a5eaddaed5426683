import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { finishTaskRun, type Outcome } from '@q/store'
import { by, fixture, leaseOf } from './fixture.ts'

const { store, enqueue, claimOne, row, db } = await fixture()
const ok = (result: string): Outcome => ({ status: 'SUCCEEDED', result })
const bad: Outcome = { status: 'FAILED', code: 'TASK_ERROR', detail: 'Error: no' }

test('the holder of the lease settles a run, with the returned result', async () => {
  await enqueue('plain')
  const claimed = await claimOne('plain')
  expect(await store.settleTaskRuns([{ lease: leaseOf(claimed), outcome: ok('{"n":1}'), by }])).toEqual(['settled'])
  const settled = await row(claimed.runId)
  expect(settled).toMatchObject({ status: 'SUCCEEDED', result: { n: 1 }, replica_id: 'replica-aaaa' })
  expect(settled.finished_at).not.toBeNull()
})

test('a lost lease settles nothing, even if the same replica has claimed the run again', async () => {
  await enqueue('lost')
  const old = await claimOne('lost', 'replica-same')
  await store.releaseTaskRuns([leaseOf(old)])
  const current = await claimOne('lost', 'replica-same')
  expect(current.runId).toBe(old.runId)
  expect(await store.settleTaskRuns([{ lease: leaseOf(old), outcome: ok('"zombie"'), by }])).toEqual(['lease-lost'])
  expect(await row(old.runId)).toMatchObject({ status: 'RUNNING', result: null })
  expect(await store.settleTaskRuns([{ lease: leaseOf(current), outcome: ok('"real"'), by }])).toEqual(['settled'])
})

test('settling again under the same lease succeeds and changes nothing: the first response may have been lost', async () => {
  await enqueue('again')
  const claimed = await claimOne('again')
  await store.settleTaskRuns([{ lease: leaseOf(claimed), outcome: ok('1'), by }])
  expect(await store.settleTaskRuns([{ lease: leaseOf(claimed), outcome: bad, by }])).toEqual(['settled'])
  expect(await row(claimed.runId)).toMatchObject({ status: 'SUCCEEDED', result: 1 })
})

test('each run of a batch has its own result', async () => {
  await enqueue('batch', { count: 3 })
  const [a, b, c] = [await claimOne('batch'), await claimOne('batch'), await claimOne('batch')]
  await store.releaseTaskRuns([leaseOf(b)])
  const answers = await store.settleTaskRuns([
    { lease: leaseOf(c), outcome: ok('3'), by },
    { lease: leaseOf(b), outcome: ok('2'), by },
    { lease: leaseOf(a), outcome: bad, by },
  ])
  expect(answers).toEqual(['settled', 'lease-lost', 'settled'])
})

test('a failed attempt is kept in the history with its replica; a successful one is stored in its run', async () => {
  await enqueue('history', { count: 2 })
  const [failed, succeeded] = [await claimOne('history'), await claimOne('history')]
  await store.settleTaskRuns([
    { lease: leaseOf(failed), outcome: bad, by: { hostname: 'h1', pid: 42, thread: 3 } },
    { lease: leaseOf(succeeded), outcome: ok('1'), by },
  ])
  const attempts = await db
    .selectFrom('q.task_attempt')
    .selectAll()
    .where('run_id', 'in', [failed.runId, succeeded.runId])
    .execute()
  expect(attempts).toHaveLength(1)
  expect(attempts[0]).toMatchObject({
    run_id: failed.runId,
    fence: failed.fence,
    outcome: 'failed',
    code: 'TASK_ERROR',
    hostname: 'h1',
    pid: 42,
    thread: 3,
  })
})

test('a released run is AVAILABLE with its attempt returned and its fence raised', async () => {
  await enqueue('given')
  const claimed = await claimOne('given')
  expect(await store.releaseTaskRuns([leaseOf(claimed)])).toEqual([claimed.runId])
  expect(await row(claimed.runId)).toMatchObject({ status: 'AVAILABLE', attempt: 0, fence: 2, replica_id: null })
  expect(await store.releaseTaskRuns([leaseOf(claimed)])).toEqual([])
})

test('writes of the code and the outcome of the run can be one transaction: both or neither', async () => {
  await sql`CREATE TABLE effect (id int)`.execute(db)
  await enqueue('transactional', { count: 2 })
  const [kept, undone] = [await claimOne('transactional'), await claimOne('transactional')]
  await db.transaction().execute(async (trx) => {
    await sql`INSERT INTO effect VALUES (1)`.execute(trx)
    expect(await finishTaskRun(trx, leaseOf(kept), 'done')).toBe('settled')
  })
  await expect(
    db.transaction().execute(async (trx) => {
      await sql`INSERT INTO effect VALUES (2)`.execute(trx)
      await finishTaskRun(trx, leaseOf(undone), 'done')
      throw new Error('rolled back')
    }),
  ).rejects.toThrow('rolled back')
  expect((await sql<{ id: number }>`SELECT id FROM effect`.execute(db)).rows).toEqual([{ id: 1 }])
  expect(await row(kept.runId)).toMatchObject({ status: 'SUCCEEDED', result: 'done' })
  expect(await row(undone.runId)).toMatchObject({ status: 'RUNNING' })
  // The runner, which settles after the code returned, finds it settled and not lost.
  expect(await store.settleTaskRuns([{ lease: leaseOf(kept), outcome: ok('null'), by }])).toEqual(['settled'])
})

test('batches that settle the same runs in opposite order do not deadlock', async () => {
  await enqueue('opposite', { count: 40 })
  const claimed = await store.claimAvailableTaskRuns({ replicaId: 'r', tasks: ['opposite'], queues: [], limit: 40 })
  const forth = claimed.map((run) => ({ lease: leaseOf(run), outcome: ok('1'), by }))
  const answers = await Promise.all([store.settleTaskRuns(forth), store.settleTaskRuns(forth.toReversed())])
  expect(answers.flat().filter((answer) => answer === 'settled').length).toBeGreaterThanOrEqual(40)
})

test('text that jsonb cannot store is refused at enqueue, and nothing is stored', async () => {
  await expect(enqueue('nul', { payload: { a: '\0' } })).rejects.toMatchObject({ code: 'PAYLOAD_UNSTORABLE' })
  expect(await db.selectFrom('q.task_run').select('id').where('task', '=', 'nul').execute()).toEqual([])
})

test('a run that a user has locked does not delay the rest of its batch, and is settled after the lock', async () => {
  await enqueue('locked', { count: 3 })
  const [a, b, c] = [await claimOne('locked'), await claimOne('locked'), await claimOne('locked')]
  const batch = [a, b, c].map((run) => ({ lease: leaseOf(run), outcome: ok('1'), by }))
  await db.transaction().execute(async (trx) => {
    await sql`SELECT 1 FROM q.task_run WHERE id = ${b.runId} FOR UPDATE`.execute(trx)
    expect(await store.settleTaskRuns(batch, { skipBusy: true })).toEqual(['settled', 'busy', 'settled'])
  })
  expect(await store.settleTaskRuns(batch, { skipBusy: true })).toEqual(['settled', 'settled', 'settled'])
})

test('a lost lease and the current one of the same run, in one batch, have separate results', async () => {
  await enqueue('twice')
  const old = await claimOne('twice', 'replica-same')
  await store.releaseTaskRuns([leaseOf(old)])
  const current = await claimOne('twice', 'replica-same')
  const sender = { replicaId: 'replica-same', hostname: 'h', pid: 1 }
  const beats = [old, current].map((run) => ({ lease: leaseOf(run), thread: 0, ageMs: 0, progress: null, note: null }))
  expect(await store.beatTaskRuns(sender, beats)).toEqual(['lost', 'alive'])
  const batch = [old, current].map((run) => ({ lease: leaseOf(run), outcome: ok('1'), by }))
  expect(await store.settleTaskRuns(batch)).toEqual(['lease-lost', 'settled'])
})

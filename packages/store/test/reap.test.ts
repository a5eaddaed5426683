import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { RunId } from '@q/store'
import { abandoned, recoverStaleRuns } from '../src/liveness/recover.ts'
import { by, fixture, leaseOf } from './fixture.ts'
import { holders, stats } from './holders.ts'
import { introduction } from './replica-registration.ts'

const scene = await fixture()
const { store, enqueue, claimOne, row, db, another } = scene
const { holding, age } = holders(scene)
const sender = (replicaId: string) => ({ replicaId, hostname: 'h', pid: 1 })
const reaper = { by: 'reaper' }

async function staleIds(): Promise<RunId[]> {
  return (await store.getStaleTaskRuns()).map((run) => run.id)
}

test('a run that manual SQL set to RUNNING for a holder that never existed ends FAILED as abandoned', async () => {
  const [id] = await enqueue('manual')
  await sql`UPDATE q.task_run SET status='RUNNING', replica_id='fake-replica-id' WHERE id = ${id}`.execute(db)
  const holder = {
    replicaId: 'fake-replica-id',
    name: null,
    hostname: null,
    cause: 'never-alive',
    silentMs: null,
    ids: [id],
  }
  expect(await store.reap(reaper)).toEqual({ ids: [id], count: 1, holders: [holder] })
  expect(await row(id!)).toMatchObject({ status: 'FAILED', replica_id: 'fake-replica-id', result: abandoned })
  expect(abandoned.detail).toBe('Task run abandoned: owning replica stopped responding')
})

test('however many are stale, all are recovered, and each is recorded', async () => {
  const ids = await enqueue('fleet', { count: 7_000 })
  await sql`UPDATE q.task_run SET status='RUNNING', replica_id='fake-replica-id' WHERE task = 'fleet'`.execute(db)
  const { count } = await store.reap(reaper)
  expect(count).toBe(ids.length)
  const { rows } = await sql<{ recorded: number }>`SELECT count(*)::int AS recorded FROM q.recovery
    WHERE run_id = ANY(${ids}::bigint[]) AND became = 'FAILED'`.execute(db)
  expect(rows).toEqual([{ recorded: ids.length }])
})

test('a live holder keeps its runs; a holder that was silent for longer than its own threshold loses them', async () => {
  const { id } = await holding('silent')
  await age('silent', 59_000)
  expect(await staleIds()).not.toContain(id)
  await age('silent', 61_000)
  expect(await store.getStaleTaskRuns()).toMatchObject([
    { id, replicaId: 'silent', hostname: 'host', cause: 'replica-beat' },
  ])
  expect((await store.reap(reaper)).holders).toMatchObject([{ replicaId: 'silent', cause: 'replica-beat', ids: [id] }])
  expect(await row(id)).toMatchObject({ status: 'FAILED', crash_count: 1, result: { code: 'WORKER_CRASHED' } })
})

test('a slow preset is not reaped by a fast neighbour: the thresholds are the holder’s own', async () => {
  const { id, claimed } = await holding('slow')
  await db
    .updateTable('q.replica')
    .set({ replica_stale_ms: 600_000, runner_stale_ms: 600_000 })
    .where('id', '=', 'slow')
    .execute()
  await age('slow', 300_000)
  expect(await staleIds()).not.toContain(id)
  await store.settleTaskRuns([{ lease: leaseOf(claimed), outcome: { status: 'SUCCEEDED', result: '1' }, by }])
})

test('a run of a live replica without run heartbeats is stale by its own layer, and one heartbeat saves it', async () => {
  const { id, claimed } = await holding('lazy')
  await age('lazy', 301_000)
  await store.upsertReplicaHeartbeat('lazy', stats)
  expect(await store.getStaleTaskRuns()).toMatchObject([{ id, cause: 'runner-beat' }])
  await store.beatTaskRuns(sender('lazy'), [
    { lease: leaseOf(claimed), thread: 0, ageMs: 0, progress: null, note: null },
  ])
  expect(await staleIds()).not.toContain(id)
  await store.settleTaskRuns([{ lease: leaseOf(claimed), outcome: { status: 'SUCCEEDED', result: '1' }, by }])
})

test('a run that the database refuses to recover is named and does not delay the recovery of others', async () => {
  await store.registerReplica(introduction('refused', 'refused'))
  const ids = await enqueue('refused', { count: 20 })
  await store.claimAvailableTaskRuns({ replicaId: 'refused', tasks: ['refused'], queues: [], limit: 20 })
  await age('refused', 120_000)
  const stuck = ids[7]!
  await sql`CREATE TABLE kept AS SELECT ${stuck}::bigint AS id`.execute(db)
  await sql`CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN IF OLD.id IN (SELECT id FROM kept) THEN RAISE EXCEPTION $$not this one$$; END IF; RETURN NEW; END'`.execute(
    db,
  )
  await sql`CREATE TRIGGER keep BEFORE UPDATE ON q.task_run FOR EACH ROW EXECUTE FUNCTION keep()`.execute(db)
  const { ids: recovered, stuck: left } = await store.reap(reaper)
  expect(recovered.toSorted()).toEqual(ids.filter((id) => id !== stuck).toSorted())
  expect(left).toMatchObject([{ id: stuck, error: { message: 'not this one' } }])
  await sql`DROP TRIGGER keep ON q.task_run`.execute(db)
  expect((await store.reap(reaper)).ids).toEqual([stuck])
})

test('heartbeats of an earlier fence never count, neither for nor against the next attempt', async () => {
  const { id, claimed } = await holding('fenced', { onCrash: 'retry' })
  const beat = { lease: leaseOf(claimed), thread: 0, ageMs: 0, progress: null, note: null }
  await store.beatTaskRuns(sender('fenced'), [beat])
  await sql`UPDATE q.task_heartbeat SET fence = fence - 1 WHERE run_id = ${id}`.execute(db)
  await sql`UPDATE q.task_run SET started_at = clock_timestamp() - interval '1 hour',
    claimed_at = clock_timestamp() - interval '1 hour' WHERE id = ${id}`.execute(db)
  expect(await store.getStaleTaskRuns()).toMatchObject([{ id, cause: 'runner-beat' }])
  await sql`UPDATE q.task_heartbeat SET sent_at = clock_timestamp() - interval '1 hour' WHERE run_id = ${id}`.execute(
    db,
  )
  await sql`UPDATE q.task_run SET started_at = clock_timestamp() WHERE id = ${id}`.execute(db)
  expect(await staleIds()).not.toContain(id)
  await store.cancelTaskRuns([id])
  await store.releaseTaskRuns([leaseOf(claimed)])
  await store.cancelTaskRuns([id])
})

test('a heartbeat between the look and the update saves the run', async () => {
  const { id } = await holding('saved')
  await age('saved', 120_000)
  const seen = await store.getStaleTaskRuns()
  expect(seen.map((run) => run.id)).toEqual([id])
  await store.upsertReplicaHeartbeat('saved', stats)
  expect(await recoverStaleRuns(db, seen, reaper, { goal: 'CRASH' })).toEqual({ ids: [], count: 0 })
  expect(await row(id)).toMatchObject({ status: 'RUNNING' })
  await store.cancelTaskRuns([id])
  await store.releaseTaskRuns([{ runId: id, fence: 1 }])
  await store.cancelTaskRuns([id])
})

test('a stale run is recovered once, whichever of two reapers looks first', async () => {
  await store.registerReplica(introduction('twice', 'twice'))
  const ids = await enqueue('twice', { count: 20 })
  await store.claimAvailableTaskRuns({ replicaId: 'twice', tasks: ['twice'], queues: [], limit: 20 })
  await age('twice', 120_000)
  const reaped = await Promise.all(Array.from({ length: 4 }, (_, index) => another().reap({ by: `reaper-${index}` })))
  expect(reaped.flatMap((one) => one.ids).toSorted()).toEqual(ids.toSorted())
  const records = await db.selectFrom('q.recovery').selectAll().where('replica_id', '=', 'twice').execute()
  expect(records).toHaveLength(20)
  expect(records[0]).toMatchObject({
    was: 'RUNNING',
    became: 'FAILED',
    cause: 'replica-beat',
    code: 'WORKER_CRASHED',
    fence: 1,
  })
})

test('onCrash retry starts a run again after three crashes at most; then it is POISONED', async () => {
  const [id] = await enqueue('poison', { onCrash: 'retry' })
  for (const crash of [1, 2, 3, 4]) {
    await store.registerReplica(introduction(`victim-${crash}`, `victim-${crash}`))
    const claimed = await claimOne('poison', `victim-${crash}`)
    expect(claimed.attempt).toBe(crash)
    await age(`victim-${crash}`, 120_000)
    await store.reap(reaper)
    expect(await row(id!)).toMatchObject({ status: crash < 4 ? 'AVAILABLE' : 'FAILED', crash_count: crash })
    // The zombie's lease is void.
    const zombie = { lease: leaseOf(claimed), outcome: { status: 'SUCCEEDED', result: '"zombie"' }, by } as const
    expect(await store.settleTaskRuns([zombie])).toEqual(['lease-lost'])
  }
  expect(await row(id!)).toMatchObject({ result: { code: 'POISONED' } })
})

test('a run whose task sets no onCrash follows the default that its holder registered', async () => {
  const { id } = await holding('default-retry')
  await db.updateTable('q.replica').set({ on_crash: 'retry' }).where('id', '=', 'default-retry').execute()
  await age('default-retry', 120_000)
  await store.reap(reaper)
  expect(await row(id)).toMatchObject({ status: 'AVAILABLE', replica_id: null, attempt: 1, crash_count: 1 })
  await store.cancelTaskRuns([id])
})

test('a stale CLAIMED run is requeued without a crash count: its code never began', async () => {
  await store.registerReplica(introduction('ahead', 'ahead'))
  const [id] = await enqueue('ahead')
  await store.claimAvailableTaskRuns({ replicaId: 'ahead', tasks: ['ahead'], queues: [], limit: 1, prefetch: true })
  await age('ahead', 120_000)
  expect(await store.failStaleTaskRuns(reaper)).toEqual({ ids: [], count: 0 })
  expect(await store.requeueStaleClaimed(reaper)).toMatchObject({ ids: [id], count: 1 })
  expect(await row(id!)).toMatchObject({
    status: 'AVAILABLE',
    attempt: 0,
    crash_count: 0,
    fence: 2,
    replica_id: null,
    claimed_at: null,
  })
  await store.cancelTaskRuns([id!])
})

test('failStaleTaskRuns always fails stale runs, by the threshold of the caller', async () => {
  const { id } = await holding('strict', { onCrash: 'retry' })
  await age('strict', 20_000)
  expect(await store.failStaleTaskRuns(reaper)).toMatchObject({ count: 0 })
  expect(await store.failStaleTaskRuns({ ...reaper, staleMs: 10_000 })).toMatchObject({ ids: [id], count: 1 })
  expect(await row(id)).toMatchObject({ status: 'FAILED', result: abandoned })
})

test('a run that another session is settling is skipped, not waited for', async () => {
  const { id, claimed } = await holding('busy')
  await age('busy', 120_000)
  await db.transaction().execute(async (trx) => {
    await sql`SELECT 1 FROM q.task_run WHERE id = ${id} FOR UPDATE`.execute(trx)
    expect(await another().reap(reaper)).toEqual({ ids: [], count: 0 })
  })
  expect(
    await store.settleTaskRuns([{ lease: leaseOf(claimed), outcome: { status: 'SUCCEEDED', result: '1' }, by }]),
  ).toEqual(['settled'])
})

test('the concurrency key of a reaped holder goes to the next run that waits for it', async () => {
  const concurrency = { scope: 'keyed', key: 'k' }
  const { id } = await holding('keyed', { concurrency })
  const [next] = await enqueue('keyed', { concurrency })
  expect(await row(next!)).toMatchObject({ status: 'PENDING' })
  await age('keyed', 120_000)
  expect((await store.reap(reaper)).ids).toEqual([id])
  expect(await row(next!)).toMatchObject({ status: 'AVAILABLE', concurrency_slot: 1 })
})

test('each layer can be left out, and each state', async () => {
  const { id } = await holding('chosen')
  await age('chosen', 120_000)
  expect(await store.reap({ ...reaper, causes: ['never-alive', 'presence'] })).toMatchObject({ count: 0 })
  expect(await store.reap({ ...reaper, states: ['CLAIMED'] })).toMatchObject({ count: 0 })
  expect(await store.reap(reaper)).toMatchObject({ ids: [id] })
})

test('a layer that the reaper may not judge does not hide the next one', async () => {
  const { id } = await holding('two-layers')
  await age('two-layers', 400_000)
  expect(await store.reap({ ...reaper, causes: ['runner-beat'] })).toMatchObject({ ids: [id] })
})

test('old heartbeats are removed, except those of a replica that still holds a run', async () => {
  const { claimed } = await holding('keeper')
  await store.registerReplica(introduction('idle', 'idle'))
  for (const id of ['keeper', 'idle']) await age(id, 4_000_000)
  expect((await store.deleteStaleReplicaHeartbeats(3_600_000)).ids).toContain('idle')
  expect(
    await db.selectFrom('q.replica_heartbeat').select('replica_id').where('replica_id', '=', 'keeper').execute(),
  ).toHaveLength(1)
  expect(await store.heldTaskRuns('keeper')).toEqual([{ ...leaseOf(claimed), status: 'RUNNING' }])
  await store.reap(reaper)
})

import { expect, test } from 'vitest'
import { sql } from 'kysely'
import { finishTaskRun } from '@q/store'
import { by, fixture, leaseOf } from './fixture.ts'

const { store, enqueue, claimOne, db, another } = await fixture()
const sender = { replicaId: 'replica-aaaa', hostname: 'host', pid: 7 }
const beat = (claimed: { runId: never; fence: number } | Parameters<typeof leaseOf>[0]) => ({
  lease: leaseOf(claimed as Parameters<typeof leaseOf>[0]),
  thread: 1,
  ageMs: 0,
  progress: 0.5,
  note: 'half',
})

test('one statement sends the heartbeats of all runs and returns alive, cancelled or lost for each', async () => {
  await enqueue('beaten', { count: 3 })
  const [alive, cancelled, lost] = [await claimOne('beaten'), await claimOne('beaten'), await claimOne('beaten')]
  await db
    .updateTable('q.task_run')
    .set({ cancel_requested_at: new Date() })
    .where('id', '=', cancelled.runId)
    .execute()
  await store.releaseTaskRuns([leaseOf(lost)])
  expect(await store.beatTaskRuns(sender, [beat(lost), beat(alive), beat(cancelled)])).toEqual([
    'lost',
    'alive',
    'cancelled',
  ])
  const ids = [alive.runId, cancelled.runId, lost.runId]
  const rows = await db
    .selectFrom('q.task_heartbeat')
    .selectAll()
    .where('run_id', 'in', ids)
    .orderBy('run_id')
    .execute()
  expect(rows.map((row) => row.run_id)).toEqual([alive.runId, cancelled.runId])
  expect(rows[0]).toMatchObject({
    role: 'runner',
    sender_id: 'replica-aaaa/1',
    fence: 1,
    progress: 0.5,
    note: 'half',
    pid: 7,
  })
})

test('unusual progress or a note of one run does not delay the heartbeats of the others', async () => {
  await enqueue('unusual', { count: 3 })
  const [tiny, noted, usual] = [await claimOne('unusual'), await claimOne('unusual'), await claimOne('unusual')]
  const beats = [{ ...beat(tiny), progress: 1e-50 }, { ...beat(noted), note: 'a\0b' }, beat(usual)]
  expect(await store.beatTaskRuns(sender, beats)).toEqual(['alive', 'alive', 'alive'])
  const rows = await db
    .selectFrom('q.task_heartbeat')
    .select(['progress', 'note'])
    .where('run_id', 'in', [tiny.runId, noted.runId])
    .orderBy('run_id')
    .execute()
  expect(rows).toEqual([
    { progress: 0, note: 'half' },
    { progress: 0.5, note: 'a\uFFFDb' },
  ])
})

test('a lost lease cannot send a heartbeat for a run that was claimed again', async () => {
  await enqueue('again')
  const old = await claimOne('again')
  await store.releaseTaskRuns([leaseOf(old)])
  const current = await claimOne('again')
  expect(await store.beatTaskRuns(sender, [beat(current)])).toEqual(['alive'])
  expect(await store.beatTaskRuns(sender, [{ ...beat(old), progress: 0.9 }])).toEqual(['lost'])
  const row = await db.selectFrom('q.task_heartbeat').selectAll().where('run_id', '=', old.runId).executeTakeFirst()
  expect(row).toMatchObject({ fence: current.fence, progress: 0.5 })
})

test('one statement sends heartbeats of claimed and of running runs, each with its role', async () => {
  await enqueue('roles', { count: 2 })
  const running = await claimOne('roles')
  const [claimed] = await store.claimAvailableTaskRuns({
    replicaId: 'replica-aaaa',
    tasks: ['roles'],
    queues: [],
    limit: 1,
    prefetch: true,
  })
  expect(await store.beatTaskRuns(sender, [beat(running), { ...beat(claimed!), thread: null }])).toEqual([
    'alive',
    'alive',
  ])
  const rows = await db
    .selectFrom('q.task_heartbeat')
    .select(['run_id', 'role', 'sender_id'])
    .where('run_id', 'in', [running.runId, claimed!.runId])
    .orderBy('run_id')
    .execute()
  expect(rows).toEqual([
    { run_id: running.runId, role: 'runner', sender_id: 'replica-aaaa/1' },
    { run_id: claimed!.runId, role: 'claimer', sender_id: 'replica-aaaa' },
  ])
})

test('a refused heartbeat is recorded once per lease; a run that was settled under its lease is ended, not lost', async () => {
  await enqueue('refused', { count: 2 })
  const [lost, ended] = [await claimOne('refused'), await claimOne('refused')]
  await store.releaseTaskRuns([leaseOf(lost)])
  await store.settleTaskRuns([{ lease: leaseOf(ended), outcome: { status: 'SUCCEEDED', result: '1' }, by }])
  for (let times = 0; times < 2; times++)
    expect(await store.beatTaskRuns(sender, [beat(lost), beat(ended)])).toEqual(['lost', 'ended'])
  const events = await db
    .selectFrom('q.task_event')
    .selectAll()
    .where('run_id', 'in', [lost.runId, ended.runId])
    .execute()
  expect(events).toMatchObject([
    { run_id: lost.runId, fence: lost.fence, kind: 'refused-beat', replica_id: 'replica-aaaa' },
  ])
})

test('a heartbeat stores the time of the evidence, not of the write', async () => {
  await enqueue('aged')
  const claimed = await claimOne('aged')
  await store.beatTaskRuns(sender, [{ ...beat(claimed), ageMs: 3_600_000 }])
  const { sent_at } = await db
    .selectFrom('q.task_heartbeat')
    .select('sent_at')
    .where('run_id', '=', claimed.runId)
    .executeTakeFirstOrThrow()
  const { started_at } = await db
    .selectFrom('q.task_run')
    .select('started_at')
    .where('id', '=', claimed.runId)
    .executeTakeFirstOrThrow()
  expect(started_at!.getTime() - sent_at.getTime()).toBeGreaterThan(3_500_000)
})

test('progress is visible while the run executes, and its heartbeat row is deleted when it has ended', async () => {
  await enqueue('seen')
  const claimed = await claimOne('seen')
  await store.beatTaskRuns(sender, [beat(claimed)])
  expect(await store.getTaskRuns([claimed.runId])).toMatchObject([{ status: 'RUNNING', progress: 0.5, note: 'half' }])
  await store.settleTaskRuns([{ lease: leaseOf(claimed), outcome: { status: 'SUCCEEDED', result: '1' }, by }])
  expect(await store.getTaskRuns([claimed.runId])).toMatchObject([{ status: 'SUCCEEDED', progress: null, result: 1 }])
  expect(
    await db.selectFrom('q.task_heartbeat').select('run_id').where('run_id', '=', claimed.runId).execute(),
  ).toEqual([])
})

test.each([{ beatenBefore: true }, { beatenBefore: false }])(
  'a transaction that ends a run delays no other heartbeat, and no heartbeat is stored after the end (%o)',
  async ({ beatenBefore }) => {
    await enqueue('ending')
    await enqueue('ending')
    const [ending, other] = [await claimOne('ending'), await claimOne('ending')]
    if (beatenBefore) await store.beatTaskRuns(sender, [beat(ending)])
    await db.transaction().execute(async (trx) => {
      expect(await finishTaskRun(trx, leaseOf(ending), 1)).toBe('settled')
      // While the transaction is open: answered, not waited for.
      expect(await another().beatTaskRuns(sender, [beat(ending), beat(other)])).toEqual(['busy', 'alive'])
    })
    const { rows } = await sql<{ run_id: string }>`
      SELECT run_id FROM q.task_heartbeat WHERE run_id IN (${ending.runId}, ${other.runId})`.execute(db)
    expect(rows.map((row) => row.run_id)).toEqual([other.runId])
    expect(await store.beatTaskRuns(sender, [beat(ending)])).toEqual(['ended'])
  },
)

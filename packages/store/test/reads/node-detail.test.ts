import { beforeEach, expect, test } from 'vitest'
import { sql } from 'kysely'
import { fixture, leaseOf } from '../fixture.ts'
import { fleetOf } from '../fleet.ts'
import { stats } from '../holders.ts'
import { introduction } from '../replica-registration.ts'

const its = await fixture()
const { store, db, enqueue } = its
const fleet = fleetOf(its)

beforeEach(async () => {
  await fleet.disband()
  await sql`DELETE FROM q.task_run`.execute(db)
})

/** RUNNING on the node, started so long ago. */
async function running(replicaId: string, task: string, startedAgoS: number, onCrash: 'fail' | 'retry' = 'fail') {
  await enqueue(task, { onCrash })
  const [claimed] = await store.claimAvailableTaskRuns({ replicaId, tasks: [task], queues: [], limit: 1 })
  await sql`UPDATE q.task_run SET claimed_at = clock_timestamp() - ${startedAgoS}::int * interval '1 s',
    started_at = clock_timestamp() - ${startedAgoS}::int * interval '1 s' WHERE id = ${claimed!.runId}`.execute(db)
  return claimed!
}

async function progress(replicaId: string, claimed: Awaited<ReturnType<typeof running>>, share: number) {
  const sender = { replicaId, hostname: 'host', pid: 1 }
  const beat = { lease: leaseOf(claimed), thread: 0, ageMs: 0, progress: share, note: 'so far' }
  await store.beatTaskRuns(sender, [beat])
}

test('a node shows the thresholds others judge it by, its presence, its threads, and whether it recovers', async () => {
  const registered = introduction('n1', 'eu-1')
  await store.registerReplica(registered)
  const thread = { slot: 0, state: 'stopping', task: 'a', runId: '7', stoppingFor: 'timeout' }
  await sql`UPDATE q.replica_heartbeat SET threads = ${JSON.stringify([thread])}::jsonb`.execute(db)
  const [node] = await store.listNodes()
  expect(node).toMatchObject({
    thresholds: registered.thresholds,
    presenceGraceMs: 2_500,
    presence: 'none',
    goneAt: null,
    recovers: true,
    drain: null,
    threads: [thread],
  })
})

test('presence counts since the last start of the server: held, or gone since a time', async () => {
  await store.registerReplica(introduction('n1'))
  const seen = async (goneAt: string | null, life = '0') => {
    await sql`DELETE FROM q.presence`.execute(db)
    await sql`INSERT INTO q.presence (num, replica_id, server_start, gone_at)
      SELECT num, id, pg_postmaster_start_time() - ${life}::interval, ${goneAt}::timestamptz FROM q.replica`.execute(db)
    const [node] = await store.listNodes()
    return [node!.presence, node!.goneAt?.toISOString() ?? null]
  }
  expect(await seen(null)).toEqual(['held', null])
  expect(await seen('2026-01-01T00:00:00Z')).toEqual(['gone', '2026-01-01T00:00:00.000Z'])
  expect(await seen(null, '1 hour')).toEqual(['none', null])
})

test('a drain shows the runs that are left, and when the last ends if every run reports its progress', async () => {
  await store.registerReplica(introduction('n1'))
  const first = await running('n1', 'a', 100)
  const second = await running('n1', 'b', 50)
  await store.drainReplica('n1', { by: 'ada', deadlineMs: 600_000, onDeadline: 'release' })
  await progress('n1', first, 0.5)
  const drain = async () => (await store.findNode('n1'))[0]!.drain
  expect(await drain()).toMatchObject({ by: 'ada', onDeadline: 'release', runsLeft: 2, expectedEnd: null })
  await progress('n1', second, 0.25)
  const { expectedEnd, at } = (await drain())!
  expect((expectedEnd!.getTime() - at.getTime()) / 1_000).toBeCloseTo(150, -1)
  await store.drainReplica('n1', { by: 'ada', deadlineMs: 1_000 })
  const hurried = (await drain())!
  expect(hurried.expectedEnd).toEqual(hurried.deadline)
})

test('the end of a run that goes on from the checkpoint of an earlier claim is not estimated', async () => {
  await store.registerReplica(introduction('n1'))
  const first = await running('n1', 'resumed', 100)
  const ends = async () => (await store.nodeDetail('n1'))!.held.map(({ expectedEndMs }) => expectedEndMs !== null)
  await store.checkpointTaskRun(first, '{"row":5}')
  await progress('n1', first, 0.5)
  expect(await ends()).toEqual([true])
  expect(await store.releaseTaskRuns([leaseOf(first)])).toEqual([first.runId])
  const [again] = await store.claimAvailableTaskRuns({ replicaId: 'n1', tasks: ['resumed'], queues: [], limit: 1 })
  await progress('n1', again!, 0.6)
  expect(await ends()).toEqual([false])
})

test('the end of a run whose cancel was requested is not estimated', async () => {
  await store.registerReplica(introduction('n1'))
  const run = await running('n1', 'stopped', 100)
  await progress('n1', run, 0.5)
  const ends = async () => (await store.nodeDetail('n1'))!.held.map(({ expectedEndMs }) => expectedEndMs !== null)
  expect(await ends()).toEqual([true])
  await store.cancelTaskRuns([run.runId])
  expect(await ends()).toEqual([false])
})

test('a node in detail holds its runs, longest first, with what the deadline of a drain would do to each', async () => {
  await store.registerReplica(introduction('n1'))
  const young = await running('n1', 'young', 5, 'retry')
  const old = await running('n1', 'old', 3_600)
  await enqueue('claimed')
  const [claimed] = await store.claimAvailableTaskRuns({
    replicaId: 'n1',
    tasks: ['claimed'],
    queues: [],
    limit: 1,
    prefetch: true,
  })
  await store.cancelTaskRuns([old.runId])
  await progress('n1', young, 0.05)
  const held = async () => (await store.nodeDetail('n1'))!.held
  expect(await held()).toMatchObject([
    { id: old.runId, status: 'RUNNING', cancelRequested: true, onCrash: 'fail', atDeadline: 'failed' },
    { id: young.runId, progress: 0.05, note: 'so far', expectedEndMs: null, onCrash: 'retry', atDeadline: 'released' },
    { id: claimed!.runId, status: 'CLAIMED', startedAt: null, atDeadline: 'released' },
  ])
  expect((await held())[0]!.forMs).toBeGreaterThanOrEqual(3_600_000)
  await progress('n1', young, 0.5)
  expect((await held())[1]!.expectedEndMs).toBeGreaterThan(0)
  await store.drainReplica('n1', { by: 'ada', onDeadline: 'fail' })
  expect((await held()).map((run) => run.atDeadline)).toEqual(['failed', 'failed', 'released'])
})

test('a node in detail has its samples of the last hour, its failed heartbeats, its gaps and its recoveries', async () => {
  await store.registerReplica(introduction('n1', 'eu-1'))
  await store.registerReplica(introduction('n2'))
  const sample = (minutesAgo: number) =>
    sql`
    INSERT INTO q.replica_sample (replica_id, sampled_at, memory_mb, cpu_percent, active_runs, free_slots, completed, failed, health)
    SELECT 'n1', clock_timestamp() - ${minutesAgo}::int * interval '1 minute', ${minutesAgo}, 1, 0, 1, 0, 0, 'healthy'`.execute(
      db,
    )
  for (const minutesAgo of [90, 30, 10]) await sample(minutesAgo)
  await store.upsertReplicaHeartbeat('n1', stats)
  await sql`INSERT INTO q.heartbeat_failure (replica_id, failed_at, consecutive, error)
    SELECT 'n1', clock_timestamp() - i * interval '1 s', 3 - i, 'ECONNREFUSED' FROM generate_series(0, 2) i`.execute(db)
  await sql`INSERT INTO q.beat_gap VALUES ('n1', now() - interval '1 minute', now() - interval '20 s')`.execute(db)
  for (const replica of ['n1', 'n2'])
    await sql`INSERT INTO q.recovery (run_id, fence, was, became, cause, replica_id, recovered_by)
      VALUES (1, 1, 'RUNNING', 'FAILED', 'presence', ${replica}, 'other')`.execute(db)
  const detail = (await store.nodeDetail('n1'))!
  expect(detail.samples.map(({ memoryMb }) => memoryMb)).toEqual([30, 10])
  expect((await store.nodeSamples('n1', { sinceMs: 7_200_000 })).map(({ memoryMb }) => memoryMb)).toEqual([90, 30, 10])
  expect(detail.failures.map(({ inARow, error }) => [inARow, error])).toEqual([
    [3, 'ECONNREFUSED'],
    [2, 'ECONNREFUSED'],
    [1, 'ECONNREFUSED'],
  ])
  expect(detail.gaps).toMatchObject([{ replicaId: 'n1', name: 'eu-1', ms: 40_000 }])
  expect(detail.recoveries).toMatchObject([{ replicaId: 'n1', replicaName: 'eu-1', task: null, needsReview: true }])
  expect(await store.nodeDetail('unknown')).toBeUndefined()
})

test('a node is found by part of its name when nothing else fits', async () => {
  await store.registerReplica(introduction('abc', 'render-eu-1'))
  await store.registerReplica(introduction('eu-1x', 'other'))
  const found = async (text: string) => (await store.findNode(text)).map(({ id }) => id)
  expect(await found('render')).toEqual(['abc'])
  expect(await found('eu-1')).toEqual(['eu-1x'])
})

import { expect, test } from 'vitest'
import { sql } from 'kysely'
import { externalPreset } from '@q/store'
import { introduction } from '../replica-registration.ts'
import { attentionFixture } from './attention-fixture.ts'

const { store, db, enqueue, claimOne, fleet, all, only } = await attentionFixture()

test('there is no attention item while a node is alive and nothing waits; every check was made', async () => {
  await fleet.join('n1')
  expect(await store.attention()).toMatchObject({ checks: 20, items: [] })
})

test('without a live node there is one item, more severe when runs wait, and not one for each lane', async () => {
  expect(await only('no-node')).toMatchObject({ level: 'warn', command: 'q start', page: '/nodes' })
  await enqueue('a', { count: 2 })
  expect(await only('no-node')).toMatchObject({ level: 'bad', sentence: 'No node is alive: nothing is executed.' })
  await fleet.join('n1', { tasks: ['a'] })
  await store.drainReplica('n1', { by: 'ada' })
  expect(await only('no-node')).toMatchObject({
    command: 'q undrain n1',
    sentence: expect.stringContaining('draining'),
  })
})

test('a lost node that holds runs comes first, even one that never registered', async () => {
  await fleet.join('n1', { tasks: ['a'] })
  await enqueue('a', { count: 3 })
  await store.claimAvailableTaskRuns({ replicaId: 'n1', tasks: ['a'], queues: [], limit: 2 })
  await claimOne('a', 'fake')
  expect(await only('stale-node-holds-runs')).toMatchObject({
    subject: 'fake',
    command: 'q recover --dry-run',
    facts: { runs: 1 },
  })
  await fleet.silence('n1')
  expect((await all()).map(({ kind, level, subject, command }) => [kind, level, subject, command])).toEqual([
    ['no-node', 'bad', 'nodes', 'q start'],
    ['stale-node-holds-runs', 'bad', 'n1', 'q start'],
    ['stale-node-holds-runs', 'bad', 'fake', 'q start'],
  ])
})

test('a lane that no live node serves is named with what is missing and a run to ask about', async () => {
  await fleet.join('n1', { tasks: [] })
  await fleet.publish('n1', 'a')
  const id = await fleet.enqueueIn({ queue: 'media', task: 'a', requires: ['gpu'] })
  expect(await only('lane-unserved')).toMatchObject({
    level: 'bad',
    subject: 'a',
    sentence: 'a: 1 run cannot start, no node that knows a has gpu.',
    command: `q why ${id}`,
    page: '/queues/media',
  })
})

test('a paused queue is an item only while runs wait in it', async () => {
  await fleet.join('n1', { tasks: ['a'] })
  await store.pauseQueue('default', 'ada', 'bad deploy')
  expect(await all()).toEqual([])
  await enqueue('a')
  expect(await only('queue-paused')).toMatchObject({
    sentence: expect.stringMatching(/^default was paused 0\.\d s ago by ada, and 1 run waits in it\.$/),
    detail: 'bad deploy',
    command: 'q queues resume default',
  })
})

test('runs that wait for a concurrency key count as the backlog of a paused queue', async () => {
  await fleet.join('n1', { tasks: ['a'] })
  await store.pauseQueue('default', 'ada')
  await enqueue('a', { count: 3, concurrency: { scope: 'a', key: 'k' } })
  expect(await only('queue-paused')).toMatchObject({ sentence: expect.stringMatching(/3 runs wait in it/) })
})

test('a wait is long beyond a minute and ten times what is usual for the queue', async () => {
  await fleet.join('n1', { tasks: ['a'] })
  const [id] = await enqueue('a')
  const aged = (seconds: number) =>
    sql`UPDATE q.task_run SET run_at = clock_timestamp() - ${seconds}::int * interval '1 s' WHERE id = ${id}`.execute(
      db,
    )
  await aged(30)
  expect(await all()).toEqual([])
  await aged(300)
  expect(await only('queue-waits')).toMatchObject({
    subject: 'default',
    detail: 'None of its runs was started in the last hour.',
  })
  const histogram = Array.from({ length: 34 }, (_, place) => (place === 33 ? 100 : 0))
  await sql`INSERT INTO q.run_tally (bucket_at, width_s, started, wait_histogram, queue, task)
    VALUES (date_trunc('minute', clock_timestamp()) - interval '30 minutes', 60, 100, ${histogram}::int[], 'default', 'a')`.execute(
    db,
  )
  expect(await all()).toEqual([])
})

test('a queue that has grown for ten minutes is named with its rate', async () => {
  await fleet.join('n1', { tasks: ['a'] })
  await enqueue('a', { count: 150 })
  await sql`INSERT INTO q.queue_sample (sampled_at, ready, claimed, running, waiting_time, waiting_concurrency, queue)
    SELECT clock_timestamp() - s * interval '1 s', 1300 - 2 * s, 0, 0, 0, 0, 'default' FROM unnest('{550,10}'::int[]) s`.execute(
    db,
  )
  expect(await only('queue-grows')).toMatchObject({
    sentence: 'default grows by 2.0 runs a second; 150 runs are ready.',
  })
})

test('a drain is overdue when its deadline has passed for a while', async () => {
  await fleet.join('n1', { tasks: ['a'] })
  await fleet.join('n2')
  await enqueue('a')
  await claimOne('a', 'n1')
  await store.drainReplica('n1', { by: 'ci', deadlineMs: 1_000 })
  expect(await all()).toEqual([])
  await sql`UPDATE q.replica SET drain_deadline = clock_timestamp() - interval '5 minutes' WHERE id = 'n1'`.execute(db)
  expect(await only('drain-overdue')).toMatchObject({
    subject: 'n1',
    sentence: expect.stringMatching(/ago and still holds 1 run\.$/),
    detail: 'Drained by ci.',
    page: '/nodes/n1',
  })
})

test('recovery that is switched off is worse when no live node recovers', async () => {
  for (const id of ['n1', 'n2']) await fleet.join(id)
  await sql`UPDATE q.replica SET recovers = false WHERE id = 'n1'`.execute(db)
  expect(await only('recovery-off')).toMatchObject({ level: 'note', subject: 'n1' })
  await sql`UPDATE q.replica SET recovers = false`.execute(db)
  expect(await only('recovery-off')).toMatchObject({ level: 'bad' })
})

test('an external worker neither lacks recovery nor has a version to compare', async () => {
  await fleet.join('n1')
  const worker = { ...introduction('w1', 'w1'), preset: externalPreset, version: 'own', recovers: false }
  await store.registerReplica(worker)
  expect(await all()).toEqual([])
})

test('a slot that cannot be stopped, mixed versions and poor health are named', async () => {
  await fleet.join('n1')
  const slot = { slot: 0, state: 'stopping', task: 'native', runId: '7', silentMs: 40_000 }
  const threads = (value: object[]) =>
    sql`UPDATE q.replica_heartbeat SET threads = ${JSON.stringify(value)}::jsonb`.execute(db)
  await threads([{ ...slot, silentMs: 1_000 }])
  expect(await all()).toEqual([])
  await threads([slot])
  expect(await only('slots-stopping')).toMatchObject({
    sentence: expect.stringMatching(/: the code has been silent for 40 s\.$/),
    command: 'q show 7',
    facts: { slots: 1, silentMs: 40_000 },
  })
  await threads([])
  await store.registerReplica({ ...introduction('n2', 'n2'), version: '9' })
  expect(await only('versions-mixed')).toMatchObject({ level: 'note', subject: '0, 9' })
  await sql`DELETE FROM q.replica WHERE id = 'n2'`.execute(db)
  await sql`UPDATE q.replica_heartbeat SET health = 'unhealthy', cpu_percent = 99, memory_mb = 9000 WHERE replica_id = 'n1'`.execute(
    db,
  )
  expect(await only('health-degraded')).toMatchObject({
    level: 'warn',
    sentence: 'n1 is unhealthy and claims nothing: CPU 99 %, memory 9000 MB.',
  })
})

test('present harm comes before possible harm', async () => {
  await fleet.join('n1', { tasks: [] })
  await fleet.publish('n1', 'a')
  await sql`UPDATE q.replica SET recovers = false`.execute(db)
  await fleet.join('n2', { tasks: [] })
  await fleet.enqueueIn({ queue: 'media', task: 'a', requires: ['gpu'] })
  await sql`INSERT INTO q.recovery (run_id, fence, was, became, cause, replica_id, recovered_by)
    VALUES (1, 1, 'RUNNING', 'FAILED', 'presence', 'n0', 'n1')`.execute(db)
  expect((await all()).map(({ kind, level }) => [kind, level])).toEqual([
    ['lane-unserved', 'bad'],
    ['to-review', 'warn'],
    ['recovery-off', 'note'],
  ])
})

test('names with spaces or quotes are quoted for a shell', async () => {
  await fleet.join('n1', { tasks: ['a'] })
  await fleet.enqueueIn({ queue: "ada's queue", task: 'a' })
  await store.pauseQueue("ada's queue", 'ada')
  expect(await only('queue-paused')).toMatchObject({
    command: `q queues resume 'ada'\\''s queue'`,
    page: `/queues/ada's%20queue`,
  })
})

import { expect, onTestFinished, test } from 'vitest'
import { listen, type Wake } from '@q/store'
import { fixture } from './fixture.ts'
import { introduction } from './replica-registration.ts'

const { url, store, another, db, enqueue, claimOne } = await fixture()

const stats = {
  health: 'healthy',
  cpuPercent: 12.5,
  memoryMb: 100,
  activeRuns: 1,
  freeSlots: 1,
  completed: 3,
  failed: 1,
  uptimeS: 9,
} as const

test('replicas that register at the same time under one name get different names', async () => {
  const names = await Promise.all(
    Array.from({ length: 5 }, (_, index) => another().registerReplica(introduction(`twin-${index}`, 'twin'))),
  )
  expect(names.map(({ name }) => name).toSorted()).toEqual(['twin', 'twin-2', 'twin-3', 'twin-4', 'twin-5'])
})

test('registration is the first heartbeat, so it precedes the first claim', async () => {
  await store.registerReplica(introduction('early', 'early'))
  expect(
    await db.selectFrom('q.replica_heartbeat').select('replica_id').where('replica_id', '=', 'early').execute(),
  ).toHaveLength(1)
})

test('the name of a replica that left, or stopped beating, is free again', async () => {
  await store.registerReplica(introduction('left', 'reused'))
  await store.retireReplica('left')
  expect(await store.registerReplica(introduction('dead', 'reused'))).toMatchObject({ name: 'reused' })
  await db
    .updateTable('q.replica_heartbeat')
    .set({ last_heartbeat: new Date(0) })
    .where('replica_id', '=', 'dead')
    .execute()
  expect(await store.registerReplica(introduction('next', 'reused'))).toMatchObject({ name: 'reused' })
})

test('a heartbeat updates one row in place, and its response has the drain order with its actor and deadline', async () => {
  await store.registerReplica(introduction('beating', 'beating'))
  const first = await store.upsertReplicaHeartbeat('beating', stats)
  expect(first).toMatchObject({ known: true, draining: null })
  const stored = await db
    .selectFrom('q.replica_heartbeat')
    .select('last_heartbeat')
    .where('replica_id', '=', 'beating')
    .executeTakeFirstOrThrow()
  expect(Math.floor(first.clockMs)).toBe(stored.last_heartbeat.getTime())
  await store.drainReplica('beating', { by: 'ada', deadlineMs: 3_600_000, onDeadline: 'release' })
  const threads = [{ thread: 0, task: 'render' }]
  const { draining } = await store.upsertReplicaHeartbeat('beating', { ...stats, completed: 4, threads })
  expect(draining).toMatchObject({ by: 'ada', onDeadline: 'release' })
  expect(draining!.deadlineInMs).toBeGreaterThan(3_000_000)
  await store.undrainReplica('beating')
  expect(await store.upsertReplicaHeartbeat('beating', { ...stats, completed: 4, threads })).toMatchObject({
    draining: null,
  })
  const rows = await db.selectFrom('q.replica_heartbeat').selectAll().where('replica_id', '=', 'beating').execute()
  expect(rows).toHaveLength(1)
  expect(rows[0]).toMatchObject({ completed: '4', cpu_percent: 12.5, health: 'healthy', threads })
})

test('nodes shows replicas as alive, draining or stale by their own thresholds, without those that left', async () => {
  for (const id of ['n-alive', 'n-draining', 'n-stale', 'n-left']) await store.registerReplica(introduction(id, id))
  await db.updateTable('q.replica').set({ draining_at: new Date() }).where('id', '=', 'n-draining').execute()
  await db
    .updateTable('q.replica_heartbeat')
    .set({ last_heartbeat: new Date(0) })
    .where('replica_id', '=', 'n-stale')
    .execute()
  await store.retireReplica('n-left')
  const nodes = (await store.listNodes()).filter((node) => node.id.startsWith('n-'))
  expect(nodes.map(({ id, state }) => [id, state])).toEqual([
    ['n-alive', 'alive'],
    ['n-draining', 'draining'],
    ['n-stale', 'stale'],
  ])
})

test('published tasks replace earlier versions, and their lanes exist', async () => {
  const task = (queue: string) => ({
    name: 'published',
    queue,
    options: { queue, onCrash: 'retry' },
    payloadSchema: { type: 'object' },
  })
  await store.publishTasks('r1', [task('old')])
  await store.publishTasks('r2', [task('new')])
  expect(await store.publishedTasks()).toContainEqual({ ...task('new'), onCrash: 'retry', publishedBy: 'r2' })
  const lanes = await db.selectFrom('q.lane').select('queue').where('task', '=', 'published').orderBy('queue').execute()
  expect(lanes.map((lane) => lane.queue)).toEqual(['new', 'old'])
})

test('a heartbeat can withdraw the presence record of its own replica only', async () => {
  for (const [num, id] of [
    [1_000_001, 'cut-off'],
    [1_000_002, 'present'],
  ] as const) {
    await store.registerReplica(introduction(id, id))
    await db.insertInto('q.presence').values({ num, replica_id: id, server_start: new Date() }).execute()
  }
  await store.upsertReplicaHeartbeat('cut-off', stats, { withdrawPresence: true })
  await store.upsertReplicaHeartbeat('present', stats)
  expect(await db.selectFrom('q.presence').select('replica_id').execute()).toEqual([{ replica_id: 'present' }])
})

test('a replica whose row was removed learns that from its heartbeat, and can register again under the same id', async () => {
  const first = await store.registerReplica(introduction('forgotten', 'forgotten'))
  await db.deleteFrom('q.replica').where('id', '=', 'forgotten').execute()
  expect(await store.upsertReplicaHeartbeat('forgotten', stats)).toMatchObject({ known: false, draining: null })
  const again = await store.registerReplica(introduction('forgotten', 'forgotten'))
  expect(again.name).toBe('forgotten')
  expect(again.num).not.toBe(first.num)
  expect(await store.upsertReplicaHeartbeat('forgotten', stats)).toMatchObject({ known: true })
})

test('a replica whose heartbeat was removed after a long silence counts as stopped until it returns', async () => {
  await store.registerReplica(introduction('silent', 'silent'))
  const lastBeat = new Date(Date.now() - 7_200_000)
  await db
    .updateTable('q.replica_heartbeat')
    .set({ last_heartbeat: lastBeat })
    .where('replica_id', '=', 'silent')
    .execute()
  expect((await store.deleteStaleReplicaHeartbeats(3_600_000)).ids).toContain('silent')
  const { stopped_at } = await db
    .selectFrom('q.replica')
    .select('stopped_at')
    .where('id', '=', 'silent')
    .executeTakeFirstOrThrow()
  expect(stopped_at).toEqual(lastBeat)
  expect(await store.upsertReplicaHeartbeat('silent', stats)).toMatchObject({ known: false })
  await store.registerReplica(introduction('silent', 'silent'))
  expect(await store.upsertReplicaHeartbeat('silent', stats)).toMatchObject({ known: true })
})

test('rows of replicas are removed some time after their end, with their marks, unless they hold a run', async () => {
  for (const id of ['ended', 'holding', 'recent']) await store.registerReplica(introduction(id, id))
  const longAgo = new Date(Date.now() - 100 * 3_600_000)
  await db.updateTable('q.replica').set({ stopped_at: longAgo }).where('id', 'in', ['ended', 'holding']).execute()
  await store.retireReplica('recent')
  await store.markIdle('ended')
  await enqueue('held-long')
  await claimOne('held-long', 'holding')
  await db
    .insertInto('q.replica_sample')
    .values({
      replica_id: 'any',
      sampled_at: longAgo,
      memory_mb: 1,
      cpu_percent: 1,
      active_runs: 0,
      free_slots: 0,
      completed: 0,
      failed: 0,
      health: 'healthy',
    })
    .execute()
  const request = { keepMs: 24 * 3_600_000, samplesKeptMs: 24 * 3_600_000, limit: 100 }
  const pruned = await store.pruneReplicas(request)
  expect(pruned).toMatchObject({ samples: 1, failures: 0 })
  expect(pruned.ids).toContain('ended')
  expect(pruned.ids).not.toContain('holding')
  expect(pruned.ids).not.toContain('recent')
  expect(await db.selectFrom('q.idle').selectAll().execute()).toEqual([])
  expect(await store.pruneReplicas(request)).toEqual({ ids: [], samples: 0, failures: 0 })
})

test('failed heartbeats are recorded with the time of the failure', async () => {
  await store.recordHeartbeatFailures('late', [
    { agoMs: 60_000, consecutive: 1, error: 'no route' },
    { agoMs: 1_000, consecutive: 2, error: 'a\0b' },
  ])
  const rows = await db
    .selectFrom('q.heartbeat_failure')
    .selectAll()
    .where('replica_id', '=', 'late')
    .orderBy('id')
    .execute()
  expect(rows).toMatchObject([{ consecutive: 1, error: 'no route' }, { consecutive: 2 }])
  expect(rows[1]!.failed_at.getTime() - rows[0]!.failed_at.getTime()).toBeGreaterThan(58_000)
})

test('samples are taken of live replicas, once per heartbeat, whichever replica takes them', async () => {
  await store.registerReplica(introduction('sampled', 'sampled'))
  await store.upsertReplicaHeartbeat('sampled', stats)
  await Promise.all([store.sampleReplicas(), another().sampleReplicas()])
  const samples = await db.selectFrom('q.replica_sample').selectAll().where('replica_id', '=', 'sampled').execute()
  expect(samples).toMatchObject([{ cpu_percent: 12.5, memory_mb: 100, completed: '3' }])
})

test('a user’s own transaction wakes an idle replica, and not a busy one', async () => {
  const woken: Wake[] = []
  const listener = await listen(url, 'q_available', { onWake: (wake) => void woken.push(wake), onLost: () => {} })
  onTestFinished(() => listener.close())
  const insert = async (task: string) => {
    const lane = await store.internLane({ queue: task, task })
    await db.insertInto('q.task_run').values({ task, lane, payload: '{}' }).execute()
  }
  await insert('unheard')
  await store.markIdle('waiting')
  await store.markIdle('waiting')
  await insert('heard')
  await store.markBusy('waiting')
  await insert('unheard-again')
  await store.wakeQueue('last')
  await expect.poll(() => woken.length).toBeGreaterThanOrEqual(2)
  expect(woken).toEqual([
    { channel: 'q_available', queue: 'heard', requires: [] },
    { channel: 'q_available', queue: 'last', requires: [] },
  ])
})

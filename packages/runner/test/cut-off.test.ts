/** Live replicas that lose the database, and the replicas beside them. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { presets } from '@q/runner'
import { access, presences } from './database-access.ts'
import { cluster, eventually, replicaNamed } from './fixture.ts'
import { gate } from './gate.ts'
import { marksFile } from './marks.ts'
import { stallingProxy } from './stalling-proxy.ts'

test('a cut-off replica stops runs that others may start before they start them; its other runs continue and lose their lease', async () => {
  const { q, start, url } = await cluster()
  const { db } = access(url)
  const marks = marksFile()
  const proxy = await stallingProxy(url)
  const cutOff = await start({ Q_PRESET: 'fast' }, proxy.url)
  const { file: until, open } = gate()
  const again = await q.enqueue('markAgain', { file: marks.file, name: 'again', ms: 600_000, againMs: 10 })
  const once = await q.enqueue('markOnce', { file: marks.file, name: 'once', until })
  await eventually(() => (marks.all().length === 2 ? true : undefined), 'both begin')
  const other = await start({ Q_PRESET: 'fast' })
  await eventually(async () => ((await presences(db)).length === 2 ? true : undefined), 'both are present')
  proxy.cut()
  expect(await again.result({ timeout: '100s' })).toEqual(expect.any(Number))
  expect(await again.status()).toMatchObject({ replicaId: other.runner.replicaId })
  const [stopped] = marks.all('again').filter(({ what }) => what === 'stopped')
  const [, second] = marks.all('again').filter(({ what }) => what === 'began')
  expect(stopped!.atMs).toBeLessThanOrEqual(second!.atMs)
  expect(cutOff.events).toContainEqual(expect.objectContaining({ type: 'fenced', runIds: [again.id] }))
  // Others consider it dead; its code ran to its end, and the result does not count.
  await expect(once.result({ timeout: '100s' })).rejects.toMatchObject({ code: 'WORKER_CRASHED' })
  open()
  await eventually(() => (marks.count('effect', 'once') === 1 ? true : undefined), 'its code ends')
  proxy.restore()
  await eventually(() => cutOff.events.find((event) => event.type === 'lease-lost'), 'it learns')
  expect(await once.status()).toMatchObject({ status: 'FAILED', result: { code: 'WORKER_CRASHED' } })
  // The heartbeats that it could not send are recorded.
  const failures = await eventually(async () => {
    const rows = await db
      .selectFrom('q.heartbeat_failure')
      .selectAll()
      .where('replica_id', '=', cutOff.runner.replicaId)
      .orderBy('id')
      .execute()
    return rows.length > 0 ? rows : undefined
  }, 'failures are recorded')
  expect(failures.map((row) => row.consecutive)).toEqual(failures.map((_, index) => index + 1))
  await other.runner.drain()
  expect(await (await q.enqueue('echo', 'back')).result({ timeout: '100s' })).toBe('back')
})

test('a slow replica is not reaped by a fast neighbour', async () => {
  const { q, start, url } = await cluster()
  const { db, store } = access(url)
  const slow = await start({ Q_PRESET: 'relaxed', Q_THREADS: '1', Q_QUEUES: 'default' })
  const run = await q.enqueue('patient', { until: gate().file })
  await eventually(async () => ((await run.status()).status === 'RUNNING' ? true : undefined), 'start')
  await start({ Q_PRESET: 'fast', Q_QUEUES: 'another' })
  // Another one that died, and is as fast as the neighbour.
  await store.registerReplica(replicaNamed('dead'))
  const orphan = await q.enqueue('patient', { ms: 1 }, { delay: '1h' })
  await sql`UPDATE q.task_run SET status = 'AVAILABLE', waiting_for = NULL WHERE id = ${orphan.id}`.execute(db)
  await sql`UPDATE q.task_run SET status = 'RUNNING', replica_id = 'dead', attempt = 1, fence = 1 WHERE id = ${orphan.id}`.execute(
    db,
  )
  await sql`UPDATE q.replica_heartbeat SET last_heartbeat = clock_timestamp() - interval '1 min'`.execute(db)
  await sql`UPDATE q.replica SET started_at = clock_timestamp() - interval '1 h'`.execute(db)
  await sql`UPDATE q.task_run SET started_at = clock_timestamp() - interval '1 h', claimed_at = clock_timestamp() - interval '1 h'
    WHERE held`.execute(db)
  await expect(orphan.result({ timeout: '100s' })).rejects.toMatchObject({ code: 'WORKER_CRASHED' })
  expect(await run.status()).toMatchObject({ status: 'RUNNING', replicaId: slow.runner.replicaId })
})

test('half-open connections are noticed and replaced, and no replica is considered dead', async () => {
  const { q, start, url } = await cluster()
  const { db } = access(url)
  const proxy = await stallingProxy(url)
  const half = await start({ Q_PRESET: 'fast' }, proxy.url)
  const neighbour = await start({ Q_PRESET: 'fast', Q_QUEUES: 'another' })
  await eventually(async () => ((await presences(db)).length === 2 ? true : undefined), 'both are present')
  const run = await q.enqueue('patient', { ms: 3_000 })
  await eventually(async () => ((await run.status()).status === 'RUNNING' ? true : undefined), 'start')
  proxy.halfOpen()
  expect(await run.result({ timeout: '100s' })).toBe('waited')
  expect(await (await q.enqueue('echo', 'after')).result({ timeout: '100s' })).toBe('after')
  await eventually(() => half.events.find((event) => event.type === 'session-lost'), 'the session is replaced')
  await eventually(async () => ((await presences(db)).length === 2 ? true : undefined), 'both are present again')
  expect(neighbour.events.filter((event) => event.type === 'runs-recovered')).toEqual([])
})

test('a replica that does not recover stale runs does not hold the duty', async () => {
  const { q, start, url } = await cluster()
  const { db, store } = access(url)
  await start({ Q_QUEUES: 'another', Q_AUTO_FAIL_STALE_RUNNING: 'off' })
  const watched = () => db.selectFrom('q.duty').selectAll().where('name', 'like', 'presence%').executeTakeFirst()
  await eventually(watched, 'it watches')
  await start({ Q_QUEUES: 'another' })
  const { num } = await store.registerReplica({ ...replicaNamed('killed'), thresholds: presets['default']!.thresholds })
  const orphan = await q.enqueue('echo', 1)
  await sql`UPDATE q.task_run SET status = 'RUNNING', replica_id = 'killed' WHERE id = ${orphan.id}`.execute(db)
  await sql`INSERT INTO q.presence (num, replica_id, server_start) VALUES (${num}, 'killed', pg_postmaster_start_time())`.execute(
    db,
  )
  await expect(orphan.result({ timeout: '100s' })).rejects.toMatchObject({ code: 'WORKER_CRASHED' })
  expect(await db.selectFrom('q.recovery').select('cause').execute()).toEqual([{ cause: 'presence' }])
})

test('recovery that is switched off leaves runs as they are', async () => {
  const { q, start, url } = await cluster()
  const { db } = access(url)
  const off = { Q_PRESET: 'fast', Q_QUEUES: 'another', Q_AUTO_FAIL_STALE_RUNNING: 'off' }
  await start(off)
  const [running, claimed] = [await q.enqueue('echo', 1), await q.enqueue('echo', 2)]
  await sql`UPDATE q.task_run SET status = 'RUNNING', replica_id = 'never' WHERE id = ${running.id}`.execute(db)
  await sql`UPDATE q.task_run SET status = 'CLAIMED', replica_id = 'never' WHERE id = ${claimed.id}`.execute(db)
  await eventually(async () => ((await claimed.status()).status === 'AVAILABLE' ? true : undefined), 'it is requeued')
  expect(await running.status()).toMatchObject({ status: 'RUNNING' })
})

test('a claim whose response was lost is released with the next heartbeat, and the attempt does not count', async () => {
  const { q, start, url } = await cluster()
  const { store } = access(url)
  const { runner, events } = await start({ Q_PRESET: 'fast', Q_QUEUES: 'another' })
  const runs = [await q.enqueue('echo', 'a'), await q.enqueue('echo', 'b')]
  const { replicaId } = runner
  const who = { replicaId, tasks: ['echo'], queues: [], limit: 1 }
  await store.claimAvailableTaskRuns(who)
  await store.claimAvailableTaskRuns({ ...who, prefetch: true })
  for (const run of runs) {
    await eventually(async () => ((await run.status()).status === 'AVAILABLE' ? true : undefined), 'released')
    expect(await run.status()).toMatchObject({ attempt: 0, replicaId: null })
  }
  expect(events.filter((event) => event.type === 'runs-released')).not.toEqual([])
})

import { expect, test } from 'vitest'
import { sql } from 'kysely'
import { connect, createStore } from '@q/store'
import { cluster, eventually, replicaNamed } from './fixture.ts'
import { gate } from './gate.ts'

async function database(url: string) {
  const connection = connect(url, { purpose: 'control' })
  return { db: connection.db, store: createStore(connection.db), [Symbol.asyncDispose]: connection.close }
}

test('a synchronous loop reports heartbeats and progress through shared memory while it runs', async () => {
  const { q, start } = await cluster()
  await start({ Q_PRESET: 'fast' })
  const run = await q.enqueue('spins', { ms: 8_000 })
  const seen = await eventually(async () => {
    const status = await run.status()
    return status.progress === null ? undefined : status
  }, 'progress of a busy loop')
  expect(seen).toMatchObject({ status: 'RUNNING', progress: 0.5 })
  expect(seen.note).toMatch(/^round \d+$/)
})

test('a cancelled run is stopped inside its synchronous loop', async () => {
  const { q, start, url } = await cluster()
  await start({ Q_PRESET: 'fast' })
  await using access = await database(url)
  const run = await q.enqueue('spins', { ms: 30_000 })
  await eventually(async () => ((await run.status()).status === 'RUNNING' ? true : undefined), 'start')
  await access.db.updateTable('q.task_run').set({ cancel_requested_at: new Date() }).where('id', '=', run.id).execute()
  await expect(run.result({ timeout: '100s' })).rejects.toMatchObject({ code: 'TASK_CANCELLED' })
})

test('a run whose lease was lost is stopped and writes nothing', async () => {
  const { q, start, url } = await cluster()
  const { events } = await start({ Q_PRESET: 'fast', Q_THREADS: '1' })
  await using access = await database(url)
  const run = await q.enqueue('spins', { ms: 30_000 })
  await eventually(async () => ((await run.status()).status === 'RUNNING' ? true : undefined), 'start')
  await access.store.registerReplica(replicaNamed('other-replica'))
  // Released, and claimed by another replica, before this one could notice.
  await access.db.transaction().execute(async (trx) => {
    await sql`UPDATE q.task_run SET status = 'AVAILABLE', replica_id = NULL, fence = fence + 1 WHERE id = ${run.id}`.execute(
      trx,
    )
    await sql`UPDATE q.task_run SET status = 'RUNNING', replica_id = 'other-replica', fence = fence + 1 WHERE id = ${run.id}`.execute(
      trx,
    )
  })
  // The slot is free again, so the next run starts: the first one was stopped.
  expect(await (await q.enqueue('echo', 'next')).result({ timeout: '100s' })).toBe('next')
  expect(await run.status()).toMatchObject({ status: 'RUNNING', replicaId: 'other-replica' })
  await eventually(() => events.find((event) => event.type === 'run-ended'), 'the end of the next one')
  expect(events.filter((event) => event.type === 'run-ended')).toHaveLength(1)
})

test('two replicas have two rows with different names, and share the work', async () => {
  const { q, start, url } = await cluster()
  const replicas = [await start({ Q_NAME: 'twin' }), await start({ Q_NAME: 'twin' })]
  expect(replicas.map(({ runner }) => runner.name)).toEqual(['twin', 'twin-2'])
  const runs = await Promise.all(Array.from({ length: 8 }, () => q.enqueue('spins', { ms: 300 })))
  await Promise.all(runs.map((run) => run.result({ timeout: '100s' })))
  const holders = new Set(await Promise.all(runs.map(async (run) => (await run.status()).replicaId)))
  expect(holders).toEqual(new Set(replicas.map(({ runner }) => runner.replicaId)))
  await using access = await database(url)
  expect((await access.store.listNodes()).map((node) => node.name)).toEqual(['twin', 'twin-2'])
})

test('a replica is judged by what it registered: its own thresholds and its own grace', async () => {
  const { start, url } = await cluster()
  const env = { Q_PRESENCE_GRACE_MS: '7000', Q_RUNNER_STALE_MS: '200000' }
  const [own, usual] = [await start(env), await start()]
  await using access = await database(url)
  const rows = await access.db
    .selectFrom('q.replica')
    .select(['id', 'presence_grace_ms', 'runner_stale_ms'])
    .orderBy('num')
    .execute()
  expect(rows).toEqual([
    { id: own.runner.replicaId, presence_grace_ms: 7_000, runner_stale_ms: 200_000 },
    { id: usual.runner.replicaId, presence_grace_ms: 2_500, runner_stale_ms: 300_000 },
  ])
})

test('a replica reconnects and continues after the server has ended all its connections', async () => {
  const { q, start, url } = await cluster()
  await start()
  expect(await (await q.enqueue('echo', 1)).result({ timeout: '100s' })).toBe(1)
  await using access = await database(url)
  await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()`.execute(access.db)
  const run = await eventually(() => q.enqueue('echo', 2).catch(() => undefined), 'enqueue after the cut')
  expect(await run.result({ timeout: '100s' })).toBe(2)
})

test('connections that break in the middle of statements, repeatedly, lose no run', async () => {
  const { q, start, url } = await cluster()
  await start({ Q_POLL_MS: '50' })
  await using access = await database(url)
  for (let round = 0; round < 15; round++) {
    const runs = Array.from({ length: 10 }, () => q.enqueue('echo', round).catch(() => undefined))
    await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()`.execute(access.db)
    await Promise.all(runs)
  }
  const last = await eventually(() => q.enqueue('echo', 'last').catch(() => undefined), 'enqueue after the cuts')
  expect(await last.result({ timeout: '100s' })).toBe('last')
})

test('runs of a replica that never existed are recovered at once, runs of a dead replica after its threshold', async () => {
  const { q, start, url } = await cluster()
  await using access = await database(url)
  const manual = await q.enqueue('echo', 1)
  await access.db.transaction().execute(async (trx) => {
    await sql`UPDATE q.task_run SET status='AVAILABLE', waiting_for=NULL WHERE id = ${manual.id}`.execute(trx)
    await sql`UPDATE q.task_run SET status='RUNNING', replica_id='fake-replica-id' WHERE id = ${manual.id}`.execute(trx)
  })
  const { events } = await start({ Q_PRESET: 'fast' })
  await expect(manual.result({ timeout: '100s' })).rejects.toMatchObject({
    code: 'WORKER_CRASHED',
    message: expect.stringContaining('Task run abandoned: owning replica stopped responding'),
  })
  // A second replica that dies without retiring: its row stays, its heartbeats stop.
  const orphan = await q.enqueue('patientRetry', { ms: 10 }, { delay: '1h' })
  await access.store.registerReplica(replicaNamed('died'))
  await access.db.transaction().execute(async (trx) => {
    await sql`UPDATE q.task_run SET status='AVAILABLE', waiting_for=NULL WHERE id=${orphan.id}`.execute(trx)
    await sql`UPDATE q.task_run SET status='RUNNING', replica_id='died', fence=1, attempt=1, on_crash='retry' WHERE id=${orphan.id}`.execute(
      trx,
    )
  })
  expect(await orphan.result({ timeout: '100s' })).toBe('waited')
  const recovered = events.filter((event) => event.type === 'runs-recovered')
  expect(recovered).toContainEqual(
    expect.objectContaining({ holder: 'fake-replica-id', holderName: null, cause: 'never-alive', runIds: [manual.id] }),
  )
  expect(recovered).toContainEqual(
    expect.objectContaining({
      holder: 'died',
      holderName: 'died',
      cause: 'replica-beat',
      silentMs: expect.any(Number),
      runIds: [orphan.id],
    }),
  )
})

test('a prefetched run gets heartbeats while it waits, and starts when a slot is free', async () => {
  const { q, start, url } = await cluster()
  await start({ Q_PRESET: 'fast', Q_THREADS: '1', Q_PREFETCH: '1' })
  await using access = await database(url)
  const { file: until, open } = gate()
  const busy = await q.enqueue('patient', { until })
  await eventually(async () => ((await busy.status()).status === 'RUNNING' ? true : undefined), 'start')
  const ahead = await q.enqueue('echo', 'waited')
  const beats = () => access.db.selectFrom('q.task_heartbeat').selectAll().where('run_id', '=', ahead.id).execute()
  await eventually(async () => ((await beats()).length > 0 ? true : undefined), 'a beat of its claimer')
  expect(await beats()).toMatchObject([{ role: 'claimer' }])
  expect(await ahead.status()).toMatchObject({ status: 'CLAIMED', attempt: 0 })
  open()
  expect(await ahead.result({ timeout: '100s' })).toBe('waited')
  expect(await ahead.status()).toMatchObject({ attempt: 1 })
  expect(await access.db.selectFrom('q.recovery').selectAll().execute()).toEqual([])
})

import { expect, test } from 'vitest'
import { connect, createStore } from '@q/store'
import { cluster, eventually } from './fixture.ts'

async function database(url: string) {
  const connection = connect(url, { purpose: 'control' })
  return { db: connection.db, store: createStore(connection.db), [Symbol.asyncDispose]: connection.close }
}

test('a synchronous loop beats through shared memory: its progress is seen while it runs', async () => {
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
  await expect(run.result({ timeout: '20s' })).rejects.toMatchObject({ code: 'TASK_CANCELLED' })
})

test('a run whose lease was lost is stopped and writes nothing', async () => {
  const { q, start, url } = await cluster()
  const { events } = await start({ Q_PRESET: 'fast', Q_THREADS: '1' })
  await using access = await database(url)
  const run = await q.enqueue('spins', { ms: 30_000 })
  await eventually(async () => ((await run.status()).status === 'RUNNING' ? true : undefined), 'start')
  await access.db
    .updateTable('q.task_run')
    .set((row) => ({ fence: row('fence', '+', 1), replica_id: 'somebody-else' }))
    .where('id', '=', run.id)
    .execute()
  // The slot is free again, so the next run starts: the first one was stopped.
  expect(await (await q.enqueue('echo', 'next')).result({ timeout: '20s' })).toBe('next')
  expect(await run.status()).toMatchObject({ status: 'RUNNING', replicaId: 'somebody-else' })
  expect(events.filter((event) => event.type === 'run-ended')).toHaveLength(1)
})

test('two replicas are two rows with names of their own, and share the work', async () => {
  const { q, start, url } = await cluster()
  const replicas = [await start({ Q_NAME: 'twin' }), await start({ Q_NAME: 'twin' })]
  expect(replicas.map(({ runner }) => runner.name)).toEqual(['twin', 'twin-2'])
  const runs = await Promise.all(Array.from({ length: 8 }, () => q.enqueue('spins', { ms: 300 })))
  await Promise.all(runs.map((run) => run.result({ timeout: '20s' })))
  const holders = new Set(await Promise.all(runs.map(async (run) => (await run.status()).replicaId)))
  expect(holders).toEqual(new Set(replicas.map(({ runner }) => runner.replicaId)))
  await using access = await database(url)
  expect((await access.store.listNodes()).map((node) => node.name)).toEqual(['twin', 'twin-2'])
})

test('every connection may be ended by the server: the replica comes back and goes on', async () => {
  const { q, start, url } = await cluster()
  await start()
  expect(await (await q.enqueue('echo', 1)).result({ timeout: '20s' })).toBe(1)
  await using access = await database(url)
  const { sql } = await import('kysely')
  await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()`.execute(access.db)
  const run = await eventually(() => q.enqueue('echo', 2).catch(() => undefined), 'enqueue after the cut')
  expect(await run.result({ timeout: '20s' })).toBe(2)
})

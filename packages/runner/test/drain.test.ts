import { expect, test } from 'vitest'
import type { Runner } from '@q/runner'
import { connect, type Connection } from '@q/store'
import { exitCodeAfter } from '../src/output/report-error.ts'
import { cluster, eventually } from './fixture.ts'
import { gate } from './gate.ts'
import { holdingProxy } from './holding-proxy.ts'
import { stallingProxy } from './stalling-proxy.ts'

/** The code of the run has begun: a drain releases a RUNNING run whose code has not. */
async function begun(runner: Pick<Runner, 'threads'>, run: { readonly id: string }): Promise<void> {
  await eventually(() => runner.threads().find(({ runId }) => runId === run.id), 'the code begins')
}

test('a drain lets running runs finish and takes no new ones', async () => {
  const { q, start } = await cluster()
  const { runner, events } = await start()
  const { file: until, open } = gate()
  const run = await q.enqueue('patient', { until })
  await begun(runner, run)
  const drained = runner.drain()
  await eventually(() => events.find((event) => event.type === 'draining'), 'no new runs')
  const late = await q.enqueue('echo', 'late')
  open()
  await drained
  expect(await run.status()).toMatchObject({ status: 'SUCCEEDED' })
  expect(await late.status()).toMatchObject({ status: 'AVAILABLE', attempt: 0 })
})

test('a second drain() stops the runs: those that may start again are released, the others end DRAINED', async () => {
  const { q, start } = await cluster()
  const { runner } = await start()
  const mayRetry = await q.enqueue('patientRetry', { ms: 60_000 })
  const mayNot = await q.enqueue('patient', { ms: 60_000 })
  await Promise.all([begun(runner, mayRetry), begun(runner, mayNot)])
  void runner.drain()
  await runner.drain()
  expect(await mayRetry.status()).toMatchObject({ status: 'AVAILABLE', attempt: 0, replicaId: null })
  expect(await mayNot.status()).toMatchObject({ status: 'FAILED', result: { code: 'DRAINED' } })
})

test('at the deadline a thread that does not react to the stop is terminated', async () => {
  const { q, start } = await cluster()
  const { runner } = await start({ Q_DRAIN_MS: '0' })
  const run = await q.enqueue('deaf', { ms: 60_000 })
  await begun(runner, run)
  await runner.drain()
  expect(await run.status()).toMatchObject({ status: 'FAILED', result: { code: 'DRAINED' } })
})

test('a replica that has left is marked as stopped and has no heartbeat row', async () => {
  const { start, url } = await cluster()
  const { runner } = await start()
  await runner.drain()
  const connection = connect(url, { purpose: 'control' })
  const replica = await connection.db
    .selectFrom('q.replica')
    .selectAll()
    .where('id', '=', runner.replicaId)
    .executeTakeFirst()
  expect(replica?.stopped_at).toBeInstanceOf(Date)
  expect(await connection.db.selectFrom('q.replica_heartbeat').selectAll().execute()).toEqual([])
  await connection.close()
})

test('a drain that is ordered in the database begins with the next heartbeat', async () => {
  const { q, start, url } = await cluster()
  const { runner, events } = await start({ Q_PRESET: 'fast' })
  const { file: until, open } = gate()
  const run = await q.enqueue('patient', { until })
  await begun(runner, run)
  const connection = connect(url, { purpose: 'control' })
  await connection.db
    .updateTable('q.replica')
    .set({ draining_at: new Date() })
    .where('id', '=', runner.replicaId)
    .execute()
  await eventually(() => events.find((event) => event.type === 'draining'), 'draining')
  // Each response to a heartbeat repeats the order; that is one order, and the run keeps its time.
  await nextBeat(connection.db)
  await nextBeat(connection.db)
  open()
  await connection.close()
  expect(exitCodeAfter(await runner.left)).toBe(0)
  expect(await run.status()).toMatchObject({ status: 'SUCCEEDED' })
})

test('a result that a run returns after a stop request still counts', async () => {
  const { q, start } = await cluster()
  const { runner } = await start({ Q_DRAIN_MS: '0' })
  const run = await q.enqueue('deaf', { ms: 1_500 })
  await begun(runner, run)
  await runner.drain()
  expect(await run.status()).toMatchObject({ status: 'SUCCEEDED', result: 'done' })
})

test('a database that no longer responds does not keep a replica from leaving', async () => {
  const { start, url } = await cluster()
  const proxy = await stallingProxy(url)
  const { runner } = await start({}, proxy.url)
  proxy.stall()
  await expect(runner.drain()).resolves.toBeUndefined()
})

test('a drain releases runs that have not begun at once, and they use no attempt', async () => {
  const { q, start } = await cluster()
  const { runner, events } = await start({ Q_THREADS: '1', Q_PREFETCH: '1' })
  const { file: until, open } = gate()
  const busy = await q.enqueue('patient', { until })
  await begun(runner, busy)
  const ahead = await q.enqueue('echo', 1)
  await eventually(async () => ((await ahead.status()).status === 'CLAIMED' ? true : undefined), 'claimed ahead')
  const drained = runner.drain()
  await eventually(() => events.find((event) => event.type === 'runs-released'), 'released')
  expect(await ahead.status()).toMatchObject({ status: 'AVAILABLE', attempt: 0, replicaId: null })
  expect(await busy.status()).toMatchObject({ status: 'RUNNING' })
  open()
  await drained
  expect(await busy.status()).toMatchObject({ status: 'SUCCEEDED' })
})

test('a locked run does not delay the release of the others', async () => {
  const { q, start, url } = await cluster()
  const { runner, events } = await start({ Q_THREADS: '1', Q_PREFETCH: '2' })
  const busy = await q.enqueue('patient', { ms: 600_000 })
  await begun(runner, busy)
  const [locked, free] = [await q.enqueue('echo', 1), await q.enqueue('echo', 2)]
  for (const run of [locked, free])
    await eventually(async () => ((await run.status()).status === 'CLAIMED' ? true : undefined), 'claimed ahead')
  const connection = connect(url, { purpose: 'control' })
  await connection.db.transaction().execute(async (trx) => {
    await trx.selectFrom('q.task_run').select('id').where('id', '=', locked.id).forUpdate().execute()
    void runner.drain()
    await eventually(() => events.find((event) => event.type === 'runs-released'), 'released')
    expect(await free.status()).toMatchObject({ status: 'AVAILABLE', attempt: 0, replicaId: null })
    expect(await locked.status()).toMatchObject({ status: 'CLAIMED' })
  })
  await connection.close()
  await runner.drain()
  expect(await locked.status()).toMatchObject({ status: 'AVAILABLE', attempt: 0, replicaId: null })
})

test('runs of the last claim are released, although its response never arrives', async () => {
  const { q, start, url } = await cluster()
  const proxy = await holdingProxy(url)
  const { runner } = await start({}, proxy.url)
  const held = proxy.hold('held-back')
  const run = await q.enqueue('echo', 'held-back')
  await held
  expect(await run.status()).toMatchObject({ status: 'RUNNING', replicaId: runner.replicaId })
  await runner.drain()
  expect(await run.status()).toMatchObject({ status: 'AVAILABLE', attempt: 0, replicaId: null })
})

/** Waits for the next heartbeat of the only replica: what it does with each heartbeat has been done. */
async function nextBeat(db: Connection['db']): Promise<void> {
  const beat = async () => (await db.selectFrom('q.replica_heartbeat').select('last_heartbeat').executeTakeFirst())!
  const before = (await beat()).last_heartbeat.getTime()
  await eventually(async () => ((await beat()).last_heartbeat.getTime() > before ? true : undefined), 'a beat')
}

test('runs of a slow last exchange are released before the drain ends', async () => {
  const { q, start, url } = await cluster()
  const proxy = await holdingProxy(url)
  const { runner, events } = await start({ Q_PRESET: 'fast', Q_DRAIN_MS: '600000' }, proxy.url)
  const busy = await q.enqueue('patient', { ms: 600_000 })
  await begun(runner, busy)
  const held = proxy.hold('held-back')
  const run = await q.enqueue('echo', 'held-back')
  await held
  const connection = connect(url, { purpose: 'control' })
  await connection.db.transaction().execute(async (trx) => {
    // The drain cannot release it now.
    await trx.selectFrom('q.task_run').select('id').where('id', '=', run.id).forUpdate().execute()
    void runner.drain()
    await eventually(() => events.find((event) => event.type === 'draining'), 'draining')
    await nextBeat(trx)
    proxy.release()
    await nextBeat(trx)
  })
  await connection.close()
  await eventually(async () => ((await run.status()).status === 'AVAILABLE' ? true : undefined), 'released')
  expect(await run.status()).toMatchObject({ attempt: 0, replicaId: null })
  expect(await busy.status()).toMatchObject({ status: 'RUNNING' })
  await runner.drain()
})

test('a long stop grace also applies in a drain', async () => {
  const { q, start } = await cluster()
  const { runner, events } = await start({ Q_DRAIN_MS: '0', Q_STOP_GRACE_MS: '11000' })
  const run = await q.enqueue('deafRetry', { ms: 600_000 })
  await begun(runner, run)
  await runner.drain()
  expect(await run.status()).toMatchObject({ status: 'AVAILABLE', attempt: 0, replicaId: null })
  expect(events.at(-1)).toMatchObject({ type: 'drained' })
})

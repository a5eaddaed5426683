/** Requests reach a replica at once: work, cancels, drains. Polls and heartbeats are slow here, so only wakes can bring them. */
import { expect, onTestFinished, test } from 'vitest'
import { connect, createStore, drainReplica, enqueueTaskRuns, undrainReplica } from '@q/store'
import { cluster, eventually } from './fixture.ts'
import { holdingProxy } from './holding-proxy.ts'
import { marksFile } from './marks.ts'

/** Default preset: run heartbeats every 30 s, heartbeats of the replica every 10 s. */
const deaf = { Q_POLL_MS: '60000' }
/** Heartbeats every few minutes: only a wake can bring a request. */
const deafer = { ...deaf, Q_PRESET: 'relaxed', Q_ON_CRASH: 'fail' }

async function access(url: string) {
  const connection = connect(url, { purpose: 'control' })
  onTestFinished(() => connection.close())
  return { db: connection.db, store: createStore(connection.db) }
}

async function running(run: { status(): Promise<{ status: string }> }): Promise<void> {
  await eventually(async () => ((await run.status()).status === 'RUNNING' ? true : undefined), 'start')
}

/** It listens, and waits for work. */
async function waiting({ db }: Awaited<ReturnType<typeof access>>): Promise<void> {
  await eventually(async () => {
    const idle = await db.selectFrom('q.idle').selectAll().execute()
    const present = await db.selectFrom('q.presence').selectAll().execute()
    return idle.length > 0 && present.length > 0 ? true : undefined
  }, 'idle and listening')
}

test('a cancelled run is stopped at once, even inside a synchronous loop', async () => {
  const { q, start, url } = await cluster()
  const there = await access(url)
  await start(deafer)
  await waiting(there)
  const runs = [await q.enqueue('spins', { ms: 60_000 }), await q.enqueue('patient', { ms: 60_000 })]
  await Promise.all(runs.map(running))
  expect(await there.store.cancelTaskRuns(runs.map(({ id }) => id))).toEqual(['requested', 'requested'])
  for (const run of runs)
    await expect(run.result({ timeout: '100s' })).rejects.toMatchObject({ code: 'TASK_CANCELLED' })
})

test('a cancel during the claim of its run stops the run as soon as the response to the claim arrives', async () => {
  const { q, start, url } = await cluster()
  const there = await access(url)
  const proxy = await holdingProxy(url)
  await start(deaf, proxy.url)
  await waiting(there)
  const held = proxy.hold('held-back')
  const run = await q.enqueue('patient', { ms: 600_000, name: 'held-back' } as { ms: number })
  await held
  expect(await run.status()).toMatchObject({ status: 'RUNNING' })
  expect(await there.store.cancelTaskRuns([run.id])).toEqual(['requested'])
  await eventually(() => (proxy.hasRead('q_cancel') ? true : undefined), 'it has received the cancel request')
  proxy.release()
  await expect(run.result({ timeout: '9s' })).rejects.toMatchObject({ code: 'TASK_CANCELLED' })
})

test('a run that is cancelled while it waits here for a slot has ended at once, and never begins', async () => {
  const { q, start, url } = await cluster()
  const there = await access(url)
  const marks = marksFile()
  await start({ Q_THREADS: '1', Q_PREFETCH: '1' })
  const busy = await q.enqueue('spins', { ms: 600_000 })
  await running(busy)
  const ahead = await q.enqueue('markOnce', { file: marks.file, name: 'ahead', ms: 10 })
  await eventually(async () => ((await ahead.status()).status === 'CLAIMED' ? true : undefined), 'claimed ahead')
  expect(await there.store.cancelTaskRuns([ahead.id])).toEqual(['cancelled'])
  expect(await ahead.status()).toMatchObject({ status: 'CANCELLED', attempt: 0, result: { code: 'TASK_CANCELLED' } })
  const next = await q.enqueue('markOnce', { file: marks.file, name: 'next', ms: 10 })
  await there.store.cancelTaskRuns([busy.id])
  await next.result({ timeout: '100s' })
  expect(marks.all().map(({ name }) => name)).toEqual(['next', 'next'])
})

test('an ordered drain begins at once and keeps its deadline', async () => {
  const { q, start, url } = await cluster()
  const there = await access(url)
  const { runner, events } = await start(deafer)
  await waiting(there)
  const [again, once] = [await q.enqueue('patientRetry', { ms: 600_000 }), await q.enqueue('patient', { ms: 600_000 })]
  await Promise.all([running(again), running(once)])
  await there.store.drainReplica(runner.replicaId, { by: 'ada', deadlineMs: 500 })
  await runner.left
  expect(await again.status()).toMatchObject({ status: 'AVAILABLE', attempt: 0, replicaId: null })
  expect(await once.status()).toMatchObject({ status: 'FAILED', result: { code: 'DRAINED' } })
  expect(events.at(-1)).toMatchObject({ type: 'drained' })
  const row = await there.db.selectFrom('q.replica').selectAll().where('id', '=', runner.replicaId).executeTakeFirst()
  expect(row).toMatchObject({ draining_by: 'ada', stopped_at: expect.any(Date) })
})

test('a later order may bring the deadline forward', async () => {
  const { q, start, url } = await cluster()
  const there = await access(url)
  const { runner, events } = await start(deafer)
  await waiting(there)
  const run = await q.enqueue('patientRetry', { ms: 600_000 })
  await running(run)
  await there.store.drainReplica(runner.replicaId, { by: 'ada', deadlineMs: 3_600_000 })
  await eventually(() => events.find((event) => event.type === 'draining'), 'draining')
  await there.store.drainReplica(runner.replicaId, { by: 'bob', deadlineMs: 0 })
  await runner.left
  expect(await run.status()).toMatchObject({ status: 'AVAILABLE', attempt: 0 })
})

test('an order that is undone before the replica receives it has no effect', async () => {
  const { q, start, url } = await cluster()
  const there = await access(url)
  const { runner, events } = await start(deaf)
  await waiting(there)
  await there.db.transaction().execute(async (trx) => {
    await drainReplica(trx, runner.replicaId, { by: 'ada' })
    await undrainReplica(trx, runner.replicaId)
  })
  expect(await (await q.enqueue('echo', 'still here')).result({ timeout: '100s' })).toBe('still here')
  expect(events.map((event) => event.type)).not.toContain('draining')
})

test('a user’s own transaction wakes an idle replica when it commits', async () => {
  const { q, start, url } = await cluster()
  const there = await access(url)
  await start(deaf)
  await waiting(there)
  const lane = await there.store.internLane({ queue: 'default', task: 'echo' })
  const { id } = await there.db
    .insertInto('q.task_run')
    .values({ task: 'echo', lane, payload: JSON.stringify('manual') })
    .returning('id')
    .executeTakeFirstOrThrow()
  expect(await q.handle(id).result({ timeout: '100s' })).toBe('manual')
})

test('a user’s own transaction with a concurrency key wakes a replica, which opens the gate', async () => {
  const { q, start, url } = await cluster()
  const there = await access(url)
  await start(deaf)
  await waiting(there)
  const lane = await there.store.internLane({ queue: 'default', task: 'echo' })
  const [run] = await there.db
    .transaction()
    .execute((trx) =>
      enqueueTaskRuns(trx, [{ task: 'echo', lane, payload: 'keyed', concurrency: { scope: 'echo', key: 'k' } }]),
    )
  expect(await q.handle(run!.id).result({ timeout: '4s' })).toBe('keyed')
})

test('a replica without a free slot is not marked as idle', async () => {
  const { q, start, url } = await cluster()
  const there = await access(url)
  await start({ Q_POLL_MS: '60000', Q_THREADS: '1' })
  await waiting(there)
  await running(await q.enqueue('patient', { ms: 600_000 }))
  const marked = await eventually(async () => {
    await there.store.wakeQueue('default')
    const marks = await there.db.selectFrom('q.idle').selectAll().execute()
    return marks.length === 0 ? marks : undefined
  }, 'not idle')
  expect(marked).toEqual([])
})

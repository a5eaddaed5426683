/** Drains that are ordered through the database: the last order counts, and a drain that is undone in time has no effect. */
import { expect, onTestFinished, test } from 'vitest'
import { connect, createStore, type Connection, type Store } from '@q/store'
import { exitCodeAfter } from '../src/output/report-error.ts'
import type { RunnerEvent } from '@q/runner'
import { cluster, eventually } from './fixture.ts'
import { gate } from './gate.ts'
import { holdingProxy } from './holding-proxy.ts'

/** A replica that sends a heartbeat each second and gives its runs no time after SIGTERM, and the store. */
async function scene(env: Record<string, string> = {}, through?: (url: string) => Promise<string>) {
  const { q, start, url } = await cluster()
  const replica = await start({ Q_PRESET: 'fast', Q_DRAIN_MS: '0', ...env }, await through?.(url))
  const connection: Connection = connect(url, { purpose: 'control' })
  onTestFinished(() => connection.close())
  const store: Store = createStore(connection.db)
  const id = replica.runner.replicaId
  return {
    q,
    ...replica,
    db: connection.db,
    store,
    order: (order: Omit<Parameters<Store['drainReplica']>[1], 'by'> = {}) =>
      store.drainReplica(id, { by: 'ada', ...order }),
    undo: () => store.undrainReplica(id),
    /** The code of the run has begun: RUNNING alone would let a drain release it. */
    begun: ({ id: runId }: { readonly id: string }) =>
      eventually(async () => {
        const nodes = await store.listNodes({})
        return nodes.some(({ threads }) => threads.some((thread) => thread.runId === runId)) ? true : undefined
      }, 'begin'),
    seen: <Type extends RunnerEvent['type']>(type: Type) =>
      eventually(
        () => replica.events.find((event): event is Extract<RunnerEvent, { type: Type }> => event.type === type),
        type,
      ),
  }
}

test('a drain without a deadline waits until the running runs have finished', async () => {
  const { q, begun, runner, order, seen } = await scene()
  const { file: until, open } = gate()
  const run = await q.enqueue('patient', { until })
  await begun(run)
  await order()
  expect(await seen('draining')).toMatchObject({ by: 'ada', drainMs: null, runs: [{ runId: run.id, task: 'patient' }] })
  open()
  expect(exitCodeAfter(await runner.left)).toBe(0)
  expect(await run.status()).toMatchObject({ status: 'SUCCEEDED' })
})

test('a replica whose drain is undone claims again, keeps its runs, and can be drained again', async () => {
  const { q, begun, runner, order, undo, seen, events } = await scene()
  const run = await q.enqueue('patient', { ms: 600_000 })
  await begun(run)
  await order({ deadlineMs: 3_600_000 })
  await seen('draining')
  const waiting = await q.enqueue('echo', 'waiting')
  expect(await undo()).toBe('claiming')
  await seen('drain-undone')
  expect(await waiting.result({ timeout: '100s' })).toBe('waiting')
  expect(await run.status()).toMatchObject({ status: 'RUNNING', replicaId: runner.replicaId })
  expect(await undo()).toBe('not-draining')
  await order({ deadlineMs: 0, onDeadline: 'release' })
  expect(exitCodeAfter(await runner.left)).toBe(0)
  expect(await run.status()).toMatchObject({ status: 'AVAILABLE', attempt: 0, replicaId: null })
  expect(events.at(-1)).toMatchObject({ type: 'drained' })
  expect(await undo()).toBe('not-found')
})

test('the last order counts: one without a deadline replaces one with a deadline, and is itself replaced', async () => {
  const { q, begun, runner, order, seen, events } = await scene()
  const run = await q.enqueue('patientRetry', { ms: 600_000 })
  await begun(run)
  await order({ deadlineMs: 3_600_000 })
  expect(await seen('draining')).toMatchObject({ onDeadline: 'by-task' })
  await order()
  expect(await seen('drain-changed')).toMatchObject({ by: 'ada', drainMs: null })
  expect(events.map(({ type }) => type)).not.toContain('drain-cut-short')
  await order({ deadlineMs: 0, onDeadline: 'fail' })
  expect(exitCodeAfter(await runner.left)).toBe(0)
  expect(await run.status()).toMatchObject({ status: 'FAILED', attempt: 1, result: { code: 'DRAINED' } })
})

test('SIGTERM replaces an order, and its drain cannot be undone', async () => {
  const { q, begun, runner, order, undo, seen } = await scene({ Q_DRAIN_MS: '600000' })
  const run = await q.enqueue('patientRetry', { ms: 600_000 })
  await begun(run)
  await order({ onDeadline: 'fail' })
  await seen('draining')
  const left = runner.drain()
  expect(await seen('drain-changed')).toMatchObject({ by: 'itself', onDeadline: 'by-task' })
  await eventually(async () => ((await undo()) === 'leaving' ? true : undefined), 'announced')
  void runner.drain()
  await left
  expect(await run.status()).toMatchObject({ status: 'AVAILABLE', attempt: 0, replicaId: null })
})

test('an order with a later deadline counts, although the replica has not received it yet', async () => {
  const { q, begun, order, seen, db, runner, events } = await scene({
    Q_REPLICA_BEAT_MS: '30000',
    Q_REPLICA_STALE_MS: '120000',
  })
  await begun(await q.enqueue('patient', { ms: 600_000 }))
  await order({ deadlineMs: 500 })
  await seen('draining')
  // Without a wake: only the decision at the deadline shows it.
  await db.updateTable('q.replica').set({ drain_deadline: null }).where('id', '=', runner.replicaId).execute()
  await seen('drain-changed')
  expect(events.map(({ type }) => type)).not.toContain('drain-cut-short')
})

test('a claim that was in flight when the drain began is not executed, even if the drain is undone before its response arrives', async () => {
  const proxied = Promise.withResolvers<Awaited<ReturnType<typeof holdingProxy>>>()
  const { q, begun, runner, order, undo, seen } = await scene({ Q_POLL_MS: '60000' }, async (url) => {
    const proxy = await holdingProxy(url)
    proxied.resolve(proxy)
    return proxy.url
  })
  const proxy = await proxied.promise
  await begun(await q.enqueue('patient', { ms: 600_000 }))
  const held = proxy.hold('held-back')
  const run = await q.enqueue('echo', 'held-back')
  await held
  expect(await run.status()).toMatchObject({ status: 'RUNNING', attempt: 1 })
  await order()
  await seen('runs-released')
  expect(await run.status()).toMatchObject({ status: 'AVAILABLE', attempt: 0 })
  expect(await undo()).toBe('claiming')
  await seen('drain-undone')
  proxy.release()
  expect(await run.result({ timeout: '100s' })).toBe('held-back')
  expect(await run.status()).toMatchObject({ status: 'SUCCEEDED', attempt: 1 })
  await runner.drain() // before the proxy is closed
})

test('a replica whose row is deleted while it drains keeps draining', async () => {
  const { q, begun, runner, order, seen, db, events } = await scene()
  const { file: until, open } = gate()
  await begun(await q.enqueue('patient', { until }))
  await order()
  await seen('draining')
  await db.deleteFrom('q.replica').where('id', '=', runner.replicaId).execute()
  await seen('registered-again')
  const run = await q.enqueue('echo', 'later')
  open()
  expect(exitCodeAfter(await runner.left)).toBe(0)
  expect(events.map(({ type }) => type)).not.toContain('drain-undone')
  expect(await run.status()).toMatchObject({ status: 'AVAILABLE' })
})

test('a running replica that the database declares too old drains, and its exit code is 57', async () => {
  const { q, begun, runner, db, events, seen } = await scene({ Q_DRAIN_MS: '600000' })
  const { file: until, open } = gate()
  const run = await q.enqueue('patient', { until })
  await begun(run)
  await db.updateTable('q.compatibility').set({ oldest_program: 999 }).execute()
  await seen('draining')
  open()
  expect(exitCodeAfter(await runner.left)).toBe(57)
  expect(await run.status()).toMatchObject({ status: 'SUCCEEDED' })
  expect(events.filter(({ type }) => type === 'program-too-old')).toHaveLength(1)
})

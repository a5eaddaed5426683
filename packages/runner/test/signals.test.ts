/** Signals to real processes: no run is lost, and the exit code is 0. */
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { presets } from '@q/runner'
import { connect, createStore } from '@q/store'
import { eventually } from './fixture.ts'
import { fleet, type Fleet } from './fleet.ts'
import { gate } from './gate.ts'
import { marksFile } from './marks.ts'
import { ownServer } from './own-server.ts'
import { startProcess } from './replica-process.ts'

const inOrder = { code: 0, signal: null }

/** Whether the replica has been draining for longer than that. */
async function drainsFor({ db }: Fleet, id: string, ms: number): Promise<true | undefined> {
  const { rows } = await sql`SELECT FROM q.replica
    WHERE id = ${id} AND clock_timestamp() > draining_at + ${ms} * interval '1 ms'`.execute(db)
  return rows.length > 0 ? true : undefined
}

test('SIGTERM: runs continue past the staleness threshold, no replica takes them, and others execute the waiting runs', async () => {
  const all = await fleet()
  const leaving = await all.start({ Q_THREADS: '2', Q_PREFETCH: '1', Q_DRAIN_MS: '600000' })
  const { file: until, open } = gate()
  const long = [
    await all.enqueue('markOnce', 'once', 0, { until }),
    await all.enqueue('markAgain', 'again', 0, { until }),
  ]
  await eventually(() => (all.marks.all().length === 2 ? true : undefined), 'both begin')
  const ahead = await all.enqueue('markOnce', 'ahead', 10)
  await eventually(async () => ((await all.run(ahead)).status === 'CLAIMED' ? true : undefined), 'claimed ahead')
  const other = await all.start()
  leaving.kill('SIGTERM')
  expect(await all.ended(ahead)).toMatchObject({ status: 'SUCCEEDED', replicaId: other.id, attempt: 1 })
  const { replicaStaleMs } = presets['fast']!.thresholds
  await eventually(() => drainsFor(all, leaving.id, replicaStaleMs), 'its runs outlast the threshold')
  open()
  expect(await leaving.ended).toEqual(inOrder)
  for (const id of long)
    expect(await all.run(id)).toMatchObject({ status: 'SUCCEEDED', replicaId: leaving.id, attempt: 1 })
  for (const name of ['once', 'again', 'ahead']) {
    expect(all.marks.count('began', name)).toBe(1)
    expect(all.marks.count('effect', name)).toBe(1)
  }
  expect(await all.db.selectFrom('q.recovery').selectAll().execute()).toEqual([])
})

test('a second SIGTERM: runs that may start again are released without an attempt, the rest end DRAINED', async () => {
  const all = await fleet()
  const leaving = await all.start({ Q_DRAIN_MS: '600000' })
  const [once, again] = [
    await all.enqueue('markOnce', 'once', 600_000),
    await all.enqueue('markAgain', 'again', 600_000),
  ]
  await eventually(() => (all.marks.all().length === 2 ? true : undefined), 'both begin')
  leaving.kill('SIGTERM')
  await eventually(() => leaving.lines.find(({ msg }) => msg.startsWith('draining: waiting')), 'draining')
  leaving.kill('SIGTERM')
  expect(await leaving.ended).toEqual(inOrder)
  expect(await all.run(once)).toMatchObject({ status: 'FAILED', result: { code: 'DRAINED' } })
  const given = (await all.store.getTaskRun(again))!.run
  expect(given).toMatchObject({ status: 'AVAILABLE', attempt: 0, crashCount: 0, replicaId: null })
  expect(all.marks.all().filter(({ what }) => what === 'stopped')).toHaveLength(2)
})

test('a replica that leaves a run behind, because a transaction has locked it, exits with 7', async () => {
  const all = await fleet()
  const leaving = await all.start({ Q_THREADS: '1', Q_PREFETCH: '1', Q_DRAIN_MS: '0' })
  await all.enqueue('markAgain', 'running', 600_000)
  await eventually(() => (all.marks.all().length === 1 ? true : undefined), 'it begins')
  const ahead = await all.enqueue('markOnce', 'ahead', 10)
  await eventually(async () => ((await all.run(ahead)).status === 'CLAIMED' ? true : undefined), 'claimed ahead')
  await all.db.transaction().execute(async (trx) => {
    await trx.selectFrom('q.task_run').select('id').where('id', '=', ahead).forUpdate().execute()
    leaving.kill('SIGTERM')
    expect(await leaving.ended).toEqual({ code: 7, signal: null })
  })
  expect(await all.run(ahead)).toMatchObject({ status: 'CLAIMED', replicaId: leaving.id })
  expect(await all.store.listNodes()).toMatchObject([{ id: leaving.id }])
})

test('SIGTERM while the database is unreachable: outcomes are written when it returns, then the replica leaves', async () => {
  const server = await ownServer()
  const marks = marksFile()
  const leaving = await startProcess({
    env: { DATABASE_URL: server.url, Q_PRESET: 'fast', Q_DRAIN_MS: '600000' },
  })
  const { db, close } = connect(server.url, { purpose: 'pool' })
  onTestFinished(close)
  const store = createStore(db)
  const { file: until, open } = gate()
  const [once, again] = await Promise.all(
    (['markOnce', 'markAgain'] as const).map(async (task) => {
      const lane = await store.internLane({ queue: 'default', task })
      const onCrash = task === 'markOnce' ? 'fail' : 'retry'
      const payload = { file: marks.file, name: task, ...(task === 'markOnce' ? { until } : { ms: 600_000 }) }
      return (await store.enqueueTaskRuns([{ task, lane, onCrash, payload }]))[0]!.id
    }),
  )
  await eventually(() => (marks.all().length === 2 ? true : undefined), 'both begin')
  await server.stop('SIGINT')
  leaving.kill('SIGTERM')
  await eventually(() => leaving.lines.find(({ msg }) => msg.startsWith('draining: waiting')), 'draining')
  open()
  await eventually(() => (marks.count('effect', 'markOnce') === 1 ? true : undefined), 'one ends')
  await eventually(() => (marks.count('stopped', 'markAgain') === 1 ? true : undefined), 'the other is stopped')
  await server.start()
  expect(await leaving.ended).toEqual(inOrder)
  expect(leaving.said('drained')).toHaveLength(1)
  expect((await store.getTaskRun(once!))?.run).toMatchObject({ status: 'SUCCEEDED', attempt: 1 })
  const given = (await store.getTaskRun(again!))?.run
  expect(given).toMatchObject({ status: 'AVAILABLE', attempt: 0, crashCount: 0, replicaId: null })
  expect(await store.listNodes()).toEqual([])
})

test('a database that does not come back does not keep a replica from leaving at its deadline', async () => {
  const server = await ownServer()
  const leaving = await startProcess({ env: { DATABASE_URL: server.url, Q_PRESET: 'fast', Q_DRAIN_MS: '100' } })
  await server.stop('SIGINT')
  leaving.kill('SIGTERM')
  expect(await leaving.ended).toEqual(inOrder)
})

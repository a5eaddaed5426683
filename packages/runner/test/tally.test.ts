/** What replicas counted, against what they executed. */
import { sql, type Kysely } from 'kysely'
import type { DB } from '@q/schema'
import { connect, createStore } from '@q/store'
import { expect, onTestFinished, test } from 'vitest'
import { execution } from './execution.ts'
import { cluster, eventually } from './fixture.ts'
import { fleet } from './fleet.ts'
import { gate } from './gate.ts'
import type * as outcomes from './tasks/outcomes.ts'

function databaseOf(url: string): Kysely<DB> {
  const { db, close } = connect(url, { purpose: 'pool' })
  onTestFinished(close)
  return db
}

interface Sums {
  readonly started: number
  readonly succeeded: number
  readonly failed: number
  readonly retried: number
  readonly crashed: number
  readonly waited: number
  readonly timed: number
}

async function sumsOf(db: Kysely<DB>): Promise<Record<string, Sums>> {
  const { rows } = await sql<Sums & { task: string }>`
    SELECT task, sum(started)::int AS started, sum(succeeded)::int AS succeeded, sum(failed)::int AS failed, sum(retried)::int AS retried,
      sum(crashed)::int AS crashed, sum((SELECT coalesce(sum(n), 0) FROM unnest(wait_histogram) n))::int AS waited,
      sum((SELECT coalesce(sum(n), 0) FROM unnest(duration_histogram) n))::int AS timed
    FROM q.run_tally GROUP BY task`.execute(db)
  return Object.fromEntries(rows.map(({ task, ...sums }) => [task, sums]))
}

const none = { started: 0, succeeded: 0, failed: 0, retried: 0, crashed: 0, waited: 0, timed: 0 }

test('after a drain the tally matches the executed runs exactly, in batches and alone', async () => {
  const { q, url, start } = await cluster()
  const db = databaseOf(url)
  const { runner } = await start({ Q_PRESET: 'fast' })
  const echoes = await q.enqueueMany(Array.from({ length: 500 }, (_, n) => ['echo', n] as const))
  const fails = await q.enqueueMany([1, 2, 3].map((n) => ['fails', n] as const))
  await Promise.all(echoes.map((run) => run.result({ timeout: '60s' })))
  await Promise.allSettled(fails.map((run) => run.result({ timeout: '60s' })))
  await runner.drain()
  expect(await sumsOf(db)).toEqual({
    echo: { ...none, started: 500, succeeded: 500, waited: 500, timed: 500 },
    fails: { ...none, started: 3, failed: 3, waited: 3, timed: 3 },
  })
  const groups = await db.selectFrom('q.error_group').selectAll().execute()
  expect(groups).toMatchObject([
    { name: 'TypeError', message: 'out of luck', seen: '3', tasks: ['fails'], versions: ['0.0.0'] },
  ])
  const attempts = await db.selectFrom('q.task_attempt').select('fingerprint').distinct().execute()
  expect(attempts).toEqual([{ fingerprint: groups[0]!.fingerprint }])
})

test('only the first start of a run counts as waiting, and each attempt that is started again as retried', async () => {
  const { q, url, runner } = await execution<typeof outcomes>('outcomes')
  const db = databaseOf(url)
  expect(await (await q.enqueue('succeedsAt', { attempt: 3 })).result({ timeout: '100s' })).toBe(3)
  await runner.drain()
  expect(await sumsOf(db)).toEqual({
    succeedsAt: { ...none, started: 3, retried: 2, succeeded: 1, waited: 1, timed: 3 },
  })
})

test('errors with the same explicit fingerprint are one group, even if their texts differ', async () => {
  const { q, url, runner } = await execution<typeof outcomes>('outcomes')
  const db = databaseOf(url)
  const runs = await q.enqueueMany([1, 2].map((n) => ['failsAlike', { n }] as const))
  await Promise.allSettled(runs.map((run) => run.result({ timeout: '100s' })))
  await runner.drain()
  expect(await db.selectFrom('q.error_group').select(['seen', 'name']).execute()).toEqual([{ seen: '2', name: 'Fail' }])
})

test('kill -9: a replica loses the counts since its last flush, and the replica that recovers its run counts the crash', async () => {
  const all = await fleet()
  const { file: until } = gate()
  const victim = await all.start()
  const id = await all.enqueue('markOnce', 'held', 0, { until })
  await eventually(async () => (all.marks.count('began', 'held') > 0 ? true : undefined), 'the run began')
  const survivor = await all.start()
  victim.kill('SIGKILL')
  await victim.ended
  // On a busy machine the victim has flushed the start of its run before.
  const { markOnce: flushed = none } = await sumsOf(all.db)
  expect(await all.ended(id)).toMatchObject({ status: 'FAILED', result: { code: 'WORKER_CRASHED' } })
  await eventually(() => (survivor.said('recovered runs').length > 0 ? true : undefined), 'it is recovered')
  survivor.kill('SIGTERM')
  await survivor.ended
  expect(await sumsOf(all.db)).toEqual({ markOnce: { ...flushed, failed: 1, crashed: 1 } })
  expect(await all.db.selectFrom('q.error_group').select(['code', 'seen']).execute()).toEqual([
    { code: 'WORKER_CRASHED', seen: '1' },
  ])
})

test('a replica executes an operation soon after it was requested', async () => {
  const { url, start, q } = await cluster()
  const db = databaseOf(url)
  const { events } = await start({ Q_PRESET: 'fast' })
  const runs = await q.enqueueMany(Array.from({ length: 20 }, (_, n) => ['fails', n] as const))
  await Promise.allSettled(runs.map((run) => run.result({ timeout: '60s' })))
  const store = createStore(db)
  const asked = await store.requestOperation({ kind: 'retry', filter: { task: 'fails' }, by: 'ada' })
  const ended = await eventually(
    () => events.find((event) => event.type === 'operation-ended'),
    'the end of the operation',
  )
  expect(ended).toMatchObject({ id: asked.id, kind: 'retry', askedBy: 'ada', changed: 20, state: 'done' })
})

test('a replica registers whether it recovers the runs of others', async () => {
  const { url, start } = await cluster()
  const db = databaseOf(url)
  await start({ Q_NAME: 'recovers' })
  await start({ Q_NAME: 'leaves', Q_AUTO_FAIL_STALE_RUNNING: 'off' })
  const rows = await db.selectFrom('q.replica').select(['name', 'recovers']).orderBy('name').execute()
  expect(rows).toEqual([
    { name: 'leaves', recovers: false },
    { name: 'recovers', recovers: true },
  ])
})

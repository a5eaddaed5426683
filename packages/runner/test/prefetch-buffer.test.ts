/** Runs that are claimed ahead, while a user's own transaction has one of them locked. */
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { connect, createStore, type Connection } from '@q/store'
import { cluster, eventually } from './fixture.ts'

function open(url: string): Connection {
  const connection = connect(url, { purpose: 'pool' })
  onTestFinished(() => connection.close())
  return connection
}

test('a prefetched run that a user has locked is retried later, and other runs take its slot', async () => {
  const { q, start, url } = await cluster()
  const { db } = open(url)
  const store = createStore(db)
  // Beats, and with them a comparison of what it holds, every second.
  const { runner, events } = await start({
    Q_PRESET: 'fast',
    Q_THREADS: '1',
    Q_PREFETCH: '1',
    Q_CLAIMER_STALE_MS: '600000',
  })
  const busy = await q.enqueue('patient', { ms: 600_000 })
  await eventually(async () => ((await busy.status()).status === 'RUNNING' ? true : undefined), 'its slot is taken')
  const ahead = await q.enqueue('echo', 'ahead')
  await eventually(async () => ((await ahead.status()).status === 'CLAIMED' ? true : undefined), 'one is claimed ahead')
  const unlock = Promise.withResolvers<void>()
  const locked = Promise.withResolvers<void>()
  const user = open(url)
    .db.transaction()
    .execute(async (trx) => {
      await sql`SELECT 1 FROM q.task_run WHERE id = ${ahead.id} FOR UPDATE`.execute(trx)
      locked.resolve()
      await unlock.promise
    })
  await locked.promise
  await store.cancelTaskRuns([busy.id])
  expect(await (await q.enqueue('echo', 'another')).result({ timeout: '100s' })).toBe('another')
  const beat = async () =>
    (await db.selectFrom('q.replica_heartbeat').select('last_heartbeat').executeTakeFirstOrThrow()).last_heartbeat
  for (let beats = 0; beats < 2; beats++) {
    const last = (await beat()).getTime()
    await eventually(async () => ((await beat()).getTime() > last ? true : undefined), 'it compares what it holds')
  }
  expect(await ahead.status()).toMatchObject({ status: 'CLAIMED', replicaId: runner.replicaId })
  unlock.resolve()
  await user
  expect(await ahead.result({ timeout: '100s' })).toBe('ahead')
  expect(await ahead.status()).toMatchObject({ attempt: 1, replicaId: runner.replicaId })
  expect(events.filter(({ type }) => type === 'runs-released')).toEqual([])
  const kinds = await db.selectFrom('q.task_event').select('kind').where('run_id', '=', ahead.id).execute()
  expect(kinds).toEqual([])
})

/** Behind pgbouncer in transaction mode there are no sessions. Skipped, and seen to be, where pgbouncer is not installed. */
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { openSession } from '../../store/src/connection/open-session.ts'
import { keepsSession } from '../../store/src/connection/detect-pooler.ts'
import { eventually } from './fixture.ts'
import { markedRuns } from './marked-runs.ts'
import { poolerIsInstalled, startPooler } from './pooler.ts'
import { startProcess } from './replica-process.ts'

const announced =
  'a pooler lends connections per transaction: no presence and no wakes, and only heartbeats show that a replica is dead. Set DATABASE_URL_DIRECT'

async function pooled(mode?: 'session') {
  const runs = await markedRuns()
  return { ...runs, pooler: await startPooler(runs.url, mode) }
}

/** Presence locks of all replicas in this database. */
async function locks(db: Awaited<ReturnType<typeof pooled>>['db']): Promise<number> {
  const { rows } = await sql<{
    count: number
  }>`SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2
    AND classid = ${0x71_70_72_65}::oid AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`.execute(
    db,
  )
  return rows[0]!.count
}

test.skipIf(!poolerIsInstalled)(
  'a transaction pooler is detected even if it keeps returning the same backend',
  async () => {
    const { pooler } = await pooled()
    const open = async () => {
      const session = await openSession(pooler, 'probe', { onLost: () => {} })
      onTestFinished(session.close)
      return session
    }
    const session = await open()
    const others = [await open(), await open(), await open(), await open(), await open()]
    const ask: typeof session.query = async (text, values) => {
      const rows = await session.query(text, values)
      // Others use ours and four more just now, and ours is what was used longest ago.
      if (text.includes('set_config'))
        for (const words of ['BEGIN', 'ROLLBACK']) for (const other of others) await other.query(words)
      return rows as never
    }
    expect(await keepsSession({ ...session, query: ask }, pooler)).toBe(false)
  },
)

test.skipIf(!poolerIsInstalled)(
  'behind a transaction pooler a replica reports it, takes no session lock, and works by heartbeats and polls',
  async () => {
    const { pooler, db, marks, enqueue, ended } = await pooled()
    const env = { DATABASE_URL: pooler, Q_PRESET: 'fast' }
    const replicas = [await startProcess({ env }), await startProcess({ env })]
    for (const replica of replicas)
      await eventually(() => (replica.said(announced).length === 1 ? true : undefined), 'it reports the pooler')
    expect(await locks(db)).toBe(0)
    expect(await db.selectFrom('q.presence').selectAll().execute()).toEqual([])
    const ids = await Promise.all(
      (['markOnce', 'markAgain', 'markOnce', 'markAgain'] as const).map((task, index) =>
        enqueue(task, `${index}`, { ms: 3_000 }),
      ),
    )
    await eventually(() => (marks.all().length === 4 ? true : undefined), 'all begin')
    const [victim, survivor] = replicas
    victim!.kill('SIGKILL')
    const begun = marks.all()
    for (const [index, run] of (await Promise.all(ids.map(ended))).entries()) {
      const crashed = begun.find(({ name }) => name === `${index}`)!.pid === victim!.pid
      expect(run).toMatchObject(
        crashed && index % 2 === 0
          ? { status: 'FAILED', result: { code: 'WORKER_CRASHED' } }
          : { status: 'SUCCEEDED', replicaId: survivor!.id },
      )
    }
    survivor!.kill('SIGTERM')
    expect(await survivor!.ended).toEqual({ code: 0, signal: null })
  },
)

test.skipIf(!poolerIsInstalled)('with DATABASE_URL_DIRECT a replica is present and receives wakes', async () => {
  const { pooler, url, db, store, enqueue, ended } = await pooled()
  const replica = await startProcess({
    env: { DATABASE_URL: pooler, DATABASE_URL_DIRECT: url, Q_POLL_MS: '60000' },
  })
  await eventually(
    async () => ((await db.selectFrom('q.presence').selectAll().execute()).length === 1 ? true : undefined),
    'present',
  )
  expect(await locks(db)).toBe(1)
  const id = await enqueue('markOnce', 'woken', { ms: 10 })
  await store.wakeQueue('default')
  expect(await ended(id)).toMatchObject({ status: 'SUCCEEDED', result: replica.pid })
  expect(replica.said(announced)).toEqual([])
})

test.skipIf(!poolerIsInstalled)(
  'behind a pooler that keeps sessions a replica is present, and its death is noticed',
  async () => {
    const { pooler, db, enqueue, ended, marks } = await pooled('session')
    // With the thresholds of the default preset, only its session can show that it is dead.
    const env = { DATABASE_URL: pooler }
    const replica = await startProcess({ env })
    await eventually(async () => ((await locks(db)) === 1 ? true : undefined), 'it has its lock')
    expect(replica.said(announced)).toEqual([])
    const id = await enqueue('markOnce', 'held', { ms: 600_000 })
    await eventually(() => (marks.count('began', 'held') === 1 ? true : undefined), 'it begins')
    await startProcess({ env })
    replica.kill('SIGKILL')
    expect(await ended(id)).toMatchObject({ status: 'FAILED', result: { code: 'WORKER_CRASHED' } })
    const [recovery] = await db.selectFrom('q.recovery').selectAll().execute()
    expect(recovery).toMatchObject({ cause: 'presence' })
  },
)

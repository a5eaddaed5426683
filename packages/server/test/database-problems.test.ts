/** Each problem of the database has a status, a reason and a fix of its own; only a lost connection means that there is no database. */
import { sql } from 'kysely'
import { afterAll, afterEach, expect, onTestFinished, test } from 'vitest'
import { openEvents, type Frame } from '@q/server/client'
import { problemOf } from '../src/http/problem-of.ts'
import { serverScene } from './scene.ts'
import { registration } from './seed.ts'

const scene = await serverScene()
afterAll(() => scene.close())
afterEach(() => void (scene.faults.length = 0))
const { ask, db, tokens, base } = scene

/** Replaces a table by a view that takes longer to read than a page may wait. */
async function slow(): Promise<void> {
  await sql`ALTER TABLE q.action RENAME TO action_table`.execute(db)
  await sql`CREATE VIEW q.action AS SELECT a.* FROM pg_sleep(60) LEFT JOIN q.action_table a ON true`.execute(db)
  onTestFinished(async () => {
    await sql`DROP VIEW q.action`.execute(db)
    await sql`ALTER TABLE q.action_table RENAME TO action`.execute(db)
  })
}

test('a read that takes too long is ended by the database, and answered with 504', async () => {
  await slow()
  const answer = await ask('GET', '/api/actions', { token: tokens.read })
  expect(answer).toMatchObject({
    status: 504,
    data: {
      code: 'DATABASE_TIMEOUT',
      title: expect.stringContaining('took too long'),
      why: expect.stringContaining('statement timeout'),
      fix: expect.stringContaining('pg_stat_activity'),
    },
  })
  expect(answer.headers.get('Retry-After')).toBe('2')
  expect(await ask('GET', '/api/tasks', { token: tokens.read })).toMatchObject({ status: 200 })
})

test('a read that waits for a lock is answered with 503 and the lock as reason', async () => {
  const locked = Promise.withResolvers<void>()
  const done = Promise.withResolvers<void>()
  const holding = db.transaction().execute(async (tx) => {
    await sql`LOCK TABLE q.schedule IN ACCESS EXCLUSIVE MODE`.execute(tx)
    locked.resolve()
    await done.promise
  })
  await locked.promise
  try {
    expect(await ask('GET', '/api/schedules', { token: tokens.read })).toMatchObject({
      status: 503,
      data: { code: 'DATABASE_LOCKED', why: expect.stringContaining('another session'), fix: expect.any(String) },
    })
  } finally {
    done.resolve()
    await holding
  }
})

test.each(['40001', '40P01'])(
  'an action that loses against another transaction (%s) is answered with 409',
  async (state) => {
    await sql`CREATE FUNCTION q.refuse() RETURNS trigger LANGUAGE plpgsql AS ${sql.lit(
      `BEGIN RAISE EXCEPTION 'lost' USING ERRCODE = '${state}'; END`,
    )}`.execute(db)
    await sql`CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON q.queue FOR EACH ROW EXECUTE FUNCTION q.refuse()`.execute(
      db,
    )
    onTestFinished(async () => void (await sql`DROP FUNCTION q.refuse CASCADE`.execute(db)))
    const answer = await ask('PUT', '/api/queues/default/pause', { token: tokens.admin, body: { reason: 'no' } })
    expect(answer).toMatchObject({ status: 409, data: { code: 'DATABASE_CONFLICT', fix: 'Try again.' } })
    expect(answer.headers.get('Retry-After')).toBe('2')
  },
)

test.each([
  ['ECONNREFUSED', 503, 'DATABASE_UNREACHABLE'],
  ['57P01', 503, 'DATABASE_CONNECTION_LOST'],
  ['57P03', 503, 'DATABASE_STARTING'],
  ['53300', 503, 'DATABASE_FULL'],
  ['42P01', 503, 'SCHEMA_BEHIND'],
  ['25006', 503, 'DATABASE_READ_ONLY'],
  ['55P03', 503, 'DATABASE_LOCKED'],
  ['57014', 504, 'DATABASE_TIMEOUT'],
  ['40001', 409, 'DATABASE_CONFLICT'],
  ['22012', 500, 'INTERNAL_ERROR'],
])('%s is answered with %i %s', async (code, status, explained) => {
  const { problem } = await problemOf(Object.assign(new Error('x'), { code }), 'postgresql://localhost/x')
  expect(problem).toMatchObject({ status, code: explained })
})

test('something that is not PostgreSQL is a problem of the server, not of the request', async () => {
  const error = Object.assign(new Error('x'), { code: 'NOT_POSTGRESQL', why: 'y', fix: 'z' })
  expect((await problemOf(error, '')).problem).toMatchObject({ status: 503, code: 'NOT_POSTGRESQL' })
})

test('a topic that cannot be read says so for itself, and no other topic becomes old', async () => {
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  const seen: Frame[] = []
  const headers = () => ({ Authorization: `Bearer ${tokens.read}` })
  const query = { topics: ['nodes' as const, 'queues' as const] }
  void (async () => {
    for await (const frame of openEvents({ base, headers, query, signal: stop.signal })) seen.push(frame)
  })().catch(() => {})
  const of = (event: string) => seen.filter((frame) => frame.event === event)
  await expect.poll(() => [of('nodes').length, of('queues').length]).toEqual([1, 1])
  await sql`ALTER TABLE q.queue_sample RENAME TO away`.execute(db)
  await expect
    .poll(() => of('old').map(({ data }) => data))
    .toMatchObject([{ topic: 'queues', id: null, code: 'SCHEMA_BEHIND' }])
  await scene.store.registerReplica(registration('new'))
  await expect.poll(() => of('nodes').length).toBe(2)
  await sql`ALTER TABLE q.away RENAME TO queue_sample`.execute(db)
  await expect.poll(() => of('queues').length).toBe(2)
  expect(of('old')).toHaveLength(1)
})

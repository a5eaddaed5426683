/** Errors of the database reach the caller with code, what, why and fix; and a failed enqueue stays failed. */
import { Client, Pool } from 'pg'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { queue, type AnyTasks, type Queue } from '@q/client'
import { isExplained } from '@q/schema'
import { connect } from '@q/store'
import { testDatabase } from '@q/testing'
import { breakingProxy } from './breaking-proxy.ts'
import { fixture, ownPool } from './fixture.ts'
import type * as tasks from './tasks.ts'

const { url, runs, settle } = await fixture()
const empty = await testDatabase({ migrated: false })
await ownerQuery(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = NEW.task; END $$;
  CREATE TRIGGER refuse BEFORE INSERT ON q.task_run FOR EACH ROW
    WHEN (NEW.task ~ '^[0-9A-Z]{5}$') EXECUTE FUNCTION refuse()`)
afterAll(() => empty.drop())
const secret = 'hunter2-secret'

type Verb = (q: Queue<typeof tasks>) => Promise<unknown>

const verbs: Readonly<Record<string, Verb>> = {
  enqueue: (q) => q.enqueue('hello', { name: 'x' }),
  enqueueMany: (q) => q.enqueueMany([['hello', { name: 'x' }]]),
  get: (q) => q.get('1'),
  list: (q) => q.list(),
  cancel: (q) => q.cancel('1'),
  schedules: (q) => q.schedules(),
  status: (q) => q.handle('1').status(),
}

async function problemOf(database: string | Pool | Client, verb: Verb) {
  const q = queue<typeof tasks>(database)
  onTestFinished(() => q.close())
  const error: unknown = await verb(q).catch((reason: unknown) => reason)
  if (!isExplained(error)) throw new Error(`not explained: ${String(error)}`)
  expect([error.message, error.why, error.fix].join(' ')).not.toContain(secret)
  expect(error.cause).toBeInstanceOf(Error)
  return error
}

function changed(change: (parts: URL) => void, of = url): string {
  const parts = new URL(of)
  change(parts)
  return parts.href
}

async function login(name: string): Promise<string> {
  const role = `${name}_${new URL(url).pathname.slice(1)}`
  await ownerQuery(`CREATE ROLE "${role}" LOGIN PASSWORD '${secret}'`)
  onTestFinished(() => ownerQuery(`DROP ROLE "${role}"`))
  return changed((parts) => {
    parts.username = role
    parts.password = secret
  })
}

async function ownerQuery(text: string): Promise<void> {
  const owner = await client()
  await owner.query(text)
  await owner.end()
}

async function client(of = url): Promise<Client> {
  const own = new Client({ connectionString: of })
  await own.connect()
  return own
}

test.each(Object.entries(verbs))('%s in a database without schema q asks for q migrate', async (_, verb) => {
  expect(await problemOf(empty.url, verb)).toMatchObject({
    code: 'SCHEMA_BEHIND',
    fix: expect.stringContaining('q migrate'),
  })
})

test('waiting for a run in a database without schema q rejects at once', async () => {
  expect(await problemOf(empty.url, (q) => q.handle('1').result())).toMatchObject({ code: 'SCHEMA_BEHIND' })
})

test('a pool, a client and a transaction of the caller get the same explanation as a URL', async () => {
  const [pool, own] = [ownPool(empty.url, 1), await client(empty.url)]
  onTestFinished(async () => void (await Promise.all([pool.end(), own.end()])))
  const missing = { code: 'SCHEMA_BEHIND' }
  expect(await problemOf(pool, verbs['enqueue']!)).toMatchObject(missing)
  expect(await problemOf(own, verbs['enqueue']!)).toMatchObject(missing)
  await own.query('BEGIN')
  expect(await problemOf(pool, (q) => q.enqueue('hello', { name: 'x' }, { tx: own }))).toMatchObject(missing)
})

test('a server that does not answer is unreachable, named by host, port and database', async () => {
  const proxy = await breakingProxy(url)
  proxy.close()
  expect(await problemOf(proxy.url, verbs['enqueue']!)).toMatchObject({
    code: 'DATABASE_UNREACHABLE',
    message: expect.stringContaining(new URL(proxy.url).port),
  })
  const { username: user, password, port } = new URL(proxy.url)
  const pool = new Pool({ host: '127.0.0.1', port: Number(port), user, password, database: 'd' }).on('error', () => {})
  onTestFinished(() => pool.end())
  expect(await problemOf(pool, verbs['enqueue']!)).toMatchObject({
    code: 'DATABASE_UNREACHABLE',
    message: expect.stringContaining(`127.0.0.1:${port}/d`),
  })
})

test('a wrong password and a missing privilege are reported as such', async () => {
  const wrong = changed((parts) => {
    parts.password = secret
  })
  expect(await problemOf(wrong, verbs['enqueue']!)).toMatchObject({ code: 'DATABASE_LOGIN_REFUSED' })
  expect(await problemOf(await login('weak'), verbs['enqueue']!)).toMatchObject({ code: 'DATABASE_RIGHTS_MISSING' })
})

test.each([
  ['53100', 'DATABASE_DISK_FULL'],
  ['40P01', 'DATABASE_CONFLICT'],
  ['57014', 'DATABASE_TIMEOUT'],
  ['P0001', 'DATABASE_ERROR'],
])('SQLSTATE %s is explained as %s', async (state, code) => {
  const error = await problemOf(url, (q) => (q as unknown as Queue<AnyTasks>).enqueue(state, {}))
  expect(error).toMatchObject({ code, cause: { code: state } })
})

test('inside a transaction of the caller a conflict keeps its SQLSTATE, so that the caller can retry', async () => {
  const own = await client()
  onTestFinished(() => own.end())
  const q = queue(url)
  onTestFinished(() => q.close())
  await own.query('BEGIN')
  await expect(q.enqueue('40P01', {}, { tx: own })).rejects.toMatchObject({ code: '40P01' })
  await own.query('ROLLBACK; BEGIN')
  await expect(q.enqueue('53100', {}, { tx: own })).rejects.toMatchObject({ code: 'DATABASE_DISK_FULL' })
})

test('an enqueue that waits too long behind an open transaction with its unique key fails, and inserts nothing later', async () => {
  const other = await client()
  onTestFinished(() => other.end())
  // The wait for the lock ends before the statement, by a fifth of this.
  const own = connect(url, { purpose: 'pool', statementMsMax: 3_000 })
  onTestFinished(() => own.close())
  const q = queue<typeof tasks>(own, { tasks: await import('./tasks.ts') })
  await other.query('BEGIN')
  await q.enqueue('once', { key: 'held' }, { tx: other })
  await expect(q.enqueue('once', { key: 'held' })).rejects.toMatchObject({
    code: 'DATABASE_LOCKED',
    why: expect.stringContaining('unique key'),
    fix: expect.stringContaining('pg_stat_activity'),
  })
  const before = await runs()
  await other.query('ROLLBACK')
  // If the statement were still at the server, it would insert before this one can.
  expect((await q.enqueue('once', { key: 'held' })).duplicate).toBe(false)
  expect(await runs()).toBe(before + 1)
  await settle({ status: 'SUCCEEDED', result: '1' })
})

test('a wait whose connection breaks right after it opened continues, and gets its result', async () => {
  const proxy = await breakingProxy(url)
  const q = queue<typeof tasks>(proxy.url)
  onTestFinished(() => q.close())
  const run = await q.enqueue('hello', { name: 'x' })
  proxy.breakAt('awaited')
  const result = run.result({ timeout: '100s' })
  await proxy.broken
  await settle({ status: 'SUCCEEDED', result: '"done"' })
  expect(await result).toBe('done')
})

test('the error of a wait that ends while the database is unreachable says so', async () => {
  const proxy = await breakingProxy(url)
  const q = queue<typeof tasks>(proxy.url)
  onTestFinished(() => q.close())
  const run = await q.enqueue('hello', { name: 'x' }, { delay: '1h' })
  proxy.close()
  let error: unknown
  for (let waits = 0; waits < 100 && Object(error).cause === undefined; waits++) {
    error = await run.result({ timeout: '50ms' }).catch((reason: unknown) => reason)
  }
  expect(error).toMatchObject({ code: 'WAIT_TIMED_OUT', why: expect.stringContaining('did not answer') })
})

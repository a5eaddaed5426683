/**
 * Findings of `q doctor` about a server, caused on a server of its own: its settings, connections, roles, standby, and what
 * holds a snapshot. Sessions whose search path has another clock or version before those of the server see these.
 */
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { startEmbedded, type EmbeddedServer } from '@q/embedded'
import { migrateDatabase } from '@q/store'
import { Client } from 'pg'
import { standbyLink } from '../../store/test/standby-link.ts'
import type { CheckResult, Surroundings } from '../src/doctor/check.ts'
import { checks } from '../src/doctor/checks.ts'
import { scratch } from './program.ts'
import { q, qJson } from './terminal.ts'

const dataDir = await scratch('q-doctor-', afterAll)
const server = await configuredServer()
const { url } = server
const client = new Client({ connectionString: url })
await client.connect()
await client.query(`CREATE SCHEMA ahead`)
await client.query(`CREATE FUNCTION ahead.clock_timestamp() RETURNS timestamptz LANGUAGE sql
  AS $$SELECT pg_catalog.clock_timestamp() + interval '65 minutes'$$`)
afterAll(async () => {
  await client.end()
  await server.close()
})

/** The settings hold from the second start on. Of 200 connections 180 are reserved, so 20 remain for every user. */
async function configuredServer(): Promise<EmbeddedServer> {
  const first = await startEmbedded({ dataDir })
  await migrateDatabase(first.url)
  const setting = new Client({ connectionString: first.url })
  await setting.connect()
  await setting.query('ALTER SYSTEM SET max_prepared_transactions = 2')
  await setting.query('ALTER SYSTEM SET superuser_reserved_connections = 180')
  await setting.query('ALTER SYSTEM SET autovacuum = off')
  await setting.end()
  await first.close()
  return startEmbedded({ dataDir })
}

/** `options`: settings of the sessions of the command. */
async function finding(id: string, options = '', env: NodeJS.ProcessEnv = {}): Promise<CheckResult> {
  const own = new URL(url)
  if (options !== '') own.searchParams.set('options', options)
  const { json } = await qJson(['doctor', '--only', id], { DATABASE_URL: own.href, ...env })
  return (json as { checks: readonly CheckResult[] }).checks[0]!
}

const hourAhead = '-c search_path=ahead,pg_catalog,public'

async function session(): Promise<Client> {
  const own = new Client({ connectionString: url, application_name: 'report' })
  await own.connect()
  onTestFinished(() => own.end())
  return own
}

test('vacuum.held-xmin: a session that holds a snapshot is named after ten minutes, with what ends it', async () => {
  const holder = await session()
  await holder.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
  const { rows } = await holder.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  expect(await finding('vacuum.held-xmin')).toMatchObject({ level: 'ok' })
  expect(await finding('vacuum.held-xmin', hourAhead)).toMatchObject({
    level: 'fail',
    what: expect.stringMatching(
      /^pid \d+ \(report, q, idle in transaction\) holds a snapshot for 6\d min: SELECT/,
    ) as string,
    fix: `SELECT pg_terminate_backend(${rows[0]?.pid});`,
  })
  const own = new URL(url)
  own.searchParams.set('options', hourAhead)
  const { stdout } = await q(['status'], { DATABASE_URL: own.href })
  expect(stdout).toMatch(/A transaction has held a snapshot for 6\d min \(report, pid \d+, q\)/)
})

test('vacuum.held-xmin: a forgotten prepared transaction is named with what ends it', async () => {
  const holder = await session()
  await holder.query('BEGIN')
  await holder.query('CREATE TABLE public.forgotten ()')
  await holder.query(`PREPARE TRANSACTION 'transfer 7'`)
  onTestFinished(async () => void (await client.query(`ROLLBACK PREPARED 'transfer 7'`)))
  expect(await finding('vacuum.held-xmin', hourAhead)).toMatchObject({
    level: 'fail',
    what: expect.stringMatching(/^Prepared transaction transfer 7 \(q\) holds a snapshot for 6\d min\.$/) as string,
    fix: `ROLLBACK PREPARED 'transfer 7';`,
  })
})

test('vacuum.held-xmin, server.durability: a standby that is gone leaves its slot, and streams asynchronously before', async () => {
  const { rows } = await client.query<{ xid: string }>('SELECT pg_current_xact_id()::text AS xid')
  const link = await standbyLink(url, 'standby_1', Number(rows[0]?.xid))
  onTestFinished(async () => void (await client.query(`SELECT pg_drop_replication_slot('standby_1')`)))
  expect(await finding('server.durability')).toMatchObject({ level: 'note', what: '1 standby streams asynchronously.' })
  expect(await finding('vacuum.held-xmin')).toMatchObject({ level: 'ok' })
  await link.close()
  await expect
    .poll(() => finding('vacuum.held-xmin'))
    .toMatchObject({
      what: expect.stringMatching(/^Replication slot standby_1 \(inactive\) holds a snapshot for \d+ transactions\.$/),
      fix: expect.stringContaining(`SELECT pg_drop_replication_slot('standby_1');`),
    })
})

test('liveness.clock: a clock that differs by more than seconds is a warning', async () => {
  expect(await finding('liveness.clock')).toMatchObject({ level: 'ok' })
  expect(await finding('liveness.clock', hourAhead)).toMatchObject({
    level: 'warn',
    what: expect.stringMatching(/^The clock of the server is 6\d min ahead of the clock here\.$/) as string,
    fix: 'Synchronise the clocks (NTP).',
  })
})

test('server.version: a server that is too old is a failure, also if it lacks settings of newer ones', async () => {
  await client.query('CREATE SCHEMA earlier')
  await client.query(`CREATE FUNCTION earlier.current_setting(name text, missing_ok boolean DEFAULT false) RETURNS text
    LANGUAGE plpgsql AS $$BEGIN
      IF name = 'server_version_num' THEN RETURN '130023'; END IF;
      IF name <> 'idle_session_timeout' THEN RETURN pg_catalog.current_setting(name, missing_ok); END IF;
      RETURN pg_catalog.current_setting('unknown.parameter', missing_ok);
    END$$`)
  const earlier = '-c search_path=earlier,pg_catalog,public'
  expect(await finding('server.version', earlier)).toMatchObject({
    level: 'fail',
    fix: 'Upgrade the server, or use another one.',
  })
})

test('vacuum.autovacuum: a server without autovacuum is a failure', async () => {
  expect(await finding('vacuum.autovacuum')).toMatchObject({ level: 'fail', what: 'autovacuum is off.' })
})

test('server.durability: commits that a crash may lose are a warning', async () => {
  expect(await finding('server.durability', '-c synchronous_commit=off')).toMatchObject({
    level: 'warn',
    fix: expect.stringContaining('synchronous_commit = on') as string,
  })
})

test('server.durability: the fix undoes the setting where it was made', async () => {
  const own = new URL(url)
  const database = own.pathname.slice(1)
  const fixOf = async (...statements: string[]) => {
    for (const statement of statements) await client.query(statement)
    return (await finding('server.durability')).fix
  }
  const off = 'SET synchronous_commit = off'
  expect(await fixOf(`ALTER DATABASE "${database}" ${off}`)).toContain(
    `ALTER DATABASE "${database}" RESET synchronous_commit;`,
  )
  const undo = `ALTER DATABASE "${database}" RESET synchronous_commit`
  expect(await fixOf(undo, `ALTER ROLE "${own.username}" ${off}`)).toContain(
    `ALTER ROLE "${own.username}" RESET synchronous_commit;`,
  )
  await client.query(`ALTER ROLE "${own.username}" RESET synchronous_commit`)
  expect(await finding('server.durability')).toMatchObject({ level: 'ok' })
})

test.each([
  ['configuration file', 'ALTER SYSTEM SET full_page_writes = on; SELECT pg_reload_conf(); '],
  ['command line', 'Remove full_page_writes=off from the options with which the server is started, and restart'],
])('server.durability: full_page_writes from the %s has its own fix', async (source, fix) => {
  const facts = { settings: { full_page_writes: 'off' }, sources: { full_page_writes: source }, standbys: { all: 0 } }
  const check = checks.find(({ id }) => id === 'server.durability')!
  const outcome = await check.look({ server: () => Promise.resolve(facts) } as unknown as Surroundings)
  expect(outcome).toMatchObject({ level: 'fail', fix: expect.stringContaining(fix) as string })
})

test('vacuum.xid-age: a transaction id that autovacuum should have frozen is a warning, and near the end a failure', async () => {
  expect(await finding('vacuum.xid-age')).toMatchObject({ level: 'ok' })
  for (const [age, level] of [
    [500_000_000, 'warn'],
    [1_700_000_000, 'fail'],
  ] as const) {
    await client.query('CREATE SCHEMA IF NOT EXISTS old')
    await client.query(`CREATE OR REPLACE FUNCTION old.age(xid) RETURNS integer LANGUAGE sql AS 'SELECT ${age}'`)
    expect(await finding('vacuum.xid-age', '-c search_path=old,pg_catalog,public')).toMatchObject({
      level,
      what: expect.stringMatching(
        /^The oldest transaction id, in database .*, is [\d ]+ ids old; .* at 200 000 000\.$/,
      ) as string,
      fix: expect.stringContaining('vacuumdb --freeze') as string,
    })
  }
})

test('without pg_read_all_stats the checks say what the login cannot see, and how to grant it', async () => {
  await client.query(`CREATE ROLE plain LOGIN PASSWORD 'p'`)
  await client.query('GRANT USAGE ON SCHEMA q TO plain')
  await client.query('GRANT SELECT ON ALL TABLES IN SCHEMA q TO plain')
  const own = new URL(url)
  own.username = 'plain'
  own.password = 'p'
  const env = { DATABASE_URL: own.href }
  expect(await finding('vacuum.held-xmin', '', env)).toMatchObject({
    level: 'note',
    what: 'plain cannot see which snapshots the sessions of other users hold.',
    fix: 'GRANT pg_read_all_stats TO "plain";  as a superuser',
  })
  const used = async () => Number(/^(\d+) of/.exec((await finding('server.connections', '', env)).what)?.[1])
  for (let opened = 0; opened < 3; opened++) await session()
  // Those of another user are among them.
  await expect.poll(used).toBeGreaterThanOrEqual(4)
  await client.query('GRANT pg_read_all_stats TO plain')
  expect(await finding('vacuum.held-xmin', '', env)).toMatchObject({ level: 'ok' })
})

test('server.connections: too few free connections are a warning, nearly none a failure', async () => {
  for (let opened = 0; opened < 4; opened++) await session()
  expect(await finding('server.connections')).toMatchObject({
    level: 'warn',
    what: expect.stringMatching(/of 20 conn/),
  })
  for (let opened = 0; opened < 12; opened++) await session()
  expect(await finding('server.connections')).toMatchObject({ level: 'fail' })
})

test('schema.rights: a login that may not read, one that may not write, and roles of an earlier release', async () => {
  await client.query(`CREATE ROLE nobody_yet LOGIN PASSWORD 'p'`)
  const own = new URL(url)
  own.username = 'nobody_yet'
  own.password = 'p'
  const rights = () => finding('schema.rights', '', { DATABASE_URL: own.href })
  expect(await rights()).toMatchObject({ level: 'warn', fix: expect.stringMatching(/^GRANT q_reader TO nobody_yet/) })
  await client.query('GRANT USAGE ON SCHEMA q TO nobody_yet')
  await client.query('GRANT SELECT ON ALL TABLES IN SCHEMA q TO nobody_yet')
  expect(await rights()).toMatchObject({ level: 'note', fix: 'GRANT q_admin TO nobody_yet;' })
  await client.query('CREATE ROLE q_reader')
  await client.query('GRANT USAGE ON SCHEMA q TO q_reader')
  expect(await rights()).toMatchObject({ level: 'fail', what: expect.stringMatching(/^Role q_reader cannot read/) })
  await client.query('GRANT SELECT ON ALL TABLES IN SCHEMA q TO q_reader')
})

test('schema.migrations: a newer database and nodes of an older release are notes', async () => {
  await client.query(`INSERT INTO q.migration (name, timestamp) VALUES ('9999-later', 'now')`)
  expect(await finding('schema.migrations')).toMatchObject({ level: 'note', fix: 'Upgrade this program.' })
  await client.query(`DELETE FROM q.migration WHERE name = '9999-later'`)
})

test('schema.drift: an index of your own is a note', async () => {
  await client.query('CREATE INDEX mine ON q.task_run (created_at)')
  onTestFinished(async () => void (await client.query('DROP INDEX q.mine')))
  expect(await finding('schema.drift')).toMatchObject({ level: 'note', what: expect.stringContaining('task_run.mine') })
})

test('liveness.nodes: without a live node nothing is executed; here.database: the embedded server is named', async () => {
  expect(await finding('liveness.nodes')).toMatchObject({ level: 'warn', fix: 'q start' })
  const { json } = await qJson(['doctor', '--only', 'here.database'], { Q_DATA_DIR: dataDir })
  expect(json).toMatchObject({ checks: [{ level: 'note', fix: 'Set DATABASE_URL to share a database.' }] })
})

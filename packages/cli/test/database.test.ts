import { readdir } from 'node:fs/promises'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { testDatabase, type TestDatabaseOptions } from '@q/testing'
import { connect, createStore } from '@q/store'
import { runQ, scratch, startMain, startReplica } from './program.ts'

const secret = 'hunter2-secret'

async function database(options?: TestDatabaseOptions) {
  const { url, drop } = await testDatabase(options)
  onTestFinished(drop)
  return { DATABASE_URL: url }
}

test.each([
  ['status', 3, 'DATABASE_UNREACHABLE', `postgresql://u:${secret}@no-such-host.invalid/db`],
  ['status', 3, 'DATABASE_UNREACHABLE', `postgresql://u:${secret}@127.0.0.1:9/db`],
  ['status', 2, 'DATABASE_URL_INVALID', `mysql://u:${secret}@127.0.0.1/db`],
  ['status', 2, 'DATABASE_URL_INVALID', `//u:${secret}@127.0.0.1/db`],
])('q %s exits with %d and %s', async (command, code, problem, DATABASE_URL) => {
  const ended = await runQ([command], { DATABASE_URL })
  expect(ended).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(problem) })
  expect(ended.stderr).toMatch(/why .*\n {2}fix /)
  expect(ended.stderr).not.toContain(secret)
  const start = await startMain({ DATABASE_URL, Q_DATABASE_WAIT_MS: '0' }).ended
  expect(start.code).toBe(code)
  expect(start.stderr).not.toContain(secret)
})

test('an empty DATABASE_URL is refused: no embedded database is started in its place', async () => {
  const env = { DATABASE_URL: '', Q_DATA_DIR: await scratch('q-empty-url-') }
  for (const ended of [await runQ(['status'], env), await startMain(env).ended])
    expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining('DATABASE_URL_INVALID') })
  expect(await readdir(env.Q_DATA_DIR)).toEqual([])
})

test('q migrate brings an empty database up to date, and then has nothing to do', async () => {
  const env = await database({ migrated: false })
  expect(await runQ(['status'], env)).toMatchObject({ code: 2, stderr: expect.stringContaining('SCHEMA_BEHIND') })
  const first = await runQ(['migrate', '--json'], env)
  expect(JSON.parse(first.stdout).applied).toContain('0001-task-runs')
  expect(JSON.parse((await runQ(['migrate', '--json'], env)).stdout)).toEqual({ applied: [] })
  expect(await runQ(['status'], env)).toMatchObject({ code: 0 })
})

test('q migrate --sql prints the pending script and changes nothing', async () => {
  const env = await database({ migrated: false })
  const script = await runQ(['migrate', '--sql'], env)
  expect(script).toMatchObject({ code: 0, stdout: expect.stringContaining('CREATE TABLE q.task_run') })
  expect(await runQ(['status'], env)).toMatchObject({ code: 2 })
})

test('q migrate names live replicas of older releases, and refuses to migrate beside them without --yes', async () => {
  const env = await database({ upTo: '0007-enqueue-function' })
  const { db, close } = connect(env.DATABASE_URL, { purpose: 'control' })
  onTestFinished(close)
  await sql`INSERT INTO q.replica (id, name, hostname, pid, version, slots, preset, replica_beat_ms, replica_stale_ms,
      check_every_ms, claimer_beat_ms, claimer_stale_ms, runner_beat_ms, runner_stale_ms)
    VALUES ('old', 'elder', 'host-1', 1, '0.1.0', 1, 'default', 10000, 3600000, 30000, 30000, 120000, 30000, 300000)`.execute(
    db,
  )
  await sql`INSERT INTO q.replica_heartbeat (replica_id, last_heartbeat) VALUES ('old', clock_timestamp())`.execute(db)
  expect(await runQ(['migrate'], env)).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(/OLDER_REPLICAS_ALIVE .*elder on host-1 \(version 0\.1\.0, no level\)/),
  })
  const migrated = await runQ(['migrate', '--yes', '--json'], env)
  expect(migrated).toMatchObject({ code: 0, stderr: expect.stringContaining('elder on host-1') })
  expect(JSON.parse(migrated.stdout).applied).not.toEqual([])
  expect(await runQ(['migrate'], env)).toMatchObject({ code: 0, stderr: '' })
})

test('a database that is newer but compatible is used; one that declares us too old ends us with 57', async () => {
  const env = await database()
  const connection = connect(env.DATABASE_URL, { purpose: 'control' })
  await sql`INSERT INTO q.migration (name, timestamp) VALUES ('0999-future', '2100-01-01')`.execute(connection.db)
  expect(await runQ(['status'], env)).toMatchObject({ code: 0 })
  const running = await startReplica({ ...env, Q_PRESET: 'fast' })
  await sql`UPDATE q.compatibility SET oldest_program = 999`.execute(connection.db)
  await connection.close()
  expect(await running.ended).toMatchObject({ code: 57, stdout: expect.stringContaining('"msg":"drained"') })
  expect(await runQ(['status'], env)).toMatchObject({ code: 57, stderr: expect.stringContaining('PROGRAM_TOO_OLD') })
  expect((await startMain(env).ended).code).toBe(57)
})

test('q repair reports what it repaired, and then that there is nothing to do', async () => {
  const env = await database()
  const { db, close } = connect(env.DATABASE_URL, { purpose: 'control' })
  const store = createStore(db)
  const lane = await store.internLane({ queue: 'default', task: 'a' })
  const step = { kind: 'task', name: 'a', task: 'a', payload: { value: null, holes: {} } } as const
  const { id } = await store.startWorkflow({ plan: { name: 'w', steps: [step] }, input: null, tasks: { a: { lane } } })
  await sql`UPDATE q.workflow SET open_steps = 5`.execute(db)
  await close()
  expect(await runQ(['repair'], env)).toMatchObject({ code: 0, stdout: `workflow ${id}: wrong-open-steps, repaired\n` })
  expect(JSON.parse((await runQ(['repair', '--json'], env)).stdout)).toEqual({ healed: [] })
})

test('q db url prints what was set, and --help shows examples', async () => {
  const env = await database()
  expect(await runQ(['db', 'url'], env)).toMatchObject({ code: 0, stdout: `${env.DATABASE_URL}\n` })
  const help = await runQ(['--help'], env)
  expect(help).toMatchObject({ code: 0, stdout: expect.stringContaining('q enqueue hello \'{"name":"Ada"}\' --wait') })
})

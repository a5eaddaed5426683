import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { Client } from 'pg'
import { beforeAll, expect, test } from 'vitest'
import { startEmbedded } from '../src/index.ts'
import { ask, countUsers } from './ask.ts'
import { otherProcess } from './other-process.ts'
import { isRoot, postmasterPid, processesIn, scratch, until } from './scratch.ts'

const dataDir = join(scratch(), 'db')
const pidFile = join(dataDir, 'cluster', 'data', 'postmaster.pid')

/** A cluster that was started and stopped in order, so that each test may be the first. */
beforeAll(async () => {
  const first = await startEmbedded({ dataDir, durable: false })
  await first.close()
})

test('a server whose only user was killed is adopted by the next', async () => {
  const killed = await otherProcess({ dataDir })
  await killed.kill()
  await until(async () => (await countUsers(killed.url)) === 0)
  const next = await startEmbedded({ dataDir, durable: false })
  expect(next).toMatchObject({ how: 'adopted', url: killed.url })
  expect(await next.close()).toBe('stopped')
})

test('after everything was killed the next start recovers every committed row, and says so', async () => {
  const durable = join(scratch(), 'durable')
  const killed = await otherProcess({ dataDir: durable, durable: true })
  await ask(killed.url, 'CREATE TABLE kept AS SELECT generate_series(1, 1000) AS id')
  for (const pid of processesIn(durable)) process.kill(pid, 'SIGKILL')
  await killed.kill()
  const notices: string[] = []
  const next = await startEmbedded({ dataDir: durable, onNotice: (said) => notices.push(said) })
  expect(next.how).toBe('started')
  expect(notices).toEqual([expect.stringMatching(/did not shut down cleanly/)])
  expect(await ask(next.url, 'SELECT count(*)::int FROM kept')).toBe(1000)
  expect(await next.close()).toBe('stopped')
})

test('processes that a killed server left behind, even in a long computation, do not block the next start', async () => {
  const first = await startEmbedded({ dataDir, durable: false })
  const busy = new Client({ connectionString: first.url })
  busy.on('error', () => undefined)
  await busy.connect()
  const { rows } = await busy.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  const computing = busy.query('SELECT sum(a * b) FROM generate_series(1, 100000) a, generate_series(1, 100000) b')
  const outcome = computing.then(
    () => 'finished',
    () => 'cut',
  )
  await until(
    async () => (await ask(first.url, `SELECT state FROM pg_stat_activity WHERE pid = ${rows[0]?.pid}`)) === 'active',
  )
  process.kill(postmasterPid(dataDir), 'SIGKILL')
  const next = await startEmbedded({ dataDir, durable: false })
  expect(await outcome).toBe('cut')
  expect(next.how).toBe('started')
  expect(await ask(next.url, 'SELECT 1')).toBe(1)
  await Promise.all([first.close(), next.close()])
  await until(() => processesIn(dataDir).length === 0)
})

test('a pid file whose pid was reused does not block the start', async () => {
  // PostgreSQL itself would wait forever for a process of its own user.
  const { uid, gid } = statSync(join(dataDir, 'cluster'))
  const identity = isRoot ? { uid, gid } : {}
  const stranger = spawn('/bin/sleep', ['600'], { ...identity, cwd: '/' })
  await once(stranger, 'spawn')
  writeFileSync(pidFile, `${stranger.pid}\n${dataDir}\n1700000000\n5432\n\n127.0.0.1\n 1 1\nready   \n`)
  const next = await startEmbedded({ dataDir, durable: false })
  expect(next.how).toBe('started')
  expect(await next.close()).toBe('stopped')
  stranger.kill()
})

test('a copy of a live database is a database of its own', async () => {
  const copy = join(scratch(), 'copy')
  const original = await startEmbedded({ dataDir, durable: false })
  expect(spawnSync('cp', ['-a', dataDir, copy]).status).toBe(0)
  const copied = await startEmbedded({ dataDir: copy, durable: false })
  expect(copied.how).toBe('started')
  expect(await ask(copied.url, `SELECT current_setting('data_directory')`)).toBe(join(copy, 'cluster', 'data'))
  expect(await original.close()).toBe('stopped')
  expect(await copied.close()).toBe('stopped')
})

test('the leftovers of a killed process are removed, those of a live one are not', async () => {
  const [dead, live] = [join(dataDir, 'cluster.part-4194399-0a'), join(dataDir, `cluster.part-${process.pid}-0b`)]
  for (const dir of [dead, live]) mkdirSync(join(dir, 'data'), { recursive: true })
  const next = await startEmbedded({ dataDir, durable: false })
  await next.close()
  expect([existsSync(dead), existsSync(live)]).toEqual([false, true])
})

test('no start leaves a file behind that the next one has to read', () => {
  expect(readdirSync(join(dataDir, 'cluster', 'log')).filter((name) => !name.startsWith('server-'))).toEqual([])
  expect(existsSync(pidFile)).toBe(false)
})

/** With nothing configured: the embedded PostgreSQL, shared by all programs that run in the same folder. */
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { runQ, scratch, startReplica, type Ended } from './program.ts'

test('with nothing set a replica starts a database, and other programs join it; the last one that leaves stops it', async () => {
  const env = { Q_DATA_DIR: `${await scratch('q embedded ')}/data` }
  const first = await startReplica(env)
  expect(first.facts['database']).toMatch(/^embedded PostgreSQL 18\.\d+ \(started\)/)
  const second = await startReplica(env)
  expect(second.facts['database']).toContain('(joined)')
  expect(second.facts['name']).toBe(`${String(first.facts['name'])}-2`)
  expect(await runQ(['enqueue', 'hello', '{"name":"Ada"}', '--wait'], env)).toMatchObject({
    code: 0,
    stdout: 'Hello, Ada!\n',
  })
  const url = (await runQ(['db', 'url'], env)).stdout.trim()
  for (const replica of [first, second]) {
    replica.kill('SIGTERM')
    expect(await replica.ended).toMatchObject({ code: 0 })
  }
  expect(await runQ(['status'], { DATABASE_URL: url })).toMatchObject({ code: 3 })
})

test('kill -9 of the replica that started the database leaves the other one working, and the next start finds it', async () => {
  const env = { Q_DATA_DIR: `${await scratch('q-embedded-')}/data` }
  const starter = await startReplica(env)
  const other = await startReplica(env)
  starter.kill('SIGKILL')
  expect(await starter.ended).toMatchObject({ signal: 'SIGKILL' })
  expect(await runQ(['enqueue', 'hello', '{"name":"Bob"}', '--wait'], env)).toMatchObject({ stdout: 'Hello, Bob!\n' })
  other.kill('SIGKILL')
  await other.ended
  const next = await startReplica(env)
  expect(next.facts['database']).toContain('(adopted)')
  expect(await runQ(['enqueue', 'hello', '{"name":"Eve"}', '--wait'], env)).toMatchObject({ stdout: 'Hello, Eve!\n' })
  next.kill('SIGTERM')
  expect(await next.ended).toMatchObject({ code: 0 })
})

test('a run that was enqueued without any replica is executed when one starts', async () => {
  const env = { Q_DATA_DIR: `${await scratch('q-embedded-')}/data` }
  const first = await startReplica(env)
  first.kill('SIGTERM')
  await first.ended
  expect(await runQ(['enqueue', 'hello', '{"name":"later"}'], env)).toMatchObject({ code: 0 })
  const replica = await startReplica(env)
  await replica.line('"task":"hello"')
  const status = JSON.parse((await runQ(['status', '--exact', '--json'], env)).stdout) as { runs: unknown }
  expect(status.runs).toEqual([{ status: 'SUCCEEDED', runs: 1 }])
  replica.kill('SIGTERM')
  expect(await replica.ended).toMatchObject({ code: 0 })
})

test('a server that q db url started keeps running, even after other commands, until a replica leaves it', async () => {
  const env = { Q_DATA_DIR: `${await scratch('q-embedded-')}/data` }
  const url = (await runQ(['db', 'url'], env)).stdout.trim()
  expect(await runQ(['status'], env)).toMatchObject({ code: 0 })
  expect(await runQ(['status'], { DATABASE_URL: url })).toMatchObject({ code: 0 })
  const replica = await startReplica(env)
  replica.kill('SIGTERM')
  await replica.ended
  expect(await runQ(['status'], { DATABASE_URL: url })).toMatchObject({ code: 3 })
})

test('a replica restarts its embedded server after a kill, and work continues', async () => {
  const dataDir = `${await scratch('q-embedded-')}/data`
  const env = { Q_DATA_DIR: dataDir }
  const replica = await startReplica(env)
  const url = (await runQ(['db', 'url'], env)).stdout.trim()
  const pidFile = await readFile(`${dataDir}/cluster/data/postmaster.pid`, 'utf8')
  process.kill(Number.parseInt(pidFile, 10), 'SIGKILL')
  await replica.line('it recovers all committed data')
  // This reads only the URL, so the replica must have started the server.
  expect(await whenUp({ DATABASE_URL: url })).toMatchObject({ stdout: 'Hello, Ada!\n' })
  replica.kill('SIGTERM')
  expect(await replica.ended).toMatchObject({ code: 0 })
})

async function whenUp(env: Record<string, string>): Promise<Ended> {
  for (;;) {
    const ended = await runQ(['enqueue', 'hello', '{"name":"Ada"}', '--wait'], env)
    if (ended.code !== 3) return ended
  }
}

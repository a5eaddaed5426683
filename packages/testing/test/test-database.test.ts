import { Client } from 'pg'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { migrationFiles } from '@q/schema'
import { testDatabase, testServer } from '@q/testing'
import { acceptLeftConnections, refuseLeftConnections } from '../src/left-connections.ts'

const names = (await migrationFiles()).map((file) => file.name)
const server = await testServer()
afterAll(() => server.stop())

test('a test database has every migration', async () => {
  await using database = await testDatabase()
  expect(await applied(database.url)).toEqual(names)
})

test('two test databases do not see each other', async () => {
  await using one = await testDatabase()
  await using two = await testDatabase()
  await query(one.url, "insert into q.lane (queue, task) values ('default', 'hello')")
  expect(await query(one.url, 'select task from q.lane')).toEqual([{ task: 'hello' }])
  expect(await query(two.url, 'select task from q.lane')).toEqual([])
})

test('many databases can be created at the same time, with or without an existing template', async () => {
  const databases = await Promise.all(Array.from({ length: 6 }, () => testDatabase()))
  expect(new Set(databases.map((database) => database.name)).size).toBe(6)
  await Promise.all(databases.map((database) => database.drop()))
})

test('an empty database has no schema', async () => {
  await using database = await testDatabase({ migrated: false })
  expect(await query(database.url, "select to_regnamespace('q') as q")).toEqual([{ q: null }])
})

test('a database can be left at an earlier migration', async () => {
  await using database = await testDatabase({ upTo: names[0]! })
  expect(await applied(database.url)).toEqual(names.slice(0, 1))
})

test('drop() ends open sessions and is idempotent', async () => {
  acceptLeftConnections()
  onTestFinished(() => refuseLeftConnections({ closingMs: 10_000 }))
  const { database, ended } = await leftOpen()
  await database.drop()
  await database.drop()
  await ended
  expect(await query(server.url, `select 1 from pg_database where datname = '${database.name}'`)).toEqual([])
})

test('a suite that rejects leaked connections gets their names, and they are ended', async () => {
  refuseLeftConnections({ closingMs: 0 })
  onTestFinished(() => refuseLeftConnections({ closingMs: 10_000 }))
  const { database, ended } = await leftOpen()
  await expect(database.drop()).rejects.toThrow('forgotten (idle): select 1')
  await ended
  expect(await query(server.url, `select 1 from pg_database where datname = '${database.name}'`)).toEqual([])
})

/** A database with one open connection. */
async function leftOpen() {
  const database = await testDatabase()
  const client = new Client({ connectionString: database.url, application_name: 'forgotten' })
  const ended = new Promise((resolve) => void client.on('error', resolve))
  await client.connect()
  await client.query('select 1')
  return { database, ended }
}

test('a test database that cannot be created leaves nothing behind', async () => {
  const own = `select datname from pg_database where datname like 'q\\_test\\_%\\_${process.pid}\\_%'`
  const before = await query(server.url, own)
  await expect(testDatabase({ upTo: 'no such migration' })).rejects.toThrow('no such migration')
  expect(await query(server.url, own)).toEqual(before)
})

function applied(url: string): Promise<unknown> {
  return query(url, 'select name from q.migration order by name').then((rows) => rows.map((row) => row['name']))
}

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(text)).rows
  } finally {
    await client.end()
  }
}

import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Client } from 'pg'
import { describe, expect, test } from 'vitest'
import { migrate, migrationFiles, programLevel, schemaState } from '@q/schema'
import { connect } from '@q/store'
import { openDatabase } from './open-database.ts'

const names = (await migrationFiles()).map((file) => file.name)

test('migrating brings an empty database to the newest migration, and a second time does nothing', async () => {
  await using database = await openDatabase({ migrated: false })
  await using program = programOn(database.url)
  expect(await schemaState(program.db)).toEqual({ applied: [], newer: [], pending: names })
  expect(await migrate(program.db)).toEqual(names)
  expect(await migrate(program.db)).toEqual([])
  expect(await schemaState(program.db)).toEqual({ applied: names, newer: [], pending: [] })
})

test('reading the state of an empty database writes nothing', async () => {
  await using database = await openDatabase({ migrated: false })
  await using program = programOn(database.url)
  await schemaState(program.db)
  const { rows } = await database.client.query("select to_regnamespace('q') as q")
  expect(rows).toEqual([{ q: null }])
})

test('four programs may migrate at the same time: each file is applied by one of them', { repeats: 4 }, async () => {
  await using database = await openDatabase({ migrated: false })
  const programs = Array.from({ length: 4 }, () => programOn(database.url))
  const applied = await Promise.all(programs.map((program) => migrate(program.db)))
  expect(applied.flat()).toEqual(names)
  await Promise.all(programs.map((program) => program[Symbol.asyncDispose]()))
})

test('a migration that fails leaves nothing of itself or of its predecessors', async () => {
  await using database = await openDatabase({ migrated: false })
  await using program = programOn(database.url)
  await database.client.query('create schema q; create type q.beat_role as enum ()')
  await expect(migrate(program.db)).rejects.toMatchObject({ code: '42710' })
  expect((await schemaState(program.db)).pending).toEqual(names)
  expect((await database.client.query("select to_regclass('q.task_run') as run")).rows).toEqual([{ run: null }])
})

describe('a database that a newer program has migrated', () => {
  const future = "insert into q.migration (name, timestamp) values ('0999-future', '2999-01-01T00:00:00.000Z')"

  test('is accepted as it is', async () => {
    await using database = await openDatabase()
    await using program = programOn(database.url)
    await database.client.query(future)
    expect(await schemaState(program.db)).toEqual({
      applied: [...names, '0999-future'],
      newer: ['0999-future'],
      pending: [],
    })
    expect(await migrate(program.db)).toEqual([])
  })

  test('is refused when it declares programs of our age too old', async () => {
    await using database = await openDatabase()
    await using program = programOn(database.url)
    await database.client.query(future)
    await database.client.query('update q.compatibility set oldest_program = 999')
    const refusal = {
      code: 'PROGRAM_TOO_OLD',
      why: expect.stringContaining('0999-future'),
      fix: expect.stringContaining('Upgrade'),
    }
    await expect(schemaState(program.db)).rejects.toMatchObject(refusal)
    await expect(migrate(program.db)).rejects.toMatchObject(refusal)
  })

  test('is accepted when it declares a program of just our age old enough', async () => {
    await using database = await openDatabase()
    await using program = programOn(database.url)
    await database.client.query(future)
    await database.client.query('update q.compatibility set oldest_program = $1', [await programLevel()])
    expect((await schemaState(program.db)).newer).toEqual(['0999-future'])
  })

  test('is not migrated when it lacks one of ours', async () => {
    await using database = await openDatabase({ upTo: names[0]! })
    await using program = programOn(database.url)
    await database.client.query(future)
    await expect(migrate(program.db)).rejects.toMatchObject({ code: 'SCHEMA_DIVERGED' })
  })
})

function programOn(url: string) {
  const connection = connect(url, { purpose: 'control' })
  return { db: connection.db, [Symbol.asyncDispose]: () => connection.close() }
}

test('reports that no release has sent are gone after migration 0016, so that they are neither sent nor kept', async () => {
  await using database = await openDatabase({ migrated: false })
  await using program = programOn(database.url)
  const { client } = database
  await migrate(program.db, { upTo: names.find((name) => name.startsWith('0015'))! })
  await client.query(`INSERT INTO q.lane (queue, task, requires) VALUES ('default', 'old', '{}')`)
  const { rows } = await client.query(
    `INSERT INTO q.task_run (task, lane) SELECT task, id FROM q.lane WHERE task = 'old' RETURNING id`,
  )
  await client.query(`INSERT INTO q.destination (name, kind, news) VALUES ('hook', 'webhook', '{status}')`)
  await client.query(
    `INSERT INTO q.delivery (run_id, destination, news, subject, payload) VALUES ($1, 'hook', 'status', 'old', '{}')`,
    [rows[0]?.id],
  )
  await migrate(program.db)
  expect((await client.query('SELECT FROM q.delivery')).rowCount).toBe(0)
  expect((await client.query('SELECT name FROM q.destination')).rows).toEqual([{ name: 'hook' }])
  expect((await client.query('SELECT FROM q.task_run')).rowCount).toBe(1)
  // The destination of the earlier release receives what happens from now on.
  await client.query(`INSERT INTO q.task_run (task, lane) SELECT task, id FROM q.lane WHERE task = 'old'`)
  expect((await client.query('SELECT news FROM q.delivery')).rows).toEqual([{ news: 'status' }])
})

test('a deadlock with a program that writes runs repeats the migration', async () => {
  await using database = await openDatabase({ migrated: false })
  await using program = programOn(database.url)
  await using writer = programOn(database.url)
  const { client } = database
  await migrate(program.db, { upTo: names.find((name) => name.startsWith('0015'))! })
  // Stops the migration after it has locked q.delivery and before it locks q.task_run.
  await client.query('BEGIN; LOCK TABLE q.replica IN ACCESS EXCLUSIVE MODE')
  const migrating = migrate(program.db)
  const writing = writer.db.transaction().execute(async (trx) => {
    // The migration finds the deadlock, and not the writer.
    await sql`SET LOCAL deadlock_timeout = '1h'`.execute(trx)
    await sql`LOCK TABLE q.task_run IN ROW EXCLUSIVE MODE`.execute(trx)
    await waitingFor(client, 'replica')
    await sql`SELECT FROM q.delivery`.execute(trx)
  })
  await waitingFor(client, 'delivery')
  await client.query('COMMIT')
  await writing
  expect(await migrating).toEqual(names.filter((name) => name > '0016'))
})

async function waitingFor(client: Client, table: string): Promise<void> {
  const waits = `select from pg_locks where relation = 'q.${table}'::regclass and not granted`
  while ((await client.query(waits)).rowCount === 0) await setImmediate()
}

/** The store over a pool or client of the caller. */
import { sql } from 'kysely'
import { Client, Pool } from 'pg'
import { afterAll, expect, test } from 'vitest'
import { wrapCallerConnection, createStore } from '@q/store'
import { fixture } from './fixture.ts'

const { url, store } = await fixture()
const pool = new Pool({ connectionString: url, max: 1 }).on('error', () => {})
const client = new Client({ connectionString: url })
await client.connect()
afterAll(async () => {
  await client.end()
  await pool.end()
})

const one = sql<{ one: number }>`SELECT 1 AS one`

test('several queries are one transaction, even where they are not one round trip, and the one after them is another', async () => {
  const { db, pipeline } = wrapCallerConnection(pool)
  const inTransaction = sql<{ xid: string }>`SELECT pg_current_xact_id()::text AS xid`.compile(db)
  const { rows, after } = await pipeline([inTransaction, inTransaction], inTransaction)
  const [[first], [second]] = rows as [[unknown], [unknown]]
  expect(first).toEqual(second)
  expect(await after).not.toEqual([first])
})

test('statements that must not wait for a client of the pool do not', async () => {
  const { onOwnConnection: apart } = wrapCallerConnection(pool)
  const out = await pool.connect()
  expect((await apart((db) => one.execute(db))).rows).toEqual([{ one: 1 }])
  out.release()
})

test('a client executes one transaction after the other', async () => {
  const { db } = wrapCallerConnection(client)
  const ids = await Promise.all(
    Array.from({ length: 5 }, () =>
      db.transaction().execute(async (trx) => {
        const { rows } = await sql<{ xid: string }>`SELECT pg_current_xact_id()::text AS xid`.execute(trx)
        return rows[0]?.xid
      }),
    ),
  )
  expect(new Set(ids).size).toBe(5)
  expect(client.getTransactionStatus()).toBe('I')
})

test('our statements are part of the caller’s transaction: they roll back alone when they fail, and with it when it rolls back', async () => {
  const { db } = wrapCallerConnection(client)
  const own = createStore(db)
  const lane = await store.internLane({ queue: 'default', task: 'wrapped' })
  const run = { task: 'wrapped', lane, payload: {} }
  await client.query('BEGIN')
  const [kept] = await own.enqueueTaskRuns([run])
  const failing = db.transaction().execute(async (trx) => {
    await createStore(trx).enqueueTaskRuns([run])
    await sql`SELECT 1 / 0`.execute(trx)
  })
  await expect(failing).rejects.toMatchObject({ code: '22012' })
  expect(client.getTransactionStatus()).toBe('T')
  await client.query('COMMIT')
  expect((await store.listTaskRuns({ task: 'wrapped' })).runs).toMatchObject([{ id: kept!.id }])
  await client.query('BEGIN')
  await db.transaction().execute((trx) => createStore(trx).enqueueTaskRuns([run]))
  await client.query('ROLLBACK')
  expect((await store.listTaskRuns({ task: 'wrapped' })).runs).toHaveLength(1)
})

test('closing the wrapper leaves the caller’s connection open', async () => {
  for (const owned of [pool, client]) {
    const { db, close } = wrapCallerConnection(owned)
    await one.execute(db)
    await close()
  }
  expect((await pool.query('SELECT 1 AS one')).rows).toEqual((await client.query('SELECT 1 AS one')).rows)
})

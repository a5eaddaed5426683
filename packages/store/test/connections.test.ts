import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { connect } from '@q/store'
import { testDatabase } from '@q/testing'

async function connection(options: { statementMsMax?: number } = {}) {
  const database = await testDatabase()
  const made = connect(database.url, { purpose: 'control', ...options })
  onTestFinished(async () => {
    await made.close()
    await database.drop()
  })
  return made.db
}

const pid = sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`

test('a connection on which a statement took too long is not used again', async () => {
  const db = await connection({ statementMsMax: 300 })
  const before = (await pid.execute(db)).rows[0]!.pid
  await expect(sql`SELECT pg_sleep(20)`.execute(db)).rejects.toThrow('timeout')
  expect((await pid.execute(db)).rows[0]!.pid).not.toBe(before)
})

test('a connection that the server ends in the middle of a statement ends that statement and nothing else', async () => {
  const db = await connection()
  await expect(sql`SELECT pg_terminate_backend(pg_backend_pid())`.execute(db)).rejects.toThrow('terminat')
  expect((await pid.execute(db)).rows).toHaveLength(1)
})

test('a statement that fails leaves its connection in use', async () => {
  const db = await connection()
  const before = (await pid.execute(db)).rows[0]!.pid
  await expect(sql`SELECT 1/0`.execute(db)).rejects.toThrow('division by zero')
  expect((await pid.execute(db)).rows[0]!.pid).toBe(before)
})

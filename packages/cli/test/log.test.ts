import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { testDatabase } from '@q/testing'
import { runQ, startReplica } from './program.ts'

const quoting = fileURLToPath(new URL('tasks/quotes-its-url.ts', import.meta.url))
const passwords = ['hunter2', 'hun%40ter2', 'hun"ter2', String.raw`hun\ter2`, 'hun@ter2', 'hun/ter2', "hun'ter2"]

test('a password that code quotes is in no line of the log, at any level', async () => {
  const { url, drop } = await testDatabase()
  onTestFinished(drop)
  const env = { DATABASE_URL: url }
  const replica = await startReplica({ ...env, Q_TASKS: quoting, Q_LOG_LEVEL: 'trace' })
  const urls = passwords.map((password) => `postgresql://ada:${password}@db.example:5432/app`)
  expect(await runQ(['enqueue', 'quote', JSON.stringify(urls), '--wait'], env)).toMatchObject({ code: 1 })
  replica.kill('SIGTERM')
  const { stdout, stderr } = await replica.ended
  expect(stdout.match(/could not connect to postgresql:\/\/ada:\*\*\*@db\.example:5432\/app/g)).toHaveLength(7)
  expect(stdout).toContain('"code":"TASK_ERROR"')
  expect(stdout + stderr).not.toMatch(/hun.*ter2/)
})

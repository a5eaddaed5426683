import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { testDatabase } from '@q/testing'
import { runQ, startReplica } from './program.ts'

const quoting = fileURLToPath(new URL('tasks/quotes-its-url.ts', import.meta.url))
const passwords = ['hunter2', 'hun%40ter2', 'hun"ter2', String.raw`hun\ter2`, 'hun@ter2', 'hun/ter2', "hun'ter2"]

test('control characters in the error of a task do not reach the terminal', async () => {
  const { url, drop } = await testDatabase()
  onTestFinished(drop)
  const env = { DATABASE_URL: url }
  await startReplica({ ...env, Q_TASKS: quoting })
  const { code, stderr } = await runQ(['enqueue', 'quote', '["\\u001b[2J\\u009b31m\\u0007"]', '--wait'], env)
  expect(code).toBe(1)
  expect(stderr).toContain('could not connect to any of " [2J 31m "')
  expect(stderr.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u)
})

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

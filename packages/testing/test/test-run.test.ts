import { spawnSync } from 'node:child_process'
import { afterAll, expect, test } from 'vitest'
import { testDatabase, testRun, testServer } from '@q/testing'
import { maintenance } from '../src/maintenance.ts'
import { newDatabaseName } from '../src/database-name.ts'

const { url, stop } = await testServer()
const server = await maintenance(url)
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await stop()
})

test('a test run drops the databases of dead processes and keeps those of live ones', async () => {
  await using ours = await testDatabase({ migrated: false })
  const left = newDatabaseName().replace(`_${process.pid}_`, `_${deadPid()}_`)
  await server.create(left)
  const run = await testRun()
  expect(await server.has(left)).toBe(false)
  expect(await server.has(ours.name)).toBe(true)
  await run.end()
})

test('the files of a test run find its server until it ends', async () => {
  const before = process.env['Q_TEST_SERVER_URL']
  const run = await testRun()
  expect(process.env['Q_TEST_SERVER_URL']).toBe(run.url)
  await run.end()
  expect(process.env['Q_TEST_SERVER_URL']).toBe(before)
})

function deadPid(): number {
  return spawnSync(process.execPath, ['--version']).pid
}

/** The page of a replica: served by its process, never in the way of its work. */
import { readFileSync, statSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { testDatabase } from '@q/testing'
import { scratch, startMain } from './program.ts'

const database = await testDatabase()
afterAll(() => database.drop())

async function replica(env: Record<string, string> = {}) {
  const folder = await scratch('q page ')
  const tokenFile = join(folder, 'token')
  const started = startMain({
    DATABASE_URL: database.url,
    Q_HTTP: 'on',
    Q_HTTP_PORT: '0',
    Q_HTTP_TOKEN_FILE: tokenFile,
    ...env,
  })
  const facts = JSON.parse(await started.line('"msg":"started"')) as { page?: string; replicaId: string }
  return { ...facts, started, tokenFile }
}

test('a replica serves the API with a token that only its owner can read, and registers where', async () => {
  const { page = '', replicaId, started, tokenFile } = await replica()
  expect(statSync(tokenFile).mode & 0o777).toBe(0o600)
  expect((await fetch(`${page}/api/nodes`)).status).toBe(401)
  const headers = { Authorization: `Bearer ${readFileSync(tokenFile, 'utf8').trim()}` }
  const answer = await fetch(`${page}/api/nodes`, { headers })
  const { items } = (await answer.json()) as { items: { id: string; endpoint: string }[] }
  expect(items.find(({ id }) => id === replicaId)).toMatchObject({ endpoint: page })
  await expect.poll(async () => (await fetch(`${page}/readyz`)).status).toBe(200)
  started.kill('SIGTERM')
  expect(await started.ended).toMatchObject({ code: 0 })
})

test('no token is in the log of a replica', async () => {
  const { started, tokenFile } = await replica({ Q_LOG_LEVEL: 'trace' })
  started.kill('SIGTERM')
  const { stdout, stderr } = await started.ended
  expect(stdout + stderr).not.toContain(readFileSync(tokenFile, 'utf8').trim())
})

test('a page that cannot listen does not stop its replica', async () => {
  const other = createServer()
  await once(other.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void other.close())
  const { page, started } = await replica({ Q_HTTP_PORT: String((other.address() as AddressInfo).port) })
  expect(page).toBeUndefined()
  expect(JSON.parse(await started.line('the page did not start'))).toMatchObject({ code: 'PORT_IN_USE' })
  started.kill('SIGTERM')
  expect(await started.ended).toMatchObject({ code: 0 })
})

test('a replica that others could reach does not start with a generated token', async () => {
  const { code, stderr } = await startMain({ DATABASE_URL: database.url, Q_HTTP: 'on', Q_HTTP_ADDRESS: '0.0.0.0' })
    .ended
  expect(code).toBe(2)
  expect(stderr).toContain('HTTP_TOKEN_MISSING')
})

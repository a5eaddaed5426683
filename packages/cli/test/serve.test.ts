/** The page without a replica, and the tokens that open it. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { exampleCluster } from './example-cluster.ts'
import { scratch, startQ } from './program.ts'
import { q, qJson } from './terminal.ts'

const cluster = await exampleCluster()
afterAll(() => cluster.close())

async function tokenEnv() {
  const folder = await scratch('q token ')
  return { DATABASE_URL: cluster.env.DATABASE_URL, Q_HTTP_TOKEN_FILE: join(folder, 'token') }
}

test('q token prints the one token, makes it if there is none, and replaces it', async () => {
  const env = await tokenEnv()
  const first = await q(['token'], env)
  expect(first).toMatchObject({ code: 0, stdout: expect.stringMatching(/^q_[\w-]{43}\n$/), stderr: '' })
  expect(statSync(env.Q_HTTP_TOKEN_FILE).mode & 0o777).toBe(0o600)
  expect((await q(['token'], env)).stdout).toBe(first.stdout)
  expect((await q(['token', '--replace'], env)).stdout).not.toBe(first.stdout)
})

test('a named token is printed once, listed without its secret, and revoked', async () => {
  const env = await tokenEnv()
  const made = await q(['token', 'new', '--name', 'grafana'], env)
  expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^q_/) })
  expect(made.stderr).toContain('Q_HTTP_TOKENS_FILE=')
  expect(await q(['token', 'new', '--name', 'grafana'], env)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('TOKEN_NAME_INVALID'),
  })
  await q(['token', 'new', '--name', 'deploy', '--scope', 'admin'], env)
  expect((await qJson(['token', 'list'], env)).json).toMatchObject({
    tokens: [
      { name: 'grafana', scope: 'read' },
      { name: 'deploy', scope: 'admin' },
    ],
  })
  expect((await q(['token', 'list'], env)).stdout).not.toContain('q_')
  expect(await q(['token', 'revoke', 'grafana'], env)).toMatchObject({ code: 0 })
  expect(await q(['token', 'revoke', 'grafana'], env)).toMatchObject({ code: 4 })
  expect((await qJson(['token', 'list'], env)).json).toMatchObject({ tokens: [{ name: 'deploy' }] })
})

test('q serve serves the API alone, q open finds it once a node names it, and the token is in no log', async () => {
  const env = await tokenEnv()
  expect(await q(['open'], env)).toMatchObject({ code: 4, stderr: expect.stringContaining('q serve --open') })
  const server = startQ(['serve', '--port', '0', '--read-only'], env)
  const url = (await server.line('The page: ')).replace('The page: ', '')
  const token = (await q(['token'], env)).stdout.trim()
  const headers = { Authorization: `Bearer ${token}` }
  expect(await (await fetch(`${url}/api/session`, { headers })).json()).toMatchObject({ readOnly: true })
  await cluster.nameEndpoint('eu-1', url)
  const { stdout, stderr } = await q(['open', String(cluster.runs.failed)], env)
  expect({ stdout, stderr }).toEqual({ stdout: `${url}/runs/${cluster.runs.failed}#token=${token}\n`, stderr: '' })
  const stranger = { ...env, Q_HTTP_TOKEN_FILE: join(await scratch('q other '), 'token') }
  expect(await q(['open'], stranger)).toMatchObject({ stdout: `${url}/\n`, stderr: expect.stringContaining('q token') })
  server.kill('SIGTERM')
  const ended = await server.ended
  expect(ended).toMatchObject({ code: 0 })
  expect(ended.stdout + ended.stderr).not.toContain(token)
})

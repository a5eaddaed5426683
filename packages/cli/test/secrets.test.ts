/** Secrets in payloads, errors, URLs and the environment of a replica, looked for in everything that it shows. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { testDatabase } from '@q/testing'
import { expect, onTestFinished, test } from 'vitest'
import { scratch, startReplica } from './program.ts'

const tasks = fileURLToPath(new URL('./tasks/leaks.ts', import.meta.url))

test('no secret of a payload, error, URL or environment is in the log, the metrics or the API', async () => {
  const database = await testDatabase()
  onTestFinished(database.drop)
  const env = {
    DATABASE_URL: database.url,
    LEAKING_API_KEY: 'canary-environment',
    Q_TASKS: tasks,
    Q_HTTP: 'on',
    Q_HTTP_PORT: '0',
    Q_HTTP_TOKEN_FILE: join(await scratch('q canary '), 'token'),
    Q_LOG_LEVEL: 'debug',
    Q_NAME: 'eu-1',
  }
  const replica = await startReplica(env)
  const base = String(replica.facts['page'])
  const token = readFileSync(env.Q_HTTP_TOKEN_FILE, 'utf8').trim()
  const ask = async (path: string, body?: unknown) => {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    return (await fetch(base + path, { ...init, headers })).text()
  }
  const { runId } = JSON.parse(await ask('/api/runs', { task: 'leaks', payload: { apiToken: 'canary-payload' } }))
  await replica.line('run failed')
  const shown = new Map<string, string>()
  const run = `/api/runs/${runId}`
  for (const path of [run, `${run}/payload`, `${run}/result`, `${run}/logs`, '/api/runs', '/api/errors', '/metrics'])
    shown.set(path, await ask(path))
  const wrong = { task: 'leaks', runAt: 'postgres://q:canary-problem@host/db' }
  shown.set('problem', await ask('/api/runs', wrong))
  replica.kill('SIGTERM')
  const { stdout, stderr } = await replica.ended
  shown.set('log', stdout + stderr)
  for (const [where, text] of shown)
    expect({ where, canaries: text.match(/canary-\w+/g) }).toEqual({ where, canaries: null })
  for (const where of [run, 'log']) expect(shown.get(where)).toContain('access_token=***')
  expect(shown.get('log')).not.toContain(token)
  const line = stdout.split('\n').find((one) => one.includes('"msg":"run failed"'))
  expect(JSON.parse(line ?? '')).toMatchObject({ runId, task: 'leaks', node: 'eu-1' })
})

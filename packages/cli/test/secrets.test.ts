/** Secrets in payloads, errors, URLs and the environment of a replica, looked for in everything that it shows, writes and sends. */
import { readFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { testDatabase } from '@q/testing'
import { sql } from 'kysely'
import { connect } from '@q/store'
import { expect, onTestFinished, test } from 'vitest'
import { startGithubServer } from '../../destinations/test/github-server.ts'
import { runQ, scratch, startReplica } from './program.ts'

const tasks = fileURLToPath(new URL('./tasks/leaks.ts', import.meta.url))

async function receiver() {
  const bodies: string[] = []
  const server = createServer((request, response) => void receive(request, response))
  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    bodies.push(JSON.stringify(request.headers), await text(request))
    // The first answer is an error that quotes the address.
    response.writeHead(bodies.length === 2 ? 500 : 204).end(`no such place: ${request.url}`)
  }
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/?access_token=canary-address`, shown: () => bodies.join('\n') }
}

async function scene() {
  const [database, github, hook] = await Promise.all([
    testDatabase(),
    startGithubServer({ repositories: ['acme/shop'] }),
    receiver(),
  ])
  onTestFinished(() => database.drop())
  onTestFinished(async () => await github[Symbol.asyncDispose]())
  const folder = await scratch('q canary ')
  const memory = join(folder, 'memory.jsonl')
  const reports = ['status', 'run-ended', 'recovery', 'heartbeat', 'sample', 'alert']
  const destinations = [
    { name: 'dev', kind: 'log', settings: {} },
    { name: 'hook', kind: 'webhook', settings: { urlVariable: 'HOOK_URL', secretVariable: 'HOOK_SECRET' } },
    {
      name: 'issues',
      kind: 'github',
      settings: {
        issue: '/issue',
        repositories: ['acme/shop'],
        tokenVariable: 'GITHUB_TOKEN',
        apiUrl: github.url,
        labels: false,
      },
    },
    { name: 'memory', kind: 'memory', settings: { file: memory } },
  ]
  const file = join(folder, 'destinations.json')
  await writeFile(file, JSON.stringify(destinations.map((one) => ({ ...one, reports, everyMs: 1_000 }))))
  const env = {
    DATABASE_URL: database.url,
    LEAKING_API_KEY: 'canary-environment',
    HOOK_URL: hook.url,
    HOOK_SECRET: 'canary-hook-secret',
    GITHUB_TOKEN: github.token,
    Q_TASKS: tasks,
    Q_HTTP: 'on',
    Q_HTTP_PORT: '0',
    Q_HTTP_TOKEN_FILE: join(folder, 'token'),
    Q_METRICS_ADDRESS: '127.0.0.1:0',
    Q_DESTINATIONS_FILE: file,
    Q_LOG_LEVEL: 'debug',
    Q_NAME: 'eu-1',
    Q_PRESET: 'fast',
    Q_THREADS: '2',
  }
  return { database, env, github, hook, memory, issue: github.issue('acme/shop', 7) }
}

/** Its page, its API and its events, with the token of its owner. */
async function asked(base: string, token: string) {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
  const ask = async (path: string, body?: unknown) => {
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    return (await fetch(base + path, { ...init, headers })).text()
  }
  return {
    ask,
    /** Until all of these have been sent. */
    async events(path: string, wanted: readonly string[]): Promise<string> {
      const closing = new AbortController()
      const { body } = await fetch(base + path, { headers, signal: closing.signal })
      let seen = ''
      for await (const part of body!.pipeThrough(new TextDecoderStream())) {
        seen += part
        if (wanted.every((event) => seen.includes(`event: ${event}\n`))) break
      }
      closing.abort()
      return seen
    },
    /** Every path of the API that can be read, with these values for its parameters. */
    async readAll(values: Readonly<Record<string, Readonly<Record<string, string>>>>): Promise<Map<string, string>> {
      const { paths } = JSON.parse(await ask('/api/openapi.json')) as { paths: Record<string, object> }
      const shown = new Map<string, string>()
      for (const [path, methods] of Object.entries(paths)) {
        if (!('get' in methods) || path === '/api/events') continue
        const of = values[path.split('/')[2] ?? ''] ?? {}
        shown.set(path, await ask(path.replaceAll(/\{(\w+)\}/g, (_, name: string) => of[name] ?? '1')))
      }
      return shown
    },
  }
}

test(
  'no secret of a payload, error, URL or environment is in a log, comment, metric, page, delivery or answer',
  {
    timeout: 300_000,
  },
  async () => {
    const { database, env, github, hook, memory, issue } = await scene()
    const replica = await startReplica(env)
    const token = readFileSync(env.Q_HTTP_TOKEN_FILE, 'utf8').trim()
    const { ask, events, readAll } = await asked(String(replica.facts['page']), token)
    const payload = { apiToken: 'canary-payload', issue: 7 }
    const enqueue = async (task: string) => String(JSON.parse(await ask('/api/runs', { task, payload })).runId)
    const lingering = await enqueue('lingers')
    await replica.line('lingering')
    const runId = await enqueue('leaks')
    await replica.line('run failed')
    const { db, close } = connect(database.url, { purpose: 'pool' })
    onTestFinished(close)
    // A run that a dead replica has left.
    await db.transaction().execute(async (trx) => {
      const { rows } = await sql<{ id: string }>`INSERT INTO q.task_run (task, lane, payload)
      SELECT 'leaks', id, ${JSON.stringify(payload)}::jsonb FROM q.lane WHERE task = 'leaks' RETURNING id`.execute(trx)
      await sql`UPDATE q.task_run SET status = 'RUNNING', replica_id = 'gone-replica' WHERE id = ${rows[0]?.id}`.execute(
        trx,
      )
    })

    const comments = () => issue.comments.map(({ body }) => body).join('\n')
    await expect.poll(comments, { timeout: 60_000 }).toContain('Stale Lock Detected')
    await expect.poll(comments, { timeout: 60_000 }).toContain('Worker Heartbeat')
    await expect.poll(() => readFile(memory, 'utf8').catch(() => ''), { timeout: 60_000 }).toMatch(/lock-recoveries/)
    await expect.poll(hook.shown, { timeout: 60_000 }).toContain('"code":"TASK_ERROR"')
    // Counted in memory, and flushed at intervals.
    await expect.poll(() => ask('/api/errors'), { timeout: 60_000 }).toContain('access_token')

    const shown = await readAll({
      runs: { id: runId },
      nodes: { id: String(replica.facts['replica']) },
      queues: { name: 'default' },
      destinations: { name: 'hook' },
    })
    shown.set('a lingering run', await ask(`/api/runs/${lingering}`))
    shown.set(
      'events',
      await events(`/api/events?topics=nodes&topics=attention&runs=${lingering}&log=${runId}`, [
        'nodes',
        'attention',
        'run',
        'log',
      ]),
    )
    shown.set('page', await ask('/'))
    shown.set('problem', await ask('/api/runs', { task: 'leaks', runAt: 'postgres://q:canary-problem@host/db' }))
    const printed = (command: string) => runQ([command], { DATABASE_URL: env.DATABASE_URL })
    for (const { stdout } of await Promise.all([printed('errors'), printed('deliveries')]))
      shown.set(`command ${shown.size}`, stdout)
    await ask(`/api/runs/${lingering}/cancel`, {})
    replica.kill('SIGTERM')
    const { stdout, stderr } = await replica.ended
    shown.set('log', stdout + stderr)
    shown.set('comments', comments())
    shown.set('memory file', await readFile(memory, 'utf8'))
    shown.set('webhook', hook.shown())
    const { rows } = await sql`SELECT * FROM q.delivery`.execute(db)
    shown.set('stored reports', JSON.stringify(rows))

    for (const [where, what] of shown)
      expect({ where, canaries: what.match(/canary-[\w-]+/g) }).toEqual({ where, canaries: null })
    for (const [where, what] of shown) {
      expect({ where, hasToken: what.includes(token) }).toEqual({ where, hasToken: false })
      expect({ where, hasToken: what.includes(github.token) }).toEqual({ where, hasToken: false })
    }
    // The texts in which the secrets were are there.
    for (const where of ['/api/runs/{id}', '/api/errors', 'log', 'webhook', 'stored reports'])
      expect({ where, text: shown.get(where) }).toEqual({
        where,
        text: expect.stringContaining('access_token=***') as string,
      })
    expect(shown.get('/metrics')).toContain('q_deliveries_total{destination="issues",outcome="delivered"}')
    const line = stdout.split('\n').find((one) => one.includes('"msg":"run failed"'))
    expect(JSON.parse(line ?? '')).toMatchObject({ runId, task: 'leaks', node: 'eu-1' })
  },
)

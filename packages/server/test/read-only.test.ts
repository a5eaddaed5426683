/** Every GET uses connections on which the database refuses writes, and ends what takes longer than three seconds. */
import { sql } from 'kysely'
import { afterAll, beforeEach, expect, test, vi } from 'vitest'
import { apiRoutes } from '@q/server'
import { connect } from '@q/store'
import { openServerConnections } from '../src/connections.ts'
import { createSecrets } from '../src/secrets/secrets.ts'
import { getPaths } from './get-paths.ts'
import { serverScene } from './scene.ts'
import { registration, seed } from './seed.ts'

const scene = await serverScene()
afterAll(() => scene.close())
const { ask, db, store, tokens } = scene
const ids = await seed(store, scene.database.url)
const operation = await store.requestOperation({ kind: 'retry', filter: { task: 'hello' }, by: 'test' })
const paths = getPaths({ ...ids, operationId: operation.id })

/** They query no database, or are not answered from the table: the stream reads by the same connections (below). */
const withoutDatabase = new Set(['GET /api/session', 'GET /api/openapi.json', 'GET /api/events'])
const alone: Readonly<Record<string, readonly string[]>> = {
  'GET /api/errors/{fingerprint}': ['/api/errors/none'],
  'GET /api/workers/{workerId}/runs': ['/api/workers/w1/runs'],
}

interface Session {
  readonly pid: number
  readonly name: string
  readonly at: Date
}

async function sessions(): Promise<Session[]> {
  const { rows } = await sql<Session>`
    SELECT pid, application_name AS name, query_start AS at FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND query_start IS NOT NULL`.execute(db)
  return rows
}

/** The names of the sessions that executed a statement during the work. */
async function used(work: () => Promise<unknown>): Promise<Set<string>> {
  const before = new Map((await sessions()).map(({ pid, at }) => [pid, at.getTime()]))
  await work()
  const after = await sessions()
  return new Set(after.filter(({ pid, at }) => before.get(pid) !== at.getTime()).map(({ name }) => name))
}

// Until the database has answered once, probes query it.
beforeEach(() => vi.waitUntil(async () => (await ask('GET', '/startupz')).status === 200, { timeout: 30_000 }))

test('an action uses another connection', async () => {
  const action = () => ask('POST', `/api/runs/${ids.failedId}/retry`, { token: tokens.admin })
  expect(await used(action)).toContain('q pool')
})

test.each(Object.keys(apiRoutes).filter((key) => key.startsWith('GET ')))('%s', async (key) => {
  const asked = alone[key] ?? paths[key] ?? []
  expect(asked.length > 0 || key === 'GET /api/events').toBe(true)
  for (const path of asked) {
    const token = path.startsWith('/api/workers/') ? tokens.work : tokens.read
    const names = await used(() => ask('GET', path, { token }))
    expect({ path, names }).toEqual({ path, names: new Set(withoutDatabase.has(key) ? [] : ['q page']) })
  }
})

test('the stream reads by the same connections', async () => {
  const names = await used(async () => {
    const stop = new AbortController()
    const query = `topics=nodes,overview,queues,attention&runs=${ids.heldId}&log=${ids.heldId}&workflow=${ids.workflowId}`
    await fetch(`${scene.base}/api/events?${query}`, {
      headers: { Authorization: `Bearer ${tokens.read}` },
      signal: stop.signal,
    })
    await expect.poll(() => scene.server.live.topics).toBe(7)
    stop.abort()
    await expect.poll(() => scene.server.live.topics).toBe(0)
  })
  expect(names).toEqual(new Set(['q page']))
})

test('the database refuses a write on these connections, whatever the verb', async () => {
  const connections = openServerConnections(scene.database.url, createSecrets())
  try {
    const refused = { code: '25006' }
    await expect(connections.reads.registerReplica(registration('new'))).rejects.toMatchObject(refused)
    await expect(connections.reads.pauseQueue('default', 'test')).rejects.toMatchObject(refused)
    await expect(connections.reads.reap({ by: 'test' })).rejects.toMatchObject(refused)
  } finally {
    await connections.close()
  }
})

test('the database ends a statement on these connections after three seconds, and a wait for a lock earlier', async () => {
  const page = connect(scene.database.url, { purpose: 'page' })
  try {
    const { rows } = await sql<Record<string, string>>`
      SELECT current_setting('statement_timeout') AS statement, current_setting('lock_timeout') AS lock,
        current_setting('transaction_read_only') AS "readOnly", current_setting('application_name') AS name`.execute(
      page.db,
    )
    expect(rows).toEqual([{ statement: '3s', lock: '500ms', readOnly: 'on', name: 'q page' }])
  } finally {
    await page.close()
  }
})

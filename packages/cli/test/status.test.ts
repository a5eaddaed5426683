import { stripVTControlCharacters } from 'node:util'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connect, createStore } from '@q/store'
import { testDatabase } from '@q/testing'
import { runQ } from './program.ts'

const seconds = 1_000
const database = await testDatabase()
const env = { DATABASE_URL: database.url }
const connection = connect(database.url, { purpose: 'control' })
const store = createStore(connection.db)

beforeAll(async () => {
  await register('well', ['encode', 'render'])
  await register('hot', ['encode'])
  await register('dead', ['retired'])
  await publish('encode', 'render', 'retired')
  await sql`UPDATE q.replica_heartbeat h SET active_runs = 2, health = CASE n.name WHEN 'well' THEN 'healthy' ELSE 'degraded' END,
      cpu_percent = 81.6, memory_mb = 5000,
      last_heartbeat = CASE n.name WHEN 'dead' THEN h.last_heartbeat - interval '1 hour' ELSE h.last_heartbeat END
    FROM q.replica n WHERE n.id = h.replica_id`.execute(connection.db)
  await store.pauseQueue('video', 'ada')
  await store.pauseQueue('clips\u001b[2J', 'eve\n\u009b31m')
  await sql`SELECT * FROM q.enqueue('unpublished')`.execute(connection.db)
})

afterAll(async () => {
  await connection.close()
  await database.drop()
})

test('q status shows paused queues, the health of living nodes, no dead node as busy, and which nodes know a task', async () => {
  const page = stripVTControlCharacters((await runQ(['status'], env)).stdout)
  expect(page).toMatch(/^video +paused by ada/m)
  expect(page).toMatch(/^default +open +0 +0 +1 \(task 1\)$/m)
  expect(page).toMatch(/^alive +well +healthy +2\/4/m)
  expect(page).toMatch(/^alive +hot +degraded \(CPU 82 %, 5000 MB\) +2\/4/m)
  expect(page).toMatch(/^stale +dead +- +-\/4/m)
  expect(page).toMatch(/^encode +default +2$/m)
  expect(page).toMatch(/^render +default +1$/m)
  expect(page).not.toMatch(/^retired/m)
  expect(page).toContain('No living node knows these published tasks: retired')
})

test('control characters in the names of queues and people do not reach the terminal', async () => {
  const page = (await runQ(['status'], env)).stdout
  expect(page).toMatch(/^clips \[2J +paused by eve 31m/m)
  expect(page.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u)
})

test('q status --json prints the same facts as data', async () => {
  const facts = JSON.parse((await runQ(['status', '--json'], env)).stdout) as {
    queues: object[]
    tasks: { name: string; nodes: number }[]
  }
  expect(facts.queues).toContainEqual(expect.objectContaining({ queue: 'video', paused: true, pausedBy: 'ada' }))
  expect(facts.tasks.map(({ name, nodes }) => [name, nodes])).toEqual([
    ['encode', 2],
    ['render', 1],
    ['retired', 0],
  ])
})

async function register(name: string, tasks: string[]): Promise<void> {
  const beat = { replicaBeatMs: 10 * seconds, claimerBeatMs: 10 * seconds, runnerBeatMs: 10 * seconds }
  // Longer than this file takes on a busy machine; the dead one is an hour old.
  const stale = { replicaStaleMs: 600 * seconds, claimerStaleMs: 600 * seconds, runnerStaleMs: 600 * seconds }
  const thresholds = { ...beat, ...stale, checkEveryMs: 30 * seconds }
  const host = { hostname: 'host', pid: 1, version: '0.1.0' }
  const replica = { ...host, id: `replica-${name}`, name, tasks, queues: [], capabilities: [], slots: 4, thresholds }
  await store.registerReplica({ ...replica, preset: 'default', onCrash: 'fail' })
}

async function publish(...names: string[]): Promise<void> {
  const tasks = names.map((name) => ({ name, queue: 'default', options: {}, payloadSchema: null }))
  await store.publishTasks('replica-well', tasks)
}

/** The queries of db/queries, each against an incident that it must show. */
import { readdir, readFile } from 'node:fs/promises'
import { sql } from 'kysely'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { untilSomebodyWaits } from './blocked-sessions.ts'
import { by, leaseOf } from './fixture.ts'
import { introduction } from './replica-registration.ts'
import { step, workflowFixture } from './workflow-fixture.ts'

const { url, store, db, enqueue, claim, claimOne, start } = await workflowFixture()
const folder = new URL('../../../db/queries/', import.meta.url)
const files = (await readdir(folder)).filter((name) => name.endsWith('.sql'))

/** Opened by a person who forgot a transaction, and by one who waits for it. */
const [forgotten, waiting, reader] = [
  new Client(url),
  new Client(url),
  new Client({ connectionString: url, options: '-c default_transaction_read_only=on' }),
]
await Promise.all([forgotten.connect(), waiting.connect(), reader.connect()])
let waits: Promise<unknown> = Promise.resolve()

beforeAll(async () => {
  await store.registerReplica({ ...introduction('dead', 'eu-1'), tasks: ['held', 'keyed', 'fails'] })
  await store.drainReplica('dead', { by: 'ada', deadlineMs: 1_000 })
  await enqueue('held')
  await claimOne('held', 'dead')
  await enqueue('keyed', { count: 3, concurrency: { scope: 'keyed', key: 'k' } })
  await claim('keyed', 1, 'dead')
  await enqueue('fails')
  const failed = await claimOne('fails', 'dead')
  await store.settleTaskRuns([
    { lease: leaseOf(failed), outcome: { status: 'FAILED', code: 'TASK_ERROR', detail: 'no luck' }, by },
  ])
  await enqueue('unserved', { count: 2 })
  const counts = {
    started: 4,
    succeeded: 3,
    failed: 1,
    cancelled: 0,
    retried: 0,
    crashed: 0,
    busyMs: 4_000,
    waitMs: 4,
    wait: [4],
    duration: [4],
  }
  const error = {
    fingerprint: 'f1',
    code: 'TASK_ERROR',
    name: 'Error',
    message: 'no luck',
    place: null,
    lastRunId: failed.runId,
    tasks: ['fails'],
    version: '1',
    seen: 7,
  }
  await store.flushTally({
    replicaId: 'dead',
    flushNo: 1,
    runs: [{ queue: 'default', task: 'fails', ...counts }],
    errors: [error],
  })
  await sql`INSERT INTO q.recovery (run_id, fence, was, became, cause, replica_id, recovered_by) VALUES (${failed.runId}, 1, 'RUNNING', 'FAILED', 'presence', 'dead', 'other')`.execute(
    db,
  )
  await sql`INSERT INTO q.task_event (run_id, fence, kind, replica_id) VALUES (${failed.runId}, 1, 'refused-log', 'dead')`.execute(
    db,
  )
  await sql`INSERT INTO q.heartbeat_failure (replica_id, failed_at, consecutive, error) VALUES ('dead', now(), 3, 'ECONNRESET')`.execute(
    db,
  )
  await start({ name: 'import', steps: [step('first')] })
  await sql`UPDATE q.replica_heartbeat SET last_heartbeat = now() - interval '1 hour'`.execute(db)
  await forgotten.query(
    `SET application_name = 'forgotten'; BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1 FROM q.task_run; LOCK q.run_group IN SHARE MODE`,
  )
  await waiting.query(`SET application_name = 'waiting'`)
  waits = waiting.query('DELETE FROM q.run_group')
  await untilSomebodyWaits(db)
})
afterAll(async () => {
  await forgotten.end()
  await waits
  await Promise.all([waiting.end(), reader.end()])
})

const shown: Readonly<Record<string, object>> = {
  'blocked.sql': { waiting: 'waiting', holder: 'forgotten', holder_state: 'idle in transaction' },
  'concurrency-keys.sql': { key: 'keyed k', waiting: '2', task: 'keyed', node: 'eu-1' },
  'connections.sql': { application_name: 'forgotten', state: 'idle in transaction', sessions: '1' },
  'dead-rows.sql': { table: 'task_run' },
  'errors.sql': { fingerprint: 'f1', message: 'no luck', seen_in_a_day: '7' },
  'failures.sql': { task: 'fails', outcome: 'failed', code: 'TASK_ERROR', detail: 'no luck', node: 'eu-1' },
  'heartbeat-failures.sql': { node: 'eu-1', consecutive: 3, error: 'ECONNRESET' },
  'held-runs.sql': { task: 'held', status: 'RUNNING', node: 'eu-1' },
  'nodes.sql': { name: 'eu-1', state: 'lost', draining_by: 'ada' },
  'old-snapshots.sql': { kind: 'session', name: 'forgotten' },
  'queues.sql': { queue: 'default', task: 'unserved', ready: '2' },
  'recoveries.sql': { task: 'fails', was: 'RUNNING', became: 'FAILED', lost_node: 'eu-1', reviewed_by: null },
  'refused-writes.sql': { task: 'fails', kind: 'refused-log', node: 'eu-1' },
  'throughput.sql': { task: 'fails', started: '4', mean_ms: '1000' },
  'unserved.sql': { queue: 'default', task: 'unserved' },
  'workflows.sql': { name: 'import', status: 'RUNNING', steps: 'AVAILABLE 1' },
}

test('every query is listed in the README of its folder', async () => {
  const readme = await readFile(new URL('README.md', folder), 'utf8')
  expect(files).toEqual(Object.keys(shown))
  expect([...readme.matchAll(/^\| `(\S+\.sql)`/gm)].map(([, file]) => file)).toEqual(expect.arrayContaining(files))
})

test.each(files)('%s shows the incident, and writes nothing', async (file) => {
  const { rows } = await reader.query<object>(await readFile(new URL(file, folder), 'utf8'))
  expect(rows).toContainEqual(expect.objectContaining(shown[file]))
})

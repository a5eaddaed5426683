/** A database with something of everything, made by the verbs of the store: no replica has to run, and nothing has to be waited for. */
import { sql } from 'kysely'
import { asRunId, connect, createStore, type RunId, type Store } from '@q/store'
import { testDatabase } from '@q/testing'

const second = 1_000
const by = { hostname: 'host-1', pid: 4711, thread: 1 }

export interface ExampleCluster {
  readonly env: { readonly DATABASE_URL: string }
  readonly store: Store
  readonly runs: Readonly<
    Record<'succeeded' | 'failed' | 'running' | 'ready' | 'gated' | 'later' | 'unpublished' | 'lost', RunId>
  >
  readonly workflow: string
  readonly fingerprint: string
  execute(statement: ReturnType<typeof sql>): Promise<void>
  /** Registers where a node can be reached. */
  nameEndpoint(node: string, url: string): Promise<void>
  close(): Promise<void>
}

export async function exampleCluster(): Promise<ExampleCluster> {
  const database = await testDatabase()
  const connection = connect(database.url, { purpose: 'pool', connectionsMax: 1 })
  const { db } = connection
  const store = createStore(db)
  await registerNodes(store)
  await sql`UPDATE q.replica_heartbeat SET last_heartbeat = last_heartbeat - interval '1 hour' WHERE replica_id = 'aaaaaaaaaaa3'`.execute(
    db,
  )
  const enqueue = async (task: string, more: object = {}) => {
    const lane = await store.internLane({ queue: task === 'render' ? 'media' : 'default', task })
    const [run] = await store.enqueueTaskRuns([{ task, lane, payload: { big: 1 }, ...more }])
    return asRunId(String(run?.id))!
  }
  const claim = (replicaId: string, task: string) =>
    store.claimAvailableTaskRuns({ replicaId, tasks: [task], queues: [], limit: 1 })

  const succeeded = await enqueue('render')
  const [first] = await claim('aaaaaaaaaaa1', 'render')
  const lease = { runId: first!.runId, fence: first!.fence }
  await store.appendTaskLogs([
    { lease, lineNo: 1, ageMs: 5, level: 30, line: 'rendering', facts: { ms: 100 } },
    { lease, lineNo: 2, ageMs: 1, level: 40, line: 'rendered with warnings', facts: {} },
  ])
  await store.settleTaskRuns([{ lease, outcome: { status: 'SUCCEEDED', result: '{"frames":20}' }, by }])
  const failed = await enqueue('resize')
  const [other] = await claim('aaaaaaaaaaa1', 'resize')
  const fingerprint = '9f3a000000000001'
  const failure = { status: 'FAILED', code: 'TASK_ERROR', detail: 'ECONNRESET', fingerprint } as const
  await store.settleTaskRuns([{ lease: { runId: other!.runId, fence: other!.fence }, outcome: failure, by }])
  const lost = await enqueue('report')
  await claim('aaaaaaaaaaa3', 'report')
  await sql`UPDATE q.task_run SET claimed_at = claimed_at - interval '1 hour', started_at = started_at - interval '1 hour'
    WHERE id = ${lost}`.execute(db)
  await store.reap({ by: 'aaaaaaaaaaa1' })
  const running = await enqueue('render')
  await claim('aaaaaaaaaaa1', 'render')
  const ready = await enqueue('resize')
  const keyed = { concurrency: { scope: 'keyed', key: 'a' } }
  await enqueue('keyed', keyed)
  const gated = await enqueue('keyed', keyed)
  const later = await enqueue('render', { delayMs: 3_600_000 })
  const { rows } = await sql<{ id: string }>`SELECT id FROM q.enqueue('unpublished')`.execute(db)
  const unpublished = asRunId(String(rows[0]?.id))!
  await store.pauseQueue('video', 'ada', 'bad deploy')
  await store.putSchedule({
    name: 'nightly',
    task: 'report',
    cron: '0 3 * * *',
    timezone: 'UTC',
    missed: 'one',
    payload: {},
  })
  const workflow = await startWorkflow(store)
  await store.flushTally({
    replicaId: 'aaaaaaaaaaa1',
    flushNo: 1,
    runs: [],
    errors: [
      {
        fingerprint,
        code: 'TASK_ERROR',
        name: 'Error',
        message: 'ECONNRESET',
        place: 'resize (tasks.ts)',
        seen: 5,
        lastRunId: failed,
        tasks: ['resize'],
        version: '0.1.0',
      },
    ],
  })
  return {
    env: { DATABASE_URL: database.url },
    store,
    runs: { succeeded, failed, running, ready, gated, later, unpublished, lost },
    workflow,
    fingerprint,
    execute: async (statement) => void (await statement.execute(db)),
    nameEndpoint: async (node, url) =>
      void (await sql`UPDATE q.replica SET endpoint = ${url} WHERE name = ${node}`.execute(db)),
    async close() {
      await connection.close()
      await database.drop()
    },
  }
}

async function startWorkflow(store: Store): Promise<string> {
  const step = { kind: 'task', name: 'a', task: 'resize', payload: { value: null, holes: {} } } as const
  const lane = await store.internLane({ queue: 'default', task: 'resize' })
  const { id } = await store.startWorkflow({
    plan: { name: 'import', steps: [step] },
    tasks: { resize: { lane } },
    input: null,
  })
  return id
}

async function registerNodes(store: Store): Promise<void> {
  const beat = { replicaBeatMs: 10 * second, claimerBeatMs: 10 * second, runnerBeatMs: 10 * second }
  const stale = { replicaStaleMs: 600 * second, claimerStaleMs: 600 * second, runnerStaleMs: 600 * second }
  const tasks = ['keyed', 'render', 'report', 'resize']
  for (const [index, name] of ['eu-1', 'eu-2', 'eu-3'].entries()) {
    await store.registerReplica({
      id: `aaaaaaaaaaa${index + 1}`,
      name,
      hostname: `host-${index + 1}`,
      pid: 4711,
      version: '0.1.0',
      tasks,
      queues: [],
      capabilities: [],
      slots: 4,
      preset: 'default',
      onCrash: 'fail',
      thresholds: { ...beat, ...stale, checkEveryMs: 30 * second },
    })
  }
  await store.publishTasks(
    'aaaaaaaaaaa1',
    tasks.map((name) => ({ name, queue: name === 'render' ? 'media' : 'default', options: {}, payloadSchema: null })),
  )
}

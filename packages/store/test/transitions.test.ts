/** Every edge of the state table is one that a verb of the store performs; an edge without a performer does not compile. */
import type { TaskState, transitionTable } from '@q/schema'
import { sql } from 'kysely'
import { afterEach, beforeAll, expect, test } from 'vitest'
import type { ClaimedRun } from '@q/store'
import { by, leaseOf } from './fixture.ts'
import { failed, plain, step, succeeded, workflowFixture } from './workflow-fixture.ts'

const { db, store, enqueue, claimOne, start, end } = await workflowFixture()

type Performer = () => Promise<unknown>
type Performers = { [From in TaskState]: { [To in keyof (typeof transitionTable)[From]]: Performer } }

const task = 'edge'
const hourMs = 3_600_000

const performers: Performers = {
  PENDING: {
    AVAILABLE: async () => {
      await enqueue(task, { delayMs: hourMs })
      await sql`UPDATE q.task_run SET run_at = clock_timestamp() WHERE status = 'PENDING'`.execute(db)
      await store.promoteDueTaskRuns(10)
    },
    FAILED: async () => {
      const over = { from: 'input', at: '' } as const
      await start({ steps: [{ kind: 'map', name: 'map', task, over, payload: plain() }] }, 'not a list')
    },
    CANCELLED: async () => store.cancelTaskRuns(await enqueue(task, { delayMs: hourMs })),
    EXPIRED: async () => {
      await enqueue(task, { delayMs: hourMs, expiresInMs: 0 })
      await store.expireTaskRuns(10)
    },
    SKIPPED: async () => {
      await start({ steps: [step('parent'), step('child', ['parent'])], onError: 'continue' })
      await end('parent', failed)
    },
  },
  AVAILABLE: {
    PENDING: async () => store.pauseWorkflow((await start({ steps: [step('held')] })).id, 'ada'),
    CLAIMED: prefetched,
    RUNNING: running,
    FAILED: async () => {
      await enqueue(task)
      await store.failUnroutableTaskRuns({ graceMs: 0, gapMsMax: hourMs, limit: 10 })
    },
    CANCELLED: async () => store.cancelTaskRuns(await enqueue(task)),
    EXPIRED: async () => {
      await enqueue(task, { expiresInMs: 0 })
      await store.expireTaskRuns(10)
    },
    SKIPPED: async () => {
      await start({ steps: [step('first'), step('ready')], onError: 'fail' })
      await end('first', failed)
    },
  },
  CLAIMED: {
    PENDING: async () => {
      const { id } = await start({ steps: [step(task)] })
      await claimAhead()
      await store.pauseWorkflow(id, 'ada')
    },
    AVAILABLE: async () => store.releaseTaskRuns([leaseOf(await prefetched())]),
    RUNNING: async () => store.startTaskRuns([leaseOf(await prefetched())]),
    CANCELLED: async () => store.cancelTaskRuns([(await prefetched()).runId]),
    EXPIRED: async () => {
      const { runId } = await prefetched()
      await db
        .updateTable('q.task_run')
        .set({ expires_at: new Date(0) })
        .where('id', '=', runId)
        .execute()
      await store.expireTaskRuns(10)
    },
  },
  RUNNING: {
    PENDING: async () => store.snoozeTaskRun(leaseOf(await running()), hourMs),
    AVAILABLE: async () => store.releaseTaskRuns([leaseOf(await running())]),
    SUCCEEDED: async () => store.settleTaskRuns([{ lease: leaseOf(await running()), outcome: succeeded, by }]),
    FAILED: async () => store.settleTaskRuns([{ lease: leaseOf(await running()), outcome: failed, by }]),
    CANCELLED: async () => {
      const run = await running()
      await store.cancelTaskRuns([run.runId])
      await store.releaseTaskRuns([leaseOf(run)])
    },
  },
  SUCCEEDED: {},
  FAILED: {},
  CANCELLED: {},
  EXPIRED: {},
  SKIPPED: {},
}

beforeAll(async () => {
  await sql`CREATE TABLE performed (edge text)`.execute(db)
  await sql`CREATE FUNCTION record_edge() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN INSERT INTO public.performed VALUES (OLD.status || ' to ' || NEW.status); RETURN NULL; END $$`.execute(db)
  await sql`CREATE TRIGGER record_edge AFTER UPDATE ON q.task_run FOR EACH ROW WHEN (OLD.status <> NEW.status)
    EXECUTE FUNCTION record_edge()`.execute(db)
})

afterEach(() => sql`TRUNCATE performed, q.task_run, q.workflow CASCADE`.execute(db))

const edges = Object.entries(performers).flatMap(([from, byTarget]) =>
  Object.entries<Performer>(byTarget).map(([to, perform]) => ({ edge: `${from} to ${to}`, perform })),
)

test.each(edges)('a verb performs $edge', async ({ edge, perform }) => {
  await perform()
  const { rows } = await sql<{ edge: string }>`SELECT edge FROM performed`.execute(db)
  expect(rows.map((row) => row.edge)).toContain(edge)
})

async function running(): Promise<ClaimedRun> {
  await enqueue(task)
  return claimOne(task)
}

async function prefetched(): Promise<ClaimedRun> {
  await enqueue(task)
  return claimAhead()
}

async function claimAhead(): Promise<ClaimedRun> {
  const [run] = await store.claimAvailableTaskRuns({
    replicaId: 'r',
    tasks: [task],
    queues: [],
    limit: 1,
    prefetch: true,
  })
  if (run === undefined) throw new Error('nothing to claim')
  return run
}

import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import type { DB } from '@q/schema'
import type { RunId } from '@q/store'
import { by, fixture, leaseOf } from './fixture.ts'

const { store, db, enqueue, claimOne, another } = await fixture()
const keepMs = 3_600_000

// Whatever another test left in the table would be pruned, too.
beforeEach(() => sql`TRUNCATE q.task_run, q.workflow, q.unique_period CASCADE`.execute(db))

/** All of the table, a few rows at a time. */
async function prune(limit = 3): Promise<number> {
  let pruned = 0
  let after: RunId | undefined
  do {
    const answer = await store.pruneTaskRuns({ keepMs, limit, ...(after !== undefined && { after }) })
    pruned += answer.pruned
    after = answer.next
  } while (after !== undefined)
  return pruned
}

async function ended(task: string, more: { unique_key?: string; workflow_id?: string } = {}): Promise<RunId> {
  const [id] = await enqueue(task)
  await db
    .updateTable('q.task_run')
    .set({
      ...more,
      status: 'CANCELLED',
      result: '{"code":"TASK_CANCELLED"}',
      finished_at: sql<Date>`clock_timestamp()`,
    })
    .where('id', '=', id!)
    .execute()
  await age(id!)
  return id!
}

/** As if it had ended two hours ago. The guard rejects every change of an end. */
async function age(id: RunId): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await sql`ALTER TABLE q.task_run DISABLE TRIGGER task_run_guard`.execute(trx)
    await sql`UPDATE q.task_run SET finished_at = finished_at - interval '2 hours' WHERE id = ${id}`.execute(trx)
    await sql`ALTER TABLE q.task_run ENABLE TRIGGER task_run_guard`.execute(trx)
  })
}

async function exists(id: RunId): Promise<boolean> {
  return (await db.selectFrom('q.task_run').select('id').where('id', '=', id).execute()).length === 1
}

type OfRuns = 'q.task_attempt' | 'q.recovery' | 'q.task_log' | 'q.task_event' | 'q.workflow_step'
const tables: readonly (OfRuns & keyof DB)[] = [
  'q.task_attempt',
  'q.recovery',
  'q.task_log',
  'q.task_event',
  'q.workflow_step',
]

async function left(id: RunId): Promise<string[]> {
  const found: string[] = []
  for (const table of tables) {
    const { rows } = await sql`SELECT FROM ${sql.table(table)} WHERE run_id = ${id}`.execute(db)
    if (rows.length > 0) found.push(table)
  }
  return found
}

async function addWorkflow(finished: boolean): Promise<string> {
  const end = finished ? sql<Date>`clock_timestamp()` : null
  const { id } = await db
    .insertInto('q.workflow')
    .values({ name: 'w', status: finished ? 'SUCCEEDED' : 'RUNNING', finished_at: end })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

test('a run that ended long ago is removed with all its records', async () => {
  const [id] = await enqueue('everything', { maxAttempts: 2, uniqueKey: 'u', uniqueForMs: 60_000 })
  const old = leaseOf(await claimOne('everything', 'never-alive'))
  await store.appendTaskLogs([{ lease: old, lineNo: 1, level: 30, line: 'here', ageMs: 0 }])
  await store.reap({ by: 'reaper' })
  await store.checkpointTaskRun(old, '1')
  expect(await left(id!)).toEqual(['q.task_attempt', 'q.recovery', 'q.task_log', 'q.task_event'])
  await age(id!)
  expect(await prune()).toBe(0) // its key is its own
  await sql`UPDATE q.unique_period SET until = until - interval '1 hour'`.execute(db)
  expect(await prune()).toBe(1)
  expect(await exists(id!)).toBe(false)
  expect(await left(id!)).toEqual([])
  expect(await db.selectFrom('q.unique_period').selectAll().execute()).toEqual([])
})

test('the heartbeats of a run that manual SQL ended are removed with it', async () => {
  const [id] = await enqueue('manual')
  const lease = leaseOf(await claimOne('manual'))
  const sender = { replicaId: 'replica-aaaa', hostname: 'h', pid: 1 }
  await store.beatTaskRuns(sender, [{ lease, thread: 0, ageMs: 0, progress: null, note: null }])
  await sql`UPDATE q.task_run SET status = 'FAILED', result = '{"code":"TASK_ERROR"}', finished_at = clock_timestamp()
    WHERE id = ${id}`.execute(db)
  await age(id!)
  expect(await prune()).toBe(1)
  expect(await db.selectFrom('q.task_heartbeat').selectAll().where('run_id', '=', id!).execute()).toEqual([])
})

test('a report that was not delivered keeps no run, and is still sent', async () => {
  await store.putDestination({ name: 'hook', kind: 'log', reports: ['run-ended'] })
  const [id] = await enqueue('reported')
  const lease = leaseOf(await claimOne('reported'))
  await store.settleTaskRuns([{ lease, outcome: { status: 'SUCCEEDED', result: '1' }, by }])
  await age(id!)
  expect(await prune()).toBe(1)
  expect(await exists(id!)).toBe(false)
  const leased = await store.leaseDeliveries({ destination: 'hook', holder: 'a', limit: 10, forMs: 60_000 })
  expect(leased).toMatchObject([{ orderKey: `run/${id}`, payload: { runId: id, status: 'SUCCEEDED' } }])
  await store.removeDestination('hook')
})

test('a run that has not ended, or has just ended, stays', async () => {
  const [waiting] = await enqueue('fresh')
  await enqueue('fresh-end')
  const lease = leaseOf(await claimOne('fresh-end'))
  await store.settleTaskRuns([{ lease, outcome: { status: 'SUCCEEDED', result: '1' }, by }])
  await prune()
  expect([await exists(waiting!), await exists(lease.runId)]).toEqual([true, true])
})

test('a task decides how long its runs are kept', async () => {
  const [longer, shorter] = [await ended('kept-longer'), await ended('kept-shorter')]
  const notice = { queue: 'default', payloadSchema: null }
  await store.publishTasks('r', [
    { ...notice, name: 'kept-longer', options: { keepMs: 86_400_000 } },
    { ...notice, name: 'kept-shorter', options: { keepMs: 1_000 } },
  ])
  await prune()
  expect([await exists(longer), await exists(shorter)]).toEqual([true, false])
})

test('a step that an open step needs stays, and is removed with its edges when no step does', async () => {
  const parent = await ended('parent')
  const [child] = await enqueue('child')
  await db.insertInto('q.workflow_edge').values({ parent_id: parent, child_id: child! }).execute()
  await prune()
  expect(await exists(parent)).toBe(true)
  await store.cancelTaskRuns([child!])
  await prune()
  expect(await exists(parent)).toBe(false)
  expect(await db.selectFrom('q.workflow_edge').selectAll().execute()).toEqual([])
})

test('a workflow is removed as a whole, long after its end and not with the first of its steps', async () => {
  const going = await addWorkflow(false)
  const over = await addWorkflow(true)
  const within = await addWorkflow(true)
  await sql`UPDATE q.workflow SET root_id = ${over} WHERE id = ${within}`.execute(db)
  const step = async (workflow_id: string, name: string) => {
    const id = await ended('step', { workflow_id })
    await db.insertInto('q.workflow_step').values({ run_id: id, workflow_id, name }).execute()
    return id
  }
  const kept = await step(going, 'a')
  const steps = [await step(over, 'a'), await step(over, 'b'), await step(within, 'c')]
  await db.insertInto('q.workflow_edge').values({ parent_id: steps[0]!, child_id: steps[1]! }).execute()
  const pruneWorkflows = async () => (await store.pruneWorkflows({ keepMs, limit: 100 })).pruned
  await prune()
  expect(await pruneWorkflows()).toBe(0)
  expect(await workflows()).toEqual([going, over, within])
  expect(await Promise.all(steps.map(exists))).toEqual([true, true, true])
  await sql`UPDATE q.workflow SET finished_at = finished_at - interval '1 day' WHERE finished_at IS NOT NULL`.execute(
    db,
  )
  expect(await pruneWorkflows()).toBe(1)
  expect(await workflows()).toEqual([going])
  expect(await exists(kept)).toBe(true)
  expect(await Promise.all(steps.map(exists))).toEqual([false, false, false])
  expect(await left(steps[0]!)).toEqual([])
  expect(await db.selectFrom('q.workflow_edge').selectAll().execute()).toEqual([])
})

test('a prune removes a bounded number of runs, at least one workflow, and continues with the next', async () => {
  const ids = [await addWorkflow(true), await addWorkflow(true), await addWorkflow(true)]
  for (const workflow_id of ids) for (let run = 0; run < 2; run++) await ended('step', { workflow_id })
  await sql`UPDATE q.workflow SET finished_at = finished_at - interval '1 day'`.execute(db)
  const first = await store.pruneWorkflows({ keepMs, limit: 100, runsMax: 3 })
  expect([first.pruned, await workflows()]).toEqual([2, [ids[2]]])
  const second = await store.pruneWorkflows({ keepMs, limit: 100, runsMax: 1, after: first.next! })
  expect(second).toEqual({ pruned: 1, next: undefined })
})

async function workflows(): Promise<string[]> {
  const rows = await db.selectFrom('q.workflow').select('id').orderBy('id').execute()
  return rows.map(({ id }) => id)
}

test('a unique period that a later run took over is not removed with the earlier run', async () => {
  const early = await ended('periods', { unique_key: 'k' })
  const [late] = await enqueue('periods', { uniqueKey: 'k', uniqueForMs: 60_000 })
  await prune()
  expect(await exists(early)).toBe(false)
  const rows = await db.selectFrom('q.unique_period').select('run_id').where('task', '=', 'periods').execute()
  expect(rows).toEqual([{ run_id: late }])
})

test('a locked run is left to the next call, and no caller waits', async () => {
  const locked = await ended('locked')
  const other = await ended('not-locked')
  await db.transaction().execute(async (trx) => {
    await trx.selectFrom('q.task_run').select('id').where('id', '=', locked).forUpdate().execute()
    await another().pruneTaskRuns({ keepMs, limit: 10_000 })
    expect([await exists(locked), await exists(other)]).toEqual([true, false])
  })
  await prune()
  expect(await exists(locked)).toBe(false)
})

test('two concurrent prunes do not block each other', async () => {
  for (let round = 0; round < 3; round++) {
    const ids = []
    for (let run = 0; run < 10; run++) ids.push(await ended('raced'))
    const answers = await Promise.all([another(), another()].map((own) => own.pruneTaskRuns({ keepMs, limit: 10_000 })))
    expect(answers.reduce((sum, { pruned }) => sum + pruned, 0)).toBe(10)
  }
})

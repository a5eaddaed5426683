/** What the end of a step does to the steps that wait for it, in the same transaction. */
import { beforeEach, expect, test } from 'vitest'
import { sql } from 'kysely'
import { finishTaskRun, settleTaskRuns, type Outcome, type RunId } from '@q/store'
import { by, fixture, leaseOf } from './fixture.ts'

const { store, enqueue, claimOne, row, db, another } = await fixture()

const failed: Outcome = { status: 'FAILED', code: 'TASK_ERROR', detail: 'on purpose' }
const succeeded: Outcome = { status: 'SUCCEEDED', result: '1' }
let workflow = 0

beforeEach(async () => {
  const { id } = await db
    .insertInto('q.workflow')
    .values({ name: 'test', on_error: 'continue' })
    .returning('id')
    .executeTakeFirstOrThrow()
  workflow = Number(id)
})

interface Step {
  /** How many of its parents must succeed; all unless said. */
  readonly needs?: number
  readonly allowsFailed?: boolean
  readonly key?: string
  readonly delayMs?: number
}

async function step(parents: readonly RunId[], options: Step = {}): Promise<RunId> {
  const { needs = parents.length, allowsFailed = false, key, delayMs } = options
  const concurrency = key === undefined ? {} : { concurrency: { scope: 'steps', key } }
  const [id] = await db.transaction().execute(async () => enqueue('step', { delayMs: delayMs ?? 1, ...concurrency }))
  await sql`UPDATE q.task_run SET workflow_id = ${workflow}, waiting_on = ${needs},
    waiting_for = ${parents.length > 0 ? 'parents' : 'time'}, run_at = run_at - interval '1 second' WHERE id = ${id}`.execute(
    db,
  )
  await sql`UPDATE q.workflow SET open_steps = open_steps + 1 WHERE id = ${workflow}`.execute(db)
  if (parents.length === 0) await store.promoteDueTaskRuns(100)
  await db
    .insertInto('q.workflow_step')
    .values({
      run_id: id!,
      workflow_id: workflow,
      name: `step ${id}`,
      needs,
      tolerates: parents.length - needs,
      allows_failed: allowsFailed,
    })
    .execute()
  for (const parent of parents)
    await db.insertInto('q.workflow_edge').values({ parent_id: parent, child_id: id! }).execute()
  return id!
}

/** Runs the step that is ready, whichever it is, to this end. */
async function end(outcome: Outcome): Promise<RunId> {
  const run = await claimOne('step')
  expect(await store.settleTaskRuns([{ lease: leaseOf(run), outcome, by }])).toEqual(['settled'])
  return run.runId
}

test('a child of two parents becomes available with the end of the second', async () => {
  const parents = [await step([]), await step([])]
  const child = await step(parents)
  await end(succeeded)
  expect(await row(child)).toMatchObject({ status: 'PENDING', waiting_for: 'parents', waiting_on: 1 })
  await end(succeeded)
  expect(await row(child)).toMatchObject({ status: 'AVAILABLE', waiting_for: null, waiting_on: 0 })
  await end(succeeded)
})

test('a failed parent skips its children, and theirs, in the same transaction', async () => {
  const parent = await step([])
  const child = await step([parent])
  const grandchild = await step([child])
  await end(failed)
  expect(await row(child)).toMatchObject({ status: 'SKIPPED', result: { code: 'UPSTREAM_FAILED' } })
  expect(await row(grandchild)).toMatchObject({ status: 'SKIPPED', result: { code: 'UPSTREAM_SKIPPED' } })
})

test('a child that allows failed parents runs after any end', async () => {
  const child = await step([await step([])], { allowsFailed: true })
  await end(failed)
  expect(await row(child)).toMatchObject({ status: 'AVAILABLE' })
  await end(succeeded)
})

test('for a join of any, one of three parents is enough, and later ends change nothing', async () => {
  const parents = [await step([]), await step([]), await step([])]
  const child = await step(parents, { needs: 1 })
  await end(failed)
  expect(await row(child)).toMatchObject({ status: 'PENDING' })
  const [second, third] = [await claimOne('step'), await claimOne('step')]
  await store.settleTaskRuns([{ lease: leaseOf(second), outcome: succeeded, by }])
  expect(await row(child)).toMatchObject({ status: 'AVAILABLE' })
  await store.settleTaskRuns([{ lease: leaseOf(third), outcome: failed, by }])
  expect(await row(child)).toMatchObject({ status: 'AVAILABLE' })
  await end(succeeded)
})

test('a quorum that can no longer be reached skips the child at once', async () => {
  const parents = [await step([]), await step([]), await step([])]
  const child = await step(parents, { needs: 2 })
  await end(failed)
  expect(await row(child)).toMatchObject({ status: 'PENDING' })
  await end(failed)
  expect(await row(child)).toMatchObject({ status: 'SKIPPED', result: { code: 'UPSTREAM_FAILED' } })
  await end(succeeded)
})

test('released children pass the other gates: time, then concurrency', async () => {
  const parent = await step([])
  const later = await step([parent], { delayMs: 3_600_000 })
  const keyed = [await step([parent], { key: 'one' }), await step([parent], { key: 'one' })]
  await end(succeeded)
  expect(await row(later)).toMatchObject({ status: 'PENDING', waiting_for: 'time' })
  const states = await Promise.all(keyed.map(async (id) => (await row(id)).status))
  expect(states).toEqual(['AVAILABLE', 'PENDING'])
  await store.cancelTaskRuns([later, ...keyed])
})

test('parents that end at the same time on two replicas release their child once', async () => {
  for (let round = 0; round < 20; round++) {
    const child = await step([await step([]), await step([])])
    const leases = [leaseOf(await claimOne('step')), leaseOf(await claimOne('step'))]
    await Promise.all(leases.map((lease) => another().settleTaskRuns([{ lease, outcome: succeeded, by }])))
    expect(await row(child)).toMatchObject({ status: 'AVAILABLE', waiting_on: 0 })
    await end(succeeded)
  }
})

test('a batch of parents settled together releases the child of all of them', async () => {
  const parents: RunId[] = []
  for (let number = 0; number < 5; number++) parents.push(await step([]))
  const child = await step(parents)
  const runs = await store.claimAvailableTaskRuns({ replicaId: 'r', tasks: ['step'], queues: [], limit: 5 })
  const answers = await store.settleTaskRuns(runs.map((run) => ({ lease: leaseOf(run), outcome: succeeded, by })))
  expect(new Set(answers)).toEqual(new Set(['settled']))
  expect(await row(child)).toMatchObject({ status: 'AVAILABLE' })
  await end(succeeded)
})

test('a parent that is reaped, cancelled or expired releases or skips its children like any other end', async () => {
  const [reaped, cancelled] = [await step([]), await step([])]
  const children = [await step([reaped]), await step([cancelled])]
  await sql`UPDATE q.task_run SET status = 'RUNNING', replica_id = 'fake-replica-id' WHERE id = ${reaped}`.execute(db)
  await store.reap({ by: 'ada' })
  expect(await store.cancelTaskRuns([cancelled])).toEqual(['cancelled'])
  for (const child of children)
    expect(await row(child)).toMatchObject({ status: 'SKIPPED', result: { code: 'UPSTREAM_FAILED' } })
})

test('a rollback of the user’s transaction also undoes the changes of dependents', async () => {
  const child = await step([await step([])])
  const run = await claimOne('step')
  const undone = db.transaction().execute(async (trx) => {
    expect(await finishTaskRun(trx, leaseOf(run), 1)).toBe('settled')
    throw new Error('undo')
  })
  await expect(undone).rejects.toThrow('undo')
  expect(await row(child)).toMatchObject({ status: 'PENDING', waiting_on: 1 })
  await db.transaction().execute((trx) => settleTaskRuns(trx, [{ lease: leaseOf(run), outcome: succeeded, by }]))
  expect(await row(child)).toMatchObject({ status: 'AVAILABLE' })
  await end(succeeded)
})

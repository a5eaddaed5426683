/** What a step that ends badly does to the others; pausing, cancelling and retrying a whole workflow. */
import { expect, test } from 'vitest'
import { by, leaseOf } from './fixture.ts'
import { failed, plain, step, succeeded, workflowFixture } from './workflow-fixture.ts'

const { start, end, take, store, claim, row, db } = await workflowFixture()

const twoBranches = [step('a'), step('b', ['a']), step('x'), step('y', ['x'])]

test('fail: waiting steps are skipped, running steps get a stop request, and the workflow fails when they have ended', async () => {
  const workflow = await start({ steps: [...twoBranches, step('claimed')], onError: 'fail' })
  const running = await take('x')
  await store.claimAvailableTaskRuns({ replicaId: 'r', tasks: ['claimed'], queues: [], limit: 1, prefetch: true })
  await end('a', failed)
  expect(await workflow.states()).toEqual({
    a: 'FAILED TASK_ERROR',
    b: 'SKIPPED UPSTREAM_FAILED',
    x: 'RUNNING',
    y: 'SKIPPED UPSTREAM_FAILED',
    claimed: 'CANCELLED TASK_CANCELLED',
  })
  expect((await row(running.runId)).cancel_requested_at).not.toBeNull()
  expect(await workflow.status()).toBe('RUNNING')
  await store.settleTaskRuns([{ lease: leaseOf(running), outcome: succeeded, by }])
  expect(await workflow.status()).toBe('FAILED')
  expect(await workflow.result()).toEqual({
    code: 'TASK_ERROR',
    detail: 'Step "a" ended FAILED: on purpose',
    step: 'a',
  })
})

test('continue: only dependents of the failed step are skipped, and the workflow fails at its end', async () => {
  const workflow = await start({ steps: twoBranches, onError: 'continue' })
  await end('a', failed)
  expect(await workflow.states()).toMatchObject({ b: 'SKIPPED UPSTREAM_FAILED', x: 'AVAILABLE', y: 'PENDING' })
  await end('x')
  expect(await workflow.status()).toBe('RUNNING')
  await end('y')
  expect(await workflow.status()).toBe('FAILED')
})

test('pause: no step begins, running steps continue; after a resume the workflow continues', async () => {
  const workflow = await start({ steps: twoBranches, onError: 'pause' })
  const running = await take('x')
  await end('a', failed)
  expect(await workflow.status()).toBe('PAUSED')
  await store.settleTaskRuns([{ lease: leaseOf(running), outcome: succeeded, by }])
  expect((await store.listSteps(workflow.id)).find(({ name }) => name === 'y')).toMatchObject({
    status: 'PENDING',
    waitingFor: 'workflow',
  })
  expect(await store.resumeWorkflow(workflow.id)).toBe('resumed')
  await end('y')
  expect(await workflow.status()).toBe('FAILED')
})

test('pause: a failed step can be retried, and the workflow continues as if it had not failed', async () => {
  const workflow = await start({ steps: twoBranches, onError: 'pause' })
  await end('a', failed)
  expect(await store.retryFailedSteps(workflow.id)).toBe('retried')
  expect(await workflow.states()).toEqual({ a: 'AVAILABLE', b: 'PENDING', x: 'AVAILABLE', y: 'PENDING' })
  for (const name of ['a', 'b', 'x', 'y']) await end(name)
  expect(await workflow.status()).toBe('SUCCEEDED')
})

test('a paused workflow whose steps have all ended ends when it is resumed', async () => {
  const workflow = await start({ steps: [step('a'), step('b', ['a'])], onError: 'pause' })
  await end('a', failed)
  expect(await workflow.states()).toEqual({ a: 'FAILED TASK_ERROR', b: 'SKIPPED UPSTREAM_FAILED' })
  expect(await workflow.status()).toBe('PAUSED')
  await store.resumeWorkflow(workflow.id)
  expect(await workflow.status()).toBe('FAILED')
})

test('while a workflow is paused none of its steps can be claimed, at whichever gate it waited, and a prefetched step is released', async () => {
  const concurrency = { keyed: { concurrency: { scope: 'paused', at: '/k' } } }
  const keyed = { task: 'keyed', payload: plain({ k: 1 }) }
  const workflow = await start(
    {
      steps: [
        step('a'),
        step('ahead'),
        step('soon', [], { options: { delayMs: 1 } }),
        step('one', [], keyed),
        step('two', [], keyed),
        step('running'),
      ],
    },
    {},
    concurrency,
  )
  const [ahead] = await store.claimAvailableTaskRuns({
    replicaId: 'r',
    tasks: ['ahead'],
    queues: [],
    limit: 1,
    prefetch: true,
  })
  const running = await take('running')
  expect(await store.pauseWorkflow(workflow.id, 'ada')).toBe('paused')
  expect(await store.pauseWorkflow(workflow.id, 'ada')).toBe('already-paused')
  expect(await store.startTaskRuns([leaseOf(ahead!)])).toEqual([])
  await store.promoteDueTaskRuns(100)
  await store.sweepGatedKeys(100)
  await store.releaseTaskRuns([leaseOf(running)])
  const waiting = await store.listSteps(workflow.id)
  expect(waiting.map(({ status, waitingFor }) => `${status} ${waitingFor}`)).toEqual(Array(6).fill('PENDING workflow'))
  expect(await store.resumeWorkflow(workflow.id)).toBe('resumed')
  expect(await store.resumeWorkflow(workflow.id)).toBe('not-paused')
  await store.promoteDueTaskRuns(100)
  const states = await workflow.states()
  expect(Object.values(states).filter((state) => state === 'AVAILABLE')).toHaveLength(5)
  for (const name of ['a', 'ahead', 'soon', 'keyed', 'keyed', 'running']) await end(name)
  expect(await workflow.status()).toBe('SUCCEEDED')
})

test('cancel: waiting steps end at once, running steps when they stop, and then the workflow', async () => {
  const workflow = await start({ steps: twoBranches })
  const running = await take('a')
  expect(await store.cancelWorkflow(workflow.id)).toBe('requested')
  expect(await workflow.states()).toMatchObject({
    a: 'RUNNING',
    b: 'CANCELLED TASK_CANCELLED',
    x: 'CANCELLED TASK_CANCELLED',
  })
  expect(await store.cancelWorkflow(workflow.id)).toBe('ending')
  expect(await store.pauseWorkflow(workflow.id, 'x')).toBe('ending')
  const outcome = { status: 'CANCELLED', code: 'TASK_CANCELLED', detail: 'stopped' } as const
  await store.settleTaskRuns([{ lease: leaseOf(running), outcome, by }])
  expect(await workflow.status()).toBe('CANCELLED')
  expect(await store.cancelWorkflow(workflow.id)).toBe('already-ended')
})

test('a paused workflow can be cancelled', async () => {
  const workflow = await start({ steps: twoBranches })
  await store.pauseWorkflow(workflow.id, 'ada')
  expect(await store.cancelWorkflow(workflow.id)).toBe('cancelled')
  expect(await workflow.status()).toBe('CANCELLED')
})

test('a step that is cancelled or expires counts like one that failed', async () => {
  const expiring = await start({ steps: [step('a', [], { options: { expiresInMs: 0 } }), step('b', ['a'])] })
  await store.expireTaskRuns(10)
  expect(await expiring.states()).toEqual({ a: 'EXPIRED TASK_EXPIRED', b: 'SKIPPED UPSTREAM_FAILED' })
  expect(await expiring.status()).toBe('FAILED')
  const workflow = await start({ steps: [step('a'), step('b', ['a'])] })
  await store.cancelTaskRuns([workflow.run('a')])
  expect(await workflow.states()).toEqual({ a: 'CANCELLED TASK_CANCELLED', b: 'SKIPPED UPSTREAM_FAILED' })
  expect(await workflow.status()).toBe('FAILED')
})

test('a step whose holder died has the same effects, in the same transaction', async () => {
  const workflow = await start({ steps: [step('a'), step('b', ['a'])] })
  await claim('a', 1, 'never-was')
  await store.reap({ by: 'ada' })
  expect(await workflow.states()).toEqual({ a: 'FAILED WORKER_CRASHED', b: 'SKIPPED UPSTREAM_FAILED' })
  expect(await workflow.status()).toBe('FAILED')
})

test('a locked workflow does not delay the recovery of steps of another workflow', async () => {
  const workflows = [await start({ steps: [step('a')] }), await start({ steps: [step('a')] })]
  await claim('a', 2, 'never-was')
  await db.transaction().execute(async (trx) => {
    await trx.selectFrom('q.workflow').select('id').where('id', '=', workflows[0]!.id).forUpdate().execute()
    expect((await store.reap({ by: 'ada' })).ids).toEqual([workflows[1]!.run('a')])
  })
  expect((await store.reap({ by: 'ada' })).ids).toEqual([workflows[0]!.run('a')])
})

test('a locked workflow does not delay the expiry of steps of another workflow', async () => {
  const late = { options: { expiresInMs: 0 } }
  const workflows = [await start({ steps: [step('a', [], late)] }), await start({ steps: [step('a', [], late)] })]
  await db.transaction().execute(async (trx) => {
    await trx.selectFrom('q.workflow').select('id').where('id', '=', workflows[0]!.id).forUpdate().execute()
    expect(await store.expireTaskRuns(10)).toEqual([workflows[1]!.run('a')])
  })
  expect(await store.expireTaskRuns(10)).toEqual([workflows[0]!.run('a')])
})

test('a cancel at the same time as the end of the last step: the workflow has one end', async () => {
  for (let round = 0; round < 10; round++) {
    const workflow = await start({ steps: [step('a')] })
    const run = await take('a')
    await Promise.all([
      store.settleTaskRuns([{ lease: leaseOf(run), outcome: succeeded, by }]),
      store.cancelWorkflow(workflow.id),
    ])
    const status = await workflow.status()
    expect(['SUCCEEDED', 'CANCELLED']).toContain(status)
    const { open_steps } = await db
      .selectFrom('q.workflow')
      .select('open_steps')
      .where('id', '=', workflow.id)
      .executeTakeFirstOrThrow()
    expect(open_steps).toBe(0)
  }
})

test('a tolerated failure becomes an error when the last step that tolerates it is skipped', async () => {
  const never = { when: { value: { from: 'input', at: '/no' }, is: 'truthy' } } as const
  const beside = [step('other'), step('more', ['other'])]
  const before = await start({ steps: [step('x', [], never), step('a'), step('c', ['x', 'a']), ...beside] })
  await end('a', failed)
  expect(await before.states()).toMatchObject({ other: 'SKIPPED UPSTREAM_FAILED', more: 'SKIPPED UPSTREAM_FAILED' })
  expect(await before.status()).toBe('FAILED')

  const c = step('c', ['x', 'a'], { join: { kind: 'any' } })
  const after = await start({ steps: [step('a'), step('s'), step('x', ['s'], never), c, ...beside] })
  await end('a', failed)
  expect(await after.states()).toMatchObject({ c: 'PENDING', other: 'AVAILABLE' })
  await end('s')
  expect(await after.states()).toMatchObject({ other: 'SKIPPED UPSTREAM_FAILED', more: 'SKIPPED UPSTREAM_FAILED' })
  expect(await after.result()).toMatchObject({ code: 'TASK_ERROR', step: 'a' })
})

test('a delay counts from the release by the parents, however often the workflow is paused', async () => {
  const workflow = await start({ steps: [step('a'), step('b', ['a'], { options: { delayMs: 3_600_000 } })] })
  await end('a')
  const { run_at: due } = await row(workflow.run('b'))
  await store.pauseWorkflow(workflow.id, 'ada')
  await store.resumeWorkflow(workflow.id)
  expect(await row(workflow.run('b'))).toMatchObject({ status: 'PENDING', waiting_for: 'time', run_at: due })
})

/** Manual retries of workflows and of single steps. */
import { expect, test } from 'vitest'
import { by, leaseOf } from './fixture.ts'
import { failed, step, workflowFixture } from './workflow-fixture.ts'

const { start, end, take, store, row } = await workflowFixture()

const twoBranches = [step('a'), step('b', ['a']), step('x'), step('y', ['x'])]

test('a step that is retried after a failure waits at the gate of its paused workflow', async () => {
  const workflow = await start({ steps: [step('a', [], { options: { maxAttempts: 2 } })] })
  const run = await take('a')
  await store.pauseWorkflow(workflow.id, 'ada')
  const retry = { delayMs: 0, delayMsMax: 0 }
  expect(
    await store.settleTaskRuns([{ lease: leaseOf(run), outcome: { ...failed, retry } as typeof failed, by }]),
  ).toEqual(['retried'])
  expect((await store.listSteps(workflow.id))[0]).toMatchObject({ waitingFor: 'workflow' })
  await store.resumeWorkflow(workflow.id)
  await store.promoteDueTaskRuns(10)
  await end('a')
  expect(await workflow.status()).toBe('SUCCEEDED')
})

test('retry after a failure: steps that did not succeed start again in a new epoch, the others stay', async () => {
  const workflow = await start({ steps: [step('a'), step('b', ['a']), step('c', ['b']), step('d', ['b', 'c'])] })
  await end('a')
  await end('b', failed)
  expect(await workflow.status()).toBe('FAILED')
  expect(await store.retryFailedSteps(workflow.id)).toBe('retried')
  expect(await workflow.states()).toEqual({ a: 'SUCCEEDED', b: 'AVAILABLE', c: 'PENDING', d: 'PENDING' })
  expect(await row(workflow.run('d'))).toMatchObject({ waiting_on: 2, epoch: 2 })
  for (const name of ['b', 'c', 'd']) await end(name)
  expect(await workflow.status()).toBe('SUCCEEDED')
  expect(await store.retryFailedSteps(workflow.id)).toBe('nothing-failed')
})

test('a step that is retried manually and ends a second time is counted once', async () => {
  const workflow = await start({ steps: [step('a'), step('x'), step('b', ['a', 'x'])] })
  await end('a')
  expect(await row(workflow.run('b'))).toMatchObject({ waiting_on: 1 })
  expect(await store.retryTaskRun(workflow.run('a'))).toBe('retried')
  expect(await row(workflow.run('b'))).toMatchObject({ waiting_on: 2 })
  await end('a')
  expect(await workflow.states()).toMatchObject({ b: 'PENDING' })
  await end('x')
  await end('b')
  expect(await workflow.status()).toBe('SUCCEEDED')
})

test('a manual retry of a step includes the steps skipped because of it, and its workflow runs again', async () => {
  const workflow = await start({ steps: [step('a'), step('b', ['a']), step('c', ['b'])] })
  await end('a', failed)
  expect(await workflow.status()).toBe('FAILED')
  expect(await store.retryTaskRun(workflow.run('a'))).toBe('retried')
  expect(await workflow.status()).toBe('RUNNING')
  for (const name of ['a', 'b', 'c']) await end(name)
  expect(await workflow.status()).toBe('SUCCEEDED')
})

test('retry after a failure, by step or as a whole, also continues branches that had not begun', async () => {
  for (const way of ['step', 'whole']) {
    const workflow = await start({ steps: twoBranches })
    await end('a', failed)
    expect(await workflow.states()).toMatchObject({ x: 'SKIPPED UPSTREAM_FAILED', y: 'SKIPPED UPSTREAM_FAILED' })
    if (way === 'step') await store.retryTaskRun(workflow.run('a'))
    else await store.retryFailedSteps(workflow.id)
    expect(await workflow.states()).toEqual({ a: 'AVAILABLE', b: 'PENDING', x: 'AVAILABLE', y: 'PENDING' })
    for (const name of ['a', 'b', 'x', 'y']) await end(name)
    expect(await workflow.status()).toBe('SUCCEEDED')
  }
})

/** Compensation: what undoes the steps of a workflow that did not succeed. */
import { expect, test } from 'vitest'
import { by, leaseOf } from './fixture.ts'
import { failed, step, succeeded, workflowFixture } from './workflow-fixture.ts'

const { start, end, take, store } = await workflowFixture()

const undone = (name: string, after: readonly string[] = []) =>
  step(name, after, {
    compensate: {
      task: 'undo',
      payload: { value: { of: name, was: null }, holes: { '/was': { from: 'step', step: name, at: '' } } },
    },
  })

test('a failed workflow compensates its successful steps one after the other, last first; a failed compensation stops no other', async () => {
  const workflow = await start({ steps: [undone('a'), undone('b', ['a']), step('c', ['b'])] })
  await end('a', { status: 'SUCCEEDED', result: '"A"' })
  await end('b', { status: 'SUCCEEDED', result: '"B"' })
  await end('c', failed)
  expect(await workflow.status()).toBe('RUNNING')
  expect(await store.retryFailedSteps(workflow.id)).toBe('compensated')
  expect(await workflow.states()).toMatchObject({ 'b (undo)': 'AVAILABLE', 'a (undo)': 'PENDING' })
  const first = await take('undo')
  expect(JSON.parse((await store.stepPayloads([first.runId])).get(first.runId)!)).toEqual({ of: 'b', was: 'B' })
  await store.settleTaskRuns([{ lease: leaseOf(first), outcome: failed, by }])
  expect(await workflow.status()).toBe('RUNNING')
  const second = await take('undo')
  expect(JSON.parse((await store.stepPayloads([second.runId])).get(second.runId)!)).toEqual({ of: 'a', was: 'A' })
  await store.settleTaskRuns([{ lease: leaseOf(second), outcome: succeeded, by }])
  expect(await workflow.status()).toBe('FAILED')
  expect(await workflow.result()).toMatchObject({ code: 'TASK_ERROR', step: 'c' })
})

test('a cancelled workflow compensates its successful steps too, and then ends CANCELLED', async () => {
  const workflow = await start({ steps: [undone('a'), step('c', ['a'])] })
  await end('a')
  expect(await store.cancelWorkflow(workflow.id)).toBe('requested')
  await end('undo')
  expect(await workflow.status()).toBe('CANCELLED')
})

test('a workflow that succeeds compensates nothing', async () => {
  const workflow = await start({ steps: [undone('a')] })
  await end('a')
  expect(await workflow.status()).toBe('SUCCEEDED')
  expect(await workflow.states()).toEqual({ a: 'SUCCEEDED' })
})

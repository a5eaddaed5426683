/** Workflows inside of workflows, and compensation. */
import { expect, test } from 'vitest'
import type { StepPlan } from '@q/schema/workflow'
import { by, leaseOf } from './fixture.ts'
import { failed, plain, step, succeeded, workflowFixture } from './workflow-fixture.ts'

const { start, started, end, take, store, claim } = await workflowFixture()

function inner(name: string, steps: readonly StepPlan[], after: readonly string[] = []): StepPlan {
  return {
    kind: 'workflow',
    name,
    after,
    input: { value: { n: null }, holes: { '/n': { from: 'input', at: '/n' } } },
    workflow: { name: 'inner', steps, output: { value: null, holes: { '': { from: 'step', step: 'in', at: '' } } } },
  }
}

const deep = step('in', [], { payload: { value: { n: null }, holes: { '/n': { from: 'input', at: '/n' } } } })

test('the output of a sub-workflow is the result of its step', async () => {
  const output = { value: null, holes: { '': { from: 'step', step: 'w', at: '/x' } } } as const
  const workflow = await start({ steps: [step('a'), inner('w', [deep], ['a']), step('b', ['w'])], output }, { n: 7 })
  await end('a')
  const run = await take('in')
  expect(JSON.parse(run.payload)).toEqual({ n: 7 })
  expect(await workflow.states()).toEqual({ a: 'SUCCEEDED', w: 'PENDING', b: 'PENDING' })
  await store.settleTaskRuns([{ lease: leaseOf(run), outcome: { status: 'SUCCEEDED', result: '{"x":3}' }, by }])
  expect(await workflow.states()).toEqual({ a: 'SUCCEEDED', w: 'SUCCEEDED', b: 'AVAILABLE' })
  await end('b')
  expect(await workflow.result()).toBe(3)
})

test('a sub-workflow that fails fails its step with its code; after a retry both continue', async () => {
  const workflow = await start({ steps: [inner('w', [deep, step('after', ['in'])]), step('b', ['w'])] }, { n: 1 })
  await end('in', failed)
  expect(await workflow.states()).toEqual({ w: 'FAILED TASK_ERROR', b: 'SKIPPED UPSTREAM_FAILED' })
  expect(await workflow.status()).toBe('FAILED')
  expect(await store.retryFailedSteps(workflow.id)).toBe('retried')
  const innerId = (await store.listSteps(workflow.id))[0]!.subWorkflowId!
  expect(await (await started(innerId)).states()).toEqual({ in: 'AVAILABLE', after: 'PENDING' })
  for (const name of ['in', 'after', 'b']) await end(name)
  expect(await workflow.status()).toBe('SUCCEEDED')
})

async function pausedInside() {
  const w: StepPlan = {
    kind: 'workflow',
    name: 'w',
    input: plain(),
    workflow: { name: 'inner', onError: 'pause', steps: [step('in'), step('after', ['in'])] },
  }
  const workflow = await start({ steps: [w] })
  await end('in', failed)
  const innerId = (await store.listSteps(workflow.id))[0]!.subWorkflowId!
  expect(await (await started(innerId)).status()).toBe('PAUSED')
  expect(await workflow.status()).toBe('RUNNING')
  return workflow
}

test('a sub-workflow that its own error paused ends when the outer workflow is resumed', async () => {
  const workflow = await pausedInside()
  expect(await store.resumeWorkflow(workflow.id)).toBe('resumed')
  expect(await workflow.states()).toEqual({ w: 'FAILED TASK_ERROR' })
})

test('a sub-workflow that its own error paused continues when the outer workflow is retried', async () => {
  const workflow = await pausedInside()
  expect(await store.retryFailedSteps(workflow.id)).toBe('retried')
  for (const name of ['in', 'after']) await end(name)
  expect(await workflow.status()).toBe('SUCCEEDED')
})

test('a compensated sub-workflow is started anew when its step is retried', async () => {
  const undo = { compensate: { task: 'undo', payload: plain() } }
  const w: StepPlan = {
    kind: 'workflow',
    name: 'w',
    input: plain(),
    workflow: { name: 'inner', steps: [step('in', [], undo), step('after', ['in'])] },
  }
  const workflow = await start({ steps: [w] })
  await end('in')
  await end('after', failed)
  expect(await workflow.status()).toBe('RUNNING')
  await end('undo')
  expect(await workflow.states()).toEqual({ w: 'FAILED TASK_ERROR' })
  const first = (await store.listSteps(workflow.id))[0]!.subWorkflowId
  expect(await store.retryFailedSteps(workflow.id)).toBe('retried')
  const second = (await store.listSteps(workflow.id))[0]!.subWorkflowId
  expect(second).not.toBe(first)
  for (const name of ['in', 'after']) await end(name)
  expect(await workflow.status()).toBe('SUCCEEDED')
})

test('the step of a sub-workflow that still undoes its steps is not retried', async () => {
  const undo = { compensate: { task: 'undo', payload: plain() } }
  const steps = [step('in', [], undo), step('after', ['in'])]
  const workflow = await start({
    steps: [{ kind: 'workflow', name: 'w', input: plain(), workflow: { name: 'inner', steps } }],
  })
  await end('in')
  const running = await take('after')
  expect(await store.cancelTaskRuns([workflow.run('w')])).toEqual(['cancelled'])
  expect(await workflow.status()).toBe('FAILED')
  expect(await store.retryFailedSteps(workflow.id)).toBe('ending')
  await store.settleTaskRuns([{ lease: leaseOf(running), outcome: succeeded, by }])
  expect(await store.retryTaskRun(workflow.run('w'))).toBe('ending')
  expect(await workflow.states()).toEqual({ w: 'CANCELLED TASK_CANCELLED' })
  await end('undo')
  expect(await store.retryFailedSteps(workflow.id)).toBe('retried')
  for (const name of ['in', 'after']) await end(name)
  expect(await workflow.status()).toBe('SUCCEEDED')
})

test('a retried compensation of an earlier sub-workflow does not end the step that was started anew', async () => {
  const undo = { compensate: { task: 'undo', payload: plain() } }
  const steps = [step('in', [], undo), step('after', ['in'])]
  const workflow = await start({
    steps: [{ kind: 'workflow', name: 'w', input: plain(), workflow: { name: 'inner', steps } }],
  })
  await end('in')
  await end('after', failed)
  const undone = await end('undo', failed)
  expect(await store.retryFailedSteps(workflow.id)).toBe('retried')
  expect(await store.retryTaskRun(undone)).toBe('retried')
  expect((await store.repairWorkflows({ limit: 1_000 })).repaired).toEqual([])
  await end('undo')
  expect(await workflow.states()).toEqual({ w: 'PENDING' })
  for (const name of ['in', 'after']) await end(name)
  expect(await workflow.status()).toBe('SUCCEEDED')
})

test('a successful sub-workflow is compensated by the option of its step, not by its own steps', async () => {
  const undo = { compensate: { task: 'undo', payload: plain({ of: 'inner step' }) } }
  const w: StepPlan = {
    kind: 'workflow',
    name: 'w',
    input: plain(),
    workflow: { name: 'inner', steps: [step('in', [], undo)] },
    compensate: { task: 'undo', payload: plain({ of: 'w' }) },
  }
  const workflow = await start({ steps: [w, step('b', ['w'])] })
  await end('in')
  await end('b', failed)
  const run = await take('undo')
  expect(JSON.parse(run.payload)).toEqual({ of: 'w' })
  await store.settleTaskRuns([{ lease: leaseOf(run), outcome: succeeded, by }])
  expect(await workflow.status()).toBe('FAILED')
})

test('pause, resume and cancel also apply to sub-workflows', async () => {
  const workflow = await start({ steps: [inner('w', [deep, step('after', ['in'])])] }, { n: 1 })
  await store.pauseWorkflow(workflow.id, 'ada')
  expect(await claim('in')).toEqual([])
  await store.resumeWorkflow(workflow.id)
  await end('in')
  const innerId = (await store.listSteps(workflow.id))[0]!.subWorkflowId!
  expect(await store.cancelWorkflow(workflow.id)).toBe('cancelled')
  expect(await (await started(innerId)).status()).toBe('CANCELLED')
  expect(await workflow.states()).toEqual({ w: 'CANCELLED TASK_CANCELLED' })
})

test('a sub-workflow without open steps, paused by its last error, ends with the outer workflow', async () => {
  const cancelled = await pausedAtItsEnd()
  expect(await store.cancelWorkflow(cancelled.id)).toBe('cancelled')
  expect(await cancelled.states()).toMatchObject({ w: 'CANCELLED TASK_CANCELLED' })
  const failing = await pausedAtItsEnd()
  await end('beside', failed)
  expect(await failing.status()).toBe('FAILED')
  const alone = await pausedAtItsEnd()
  expect(await store.cancelTaskRuns([alone.run('w')])).toEqual(['cancelled'])
  expect(await alone.status()).toBe('FAILED')
  expect((await store.repairWorkflows({ limit: 1_000 })).repaired).toEqual([])
})

async function pausedAtItsEnd() {
  const w: StepPlan = {
    kind: 'workflow',
    name: 'w',
    input: plain(),
    workflow: { name: 'inner', onError: 'pause', steps: [step('in')] },
  }
  const workflow = await start({ steps: [w, step('beside')] })
  await end('in', failed)
  expect(await workflow.states()).toMatchObject({ w: 'PENDING' })
  return workflow
}

test('a cancelled sub-workflow whose steps all succeeded has succeeded when it is retried', async () => {
  const workflow = await start({ steps: [inner('w', [step('in')]), step('next', ['w'])] })
  const run = await take('in')
  expect(await store.cancelWorkflow(workflow.id)).toBe('requested')
  await store.settleTaskRuns([{ lease: leaseOf(run), outcome: succeeded, by }])
  expect(await workflow.status()).toBe('CANCELLED')
  expect(await store.retryFailedSteps(workflow.id)).toBe('retried')
  expect(await workflow.states()).toEqual({ w: 'SUCCEEDED', next: 'AVAILABLE' })
  await end('next')
  expect(await workflow.status()).toBe('SUCCEEDED')
})

test('sub-workflows of a compensated workflow are not retried', async () => {
  const w: StepPlan = { ...inner('w', [step('in')]), compensate: { task: 'undo', payload: plain() } }
  const workflow = await start({ steps: [w, step('b', ['w'])] })
  const inside = await started((await store.listSteps(workflow.id))[0]!.subWorkflowId!)
  await end('in')
  await end('b', failed)
  expect(await store.retryTaskRun(inside.run('in'))).toBe('compensated')
  await end('undo')
  expect(await store.retryFailedSteps(inside.id)).toBe('compensated')
  expect(await workflow.status()).toBe('FAILED')
})

test('a compensated sub-workflow stays compensated, with its own sub-workflows, when its step starts it anew', async () => {
  const undo = { compensate: { task: 'undo', payload: plain() } }
  const low: StepPlan = { ...inner('low', [step('in')]), after: ['first'] }
  const middle = { name: 'middle', steps: [step('first', [], undo), low] }
  const workflow = await start({ steps: [{ kind: 'workflow', name: 'mid', input: plain(), workflow: middle }] })
  await end('first')
  await end('in', failed)
  await end('undo')
  expect(await workflow.status()).toBe('FAILED')
  expect(await store.retryFailedSteps(workflow.id)).toBe('retried')
  expect(await claim('in')).toEqual([])
  for (const name of ['first', 'in']) await end(name)
  expect(await workflow.status()).toBe('SUCCEEDED')
})

test('a retried compensation in a sub-workflow runs again, and nothing else does', async () => {
  const undo = { compensate: { task: 'undo', payload: plain() } }
  const workflow = await start({ steps: [inner('w', [step('in', [], undo), step('bad', ['in'])])] })
  await end('in')
  await end('bad', failed)
  const run = await end('undo', failed)
  expect(await store.retryTaskRun(run)).toBe('retried')
  expect(await workflow.status()).toBe('FAILED')
  await end('undo')
  expect(await workflow.states()).toEqual({ w: 'FAILED TASK_ERROR' })
  expect(await claim('in')).toEqual([])
})

test('a retried sub-workflow waits while the outer workflow is paused', async () => {
  const workflow = await start({ onError: 'pause', steps: [inner('w', [step('in')])] })
  await end('in', failed)
  expect(await store.retryTaskRun(workflow.run('w'))).toBe('retried')
  expect(await claim('in')).toEqual([])
  expect(await store.resumeWorkflow(workflow.id)).toBe('resumed')
  await end('in')
  expect(await workflow.status()).toBe('SUCCEEDED')
})

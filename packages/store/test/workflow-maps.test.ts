/** Maps: one run of a task per element of a list. */
import { expect, test } from 'vitest'
import type { StepPlan } from '@q/schema/workflow'
import { by, leaseOf } from './fixture.ts'
import { failed, plain, step, succeeded, workflowFixture } from './workflow-fixture.ts'

const { start, end, endAll, take, store, claim } = await workflowFixture()

const list = (n: number) =>
  ({ status: 'SUCCEEDED', result: JSON.stringify(Array.from({ length: n }, (_, i) => i * 10)) }) as const

function map(name: string, more: Partial<Extract<StepPlan, { kind: 'map' }>> = {}): StepPlan {
  return {
    kind: 'map',
    name,
    task: 'item',
    over: { from: 'step', step: 'list', at: '' },
    payload: { value: { item: null }, holes: { '/item': { from: 'item', at: '' } } },
    ...more,
  }
}

test('a map runs its task once per element, and its result is the list of theirs in order', async () => {
  const workflow = await start({
    steps: [
      step('list'),
      map('m'),
      step('sum', [], { payload: { value: null, holes: { '': { from: 'step', step: 'm', at: '' } } } }),
    ],
    output: {
      value: [null, null],
      holes: { '/0': { from: 'step', step: 'm', at: '/2/got' }, '/1': { from: 'step', step: 'm', at: '/9' } },
    },
  })
  await end('list', list(3))
  expect(await workflow.states()).toMatchObject({
    m: 'PENDING',
    'm[0]': 'AVAILABLE',
    'm[2]': 'AVAILABLE',
    sum: 'PENDING',
  })
  for (let round = 0; round < 3; round++) {
    const run = await take('item')
    const { item } = JSON.parse(run.payload) as { item: number }
    await store.settleTaskRuns([
      { lease: leaseOf(run), outcome: { status: 'SUCCEEDED', result: `{"got":${item}}` }, by },
    ])
  }
  const sum = await take('sum')
  expect(JSON.parse((await store.stepPayloads([sum.runId])).get(sum.runId)!)).toEqual([
    { got: 0 },
    { got: 10 },
    { got: 20 },
  ])
  await store.settleTaskRuns([{ lease: leaseOf(sum), outcome: succeeded, by }])
  expect(await workflow.status()).toBe('SUCCEEDED')
  expect(await workflow.result()).toEqual([20, null])
})

test('an empty list succeeds at once; a value that is not a list fails the map', async () => {
  const empty = await start({ steps: [step('list'), map('m'), step('next', ['m'])] })
  await end('list', list(0))
  expect(await empty.states()).toEqual({ list: 'SUCCEEDED', m: 'SUCCEEDED', next: 'AVAILABLE' })
  await end('next')
  const wrong = await start({ steps: [step('list'), map('m')] })
  await end('list', { status: 'SUCCEEDED', result: '{"no":"list"}' })
  expect(await wrong.states()).toEqual({ list: 'SUCCEEDED', m: 'FAILED INVALID_PAYLOAD' })
  expect(await wrong.status()).toBe('FAILED')
})

test('at most `parallel` items run at a time, and each end releases the next item', async () => {
  const workflow = await start({ steps: [step('list'), map('m', { parallel: 2 })] })
  await end('list', list(5))
  for (let left = 5; left > 0; left--) {
    const runs = await claim('item', 10)
    expect(runs).toHaveLength(left >= 2 && left === 5 ? 2 : left >= 2 ? 1 : 0)
    const open = (await store.listSteps(workflow.id)).filter(
      ({ kind, status }) => kind === 'item' && status === 'RUNNING',
    )
    await store.settleTaskRuns([{ lease: await leaseOfRun(open[0]!.runId), outcome: succeeded, by }])
  }
  expect(await workflow.status()).toBe('SUCCEEDED')
})

async function leaseOfRun(runId: Parameters<typeof store.getTaskRun>[0]) {
  const detail = await store.getTaskRun(runId)
  return { runId, fence: detail!.run.fence }
}

test('a failed item lets the others end, then fails the map; with `collect` the list has its code instead', async () => {
  const strict = await start({ steps: [step('list'), map('m')] })
  await end('list', list(3))
  await end('item', failed)
  expect(await strict.status()).toBe('RUNNING')
  expect(await endAll('item')).toBe(2)
  expect(await strict.states()).toMatchObject({ m: 'FAILED UPSTREAM_FAILED' })
  expect(await strict.status()).toBe('FAILED')
  const output = { value: null, holes: { '': { from: 'step', step: 'm', at: '' } } } as const
  const lenient = await start({ steps: [step('list'), map('m', { onItemError: 'collect' })], output })
  await end('list', list(2))
  await end('item', failed)
  await end('item')
  expect(await lenient.status()).toBe('SUCCEEDED')
  expect(await lenient.result()).toEqual([{ code: 'TASK_ERROR', detail: 'on purpose' }, 1])
})

test('a retry of a failed map retries its items that did not succeed', async () => {
  for (const parallel of [{}, { parallel: 1 }]) {
    const workflow = await start({ steps: [step('list'), map('m', parallel)] })
    await end('list', list(3))
    await end('item')
    await end('item', failed)
    await end('item')
    expect(await workflow.status()).toBe('FAILED')
    expect(await store.retryFailedSteps(workflow.id)).toBe('retried')
    expect(await workflow.states()).toMatchObject({
      m: 'PENDING',
      'm[0]': 'SUCCEEDED',
      'm[1]': 'AVAILABLE',
      'm[2]': 'SUCCEEDED',
    })
    await end('item')
    expect(await workflow.status()).toBe('SUCCEEDED')
  }
})

test('cancelling a map cancels its items', async () => {
  const workflow = await start({ steps: [step('list'), map('m', { parallel: 1 }), step('x')], onError: 'continue' })
  await end('list', list(3))
  expect(await store.cancelTaskRuns([workflow.run('m')])).toEqual(['cancelled'])
  expect(await workflow.states()).toMatchObject({
    'm[0]': 'CANCELLED TASK_CANCELLED',
    'm[2]': 'CANCELLED TASK_CANCELLED',
    x: 'AVAILABLE',
  })
  await end('x')
  expect(await workflow.status()).toBe('FAILED')
})

test('a map inside a sub-workflow', async () => {
  const over = { from: 'input', at: '/list' } as const
  const innerMap = map('in', { over })
  const workflow = await start({
    steps: [
      {
        kind: 'workflow',
        name: 'w',
        input: plain({ list: [1, 2] }),
        workflow: {
          name: 'inner',
          steps: [innerMap],
          output: { value: null, holes: { '': { from: 'step', step: 'in', at: '' } } },
        },
      },
    ],
    output: { value: null, holes: { '': { from: 'step', step: 'w', at: '' } } },
  })
  expect(await endAll('item')).toBe(2)
  expect(await workflow.result()).toEqual([1, 1])
})

test('a map that waits for its items counts no later end of a parent', async () => {
  const any = await start({ steps: [step('list'), step('late'), map('m', { after: ['late'], join: { kind: 'any' } })] })
  await end('list', list(2))
  await end('late')
  await end('item')
  expect(await any.states()).toMatchObject({ m: 'PENDING' })
  await end('item')
  expect(await any.status()).toBe('SUCCEEDED')

  const again = await start({ steps: [step('list'), map('m')] })
  await end('list', list(2))
  expect(await store.retryTaskRun(again.run('list'))).toBe('retried')
  await end('list', list(2))
  await end('item')
  expect(await again.states()).toMatchObject({ m: 'PENDING' })
  await end('item')
  expect(await again.status()).toBe('SUCCEEDED')
})

/** Its first item failed, its second succeeded while the workflow was paused: the map is held back. */
async function heldBackMap() {
  const undo = { compensate: { task: 'undo', payload: plain() } }
  const workflow = await start({ steps: [step('list', [], undo), map('m')] })
  await end('list', list(2))
  const [first, second] = await claim('item', 2)
  await store.settleTaskRuns([{ lease: leaseOf(first!), outcome: failed, by }])
  await store.pauseWorkflow(workflow.id, 'ada')
  await store.settleTaskRuns([{ lease: leaseOf(second!), outcome: succeeded, by }])
  expect(await workflow.states()).toMatchObject({ m: 'PENDING', 'm[0]': 'FAILED TASK_ERROR', 'm[1]': 'SUCCEEDED' })
  return workflow
}

const allSucceeded = { list: 'SUCCEEDED', m: 'SUCCEEDED', 'm[0]': 'SUCCEEDED', 'm[1]': 'SUCCEEDED' }

test('a paused workflow that is retried does not fail because of the steps it retries', async () => {
  const workflow = await heldBackMap()
  expect(await store.retryFailedSteps(workflow.id)).toBe('retried')
  await end('item')
  expect(await workflow.states()).toEqual(allSucceeded)
  expect(await workflow.status()).toBe('SUCCEEDED')
})

test('a map that was held before its end waits again for an item that is retried in the meantime', async () => {
  const workflow = await heldBackMap()
  expect(
    await store.retryTaskRun((await store.listSteps(workflow.id)).find(({ name }) => name === 'm[0]')!.runId),
  ).toBe('retried')
  expect(await store.resumeWorkflow(workflow.id)).toBe('resumed')
  expect((await store.repairWorkflows({ limit: 1_000 })).repaired).toEqual([])
  await end('item')
  expect(await workflow.states()).toEqual(allSucceeded)
})

test('a map that was held before its end ends at once when its workflow is cancelled, and the compensations run', async () => {
  const workflow = await heldBackMap()
  expect(await store.cancelWorkflow(workflow.id)).toBe('requested')
  expect(await workflow.states()).toMatchObject({ m: 'CANCELLED TASK_CANCELLED', 'list (undo)': 'AVAILABLE' })
  await end('undo')
  expect(await workflow.status()).toBe('CANCELLED')
})

test('a map that was held before its end ends when another step fails its paused workflow', async () => {
  const workflow = await start({ steps: [step('list'), map('m'), step('other')] })
  await end('list', list(1))
  const other = await take('other')
  const item = await take('item')
  await store.pauseWorkflow(workflow.id, 'ada')
  await store.settleTaskRuns([{ lease: leaseOf(item), outcome: succeeded, by }])
  await store.settleTaskRuns([{ lease: leaseOf(other), outcome: failed, by }])
  expect(await workflow.states()).toMatchObject({ m: 'SUCCEEDED', other: 'FAILED TASK_ERROR' })
  expect(await workflow.status()).toBe('FAILED')
})

test('a list that is too large for its reader is replaced by an error; as an output it fails the workflow', async () => {
  const whole = { value: null, holes: { '': { from: 'step', step: 'm', at: '' } } } as const
  const steps = [step('list'), map('m'), step('use', [], { payload: whole })]
  const workflow = await start({ steps, output: whole })
  await end('list', list(34))
  const runs = await claim('item', 34)
  const outcome = { status: 'SUCCEEDED', result: JSON.stringify('x'.repeat(1_000_000)) } as const
  await store.settleTaskRuns(runs.map((run) => ({ lease: leaseOf(run), outcome, by })))
  const use = await take('use')
  const payload = (await store.stepPayloads([use.runId])).get(use.runId)!
  expect(JSON.parse(payload)).toMatchObject({ code: 'RESULT_TOO_LARGE' })
  expect(await store.settleTaskRuns([{ lease: leaseOf(use), outcome: succeeded, by }])).toEqual(['settled'])
  expect(await workflow.states()).toMatchObject({ use: 'SUCCEEDED' })
  expect(await workflow.result()).toMatchObject({ code: 'RESULT_TOO_LARGE' })
  expect(await workflow.status()).toBe('FAILED')
})

/** Maps, workflows inside of workflows, and compensation. */
import { expect, test } from 'vitest'
import type { StepPlan } from '@q/schema/workflow'
import { by, leaseOf } from './fixture.ts'
import { failed, plain, step, succeeded, workflowFixture } from './workflow-fixture.ts'

const { start, started, end, endAll, take, store, claim } = await workflowFixture()

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

test('an empty list succeeds at once; what is no list fails the map', async () => {
  const empty = await start({ steps: [step('list'), map('m'), step('next', ['m'])] })
  await end('list', list(0))
  expect(await empty.states()).toEqual({ list: 'SUCCEEDED', m: 'SUCCEEDED', next: 'AVAILABLE' })
  await end('next')
  const wrong = await start({ steps: [step('list'), map('m')] })
  await end('list', { status: 'SUCCEEDED', result: '{"no":"list"}' })
  expect(await wrong.states()).toEqual({ list: 'SUCCEEDED', m: 'FAILED INVALID_PAYLOAD' })
  expect(await wrong.status()).toBe('FAILED')
})

test('no more items than parallel are under way at a time, and each that ends hands its place on', async () => {
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

test('a failing item lets the others end, then fails the map; collected, its place has the code', async () => {
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

test('a map that failed is retried with those of its items that did not succeed', async () => {
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

test('a map that is cancelled takes its items with it', async () => {
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

test('a workflow that is a step: its output is the result of the step', async () => {
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

test('a workflow that fails fails its step, with its code; retried, both go on', async () => {
  const workflow = await start({ steps: [inner('w', [deep, step('after', ['in'])]), step('b', ['w'])] }, { n: 1 })
  await end('in', failed)
  expect(await workflow.states()).toEqual({ w: 'FAILED TASK_ERROR', b: 'SKIPPED UPSTREAM_FAILED' })
  expect(await workflow.status()).toBe('FAILED')
  expect(await store.retryFailedSteps(workflow.id)).toBe('retried')
  const innerId = (await store.listSteps(workflow.id))[0]!.innerId!
  expect(await (await started(innerId)).states()).toEqual({ in: 'AVAILABLE', after: 'PENDING' })
  for (const name of ['in', 'after', 'b']) await end(name)
  expect(await workflow.status()).toBe('SUCCEEDED')
})

test('pause, resume and cancel reach the workflows inside', async () => {
  const workflow = await start({ steps: [inner('w', [deep, step('after', ['in'])])] }, { n: 1 })
  await store.pauseWorkflow(workflow.id, 'somebody')
  expect(await claim('in')).toEqual([])
  await store.resumeWorkflow(workflow.id)
  await end('in')
  const innerId = (await store.listSteps(workflow.id))[0]!.innerId!
  expect(await store.cancelWorkflow(workflow.id)).toBe('cancelled')
  expect(await (await started(innerId)).status()).toBe('CANCELLED')
  expect(await workflow.states()).toEqual({ w: 'CANCELLED TASK_CANCELLED' })
})

const undone = (name: string, after: readonly string[] = []) =>
  step(name, after, {
    compensate: {
      task: 'undo',
      payload: { value: { of: name, was: null }, holes: { '/was': { from: 'step', step: name, at: '' } } },
    },
  })

test('a workflow that fails undoes what succeeded, one after the other, last first; one that fails stops no other', async () => {
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

test('a workflow that is cancelled undoes what succeeded too, and then ends CANCELLED', async () => {
  const workflow = await start({ steps: [undone('a'), step('c', ['a'])] })
  await end('a')
  expect(await store.cancelWorkflow(workflow.id)).toBe('requested')
  await end('undo')
  expect(await workflow.status()).toBe('CANCELLED')
})

test('a workflow that succeeds undoes nothing', async () => {
  const workflow = await start({ steps: [undone('a')] })
  await end('a')
  expect(await workflow.status()).toBe('SUCCEEDED')
  expect(await workflow.states()).toEqual({ a: 'SUCCEEDED' })
})

test('workflows inside of a map are not needed: a map inside of an inner workflow works', async () => {
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

/** When a step of a workflow begins, and with what. */
import { expect, test } from 'vitest'
import { failed, plain, step, workflowFixture } from './workflow-fixture.ts'

const { start, end, take, store, claim, db } = await workflowFixture()

test('a diamond: each step begins when all its parents have succeeded, and the workflow ends with the last', async () => {
  const workflow = await start({ steps: [step('a'), step('b', ['a']), step('c', ['a']), step('d', ['b', 'c'])] })
  expect(await workflow.states()).toEqual({ a: 'AVAILABLE', b: 'PENDING', c: 'PENDING', d: 'PENDING' })
  await end('a')
  expect(await workflow.states()).toMatchObject({ b: 'AVAILABLE', c: 'AVAILABLE', d: 'PENDING' })
  await end('b')
  expect(await workflow.states()).toMatchObject({ d: 'PENDING' })
  await end('c')
  await end('d')
  expect(await workflow.states()).toEqual({ a: 'SUCCEEDED', b: 'SUCCEEDED', c: 'SUCCEEDED', d: 'SUCCEEDED' })
  expect(await workflow.status()).toBe('SUCCEEDED')
})

test('any: one parent is enough, and later ends change nothing', async () => {
  const workflow = await start({ steps: [step('a'), step('b'), step('c', ['a', 'b'], { join: { kind: 'any' } })] })
  const late = await take('a')
  await end('b')
  expect(await workflow.states()).toMatchObject({ c: 'AVAILABLE' })
  await end('c')
  expect(await workflow.status()).toBe('RUNNING')
  await store.settleTaskRuns([
    { lease: { runId: late.runId, fence: late.fence }, outcome: failed, by: { hostname: 'h', pid: 1, thread: 0 } },
  ])
  expect(await workflow.states()).toEqual({ a: 'FAILED TASK_ERROR', b: 'SUCCEEDED', c: 'SUCCEEDED' })
  expect(await workflow.status()).toBe('SUCCEEDED')
})

test('a quorum that can no longer be reached fails the workflow', async () => {
  const quorum = { join: { kind: 'quorum', of: 2 } } as const
  const workflow = await start({ steps: [step('a'), step('b'), step('c'), step('d', ['a', 'b', 'c'], quorum)] })
  await end('a', failed)
  expect(await workflow.status()).toBe('RUNNING')
  await end('b', failed)
  expect(await workflow.states()).toMatchObject({ c: 'SKIPPED UPSTREAM_FAILED', d: 'SKIPPED UPSTREAM_FAILED' })
  expect(await workflow.status()).toBe('FAILED')
})

test('a step that allows failed parents begins after any end, and tolerates it', async () => {
  const workflow = await start({ steps: [step('a'), step('b', ['a'], { allowFailed: true })] })
  await end('a', failed)
  await end('b')
  expect(await workflow.status()).toBe('SUCCEEDED')
})

test('results are filled in for the references of payloads and of the output', async () => {
  const workflow = await start(
    {
      steps: [
        step('a', [], { payload: { value: { n: null, x: 1 }, holes: { '/n': { from: 'input', at: '/n' } } } }),
        step('b', [], {
          payload: { value: { of: [null, 2] }, holes: { '/of/0': { from: 'step', step: 'a', at: '/list/1' } } },
        }),
        step('c', [], {
          payload: { value: null, holes: { '': { from: 'step', step: 'b', at: '' } } },
          allowFailed: true,
        }),
      ],
      output: {
        value: { b: null, n: null },
        holes: { '/b': { from: 'step', step: 'b', at: '/code' }, '/n': { from: 'input', at: '/n' } },
      },
    },
    { n: 5 },
  )
  const a = await take('a')
  expect(JSON.parse(a.payload)).toEqual({ n: 5, x: 1 })
  const by = { hostname: 'h', pid: 1, thread: 0 }
  await store.settleTaskRuns([
    {
      lease: { runId: a.runId, fence: a.fence },
      outcome: { status: 'SUCCEEDED', result: '{"list":[1,{"deep":true}]}' },
      by,
    },
  ])
  const b = await take('b')
  expect(JSON.parse((await store.stepPayloads([b.runId])).get(b.runId)!)).toEqual({ of: [{ deep: true }, 2] })
  await store.settleTaskRuns([{ lease: { runId: b.runId, fence: b.fence }, outcome: failed, by }])
  const c = await take('c')
  expect(JSON.parse((await store.stepPayloads([c.runId])).get(c.runId)!)).toEqual({
    code: 'TASK_ERROR',
    detail: 'on purpose',
  })
  await store.settleTaskRuns([
    { lease: { runId: c.runId, fence: c.fence }, outcome: { status: 'SUCCEEDED', result: '1' }, by },
  ])
  expect(await workflow.status()).toBe('SUCCEEDED')
  expect(await workflow.result()).toEqual({ b: { code: 'TASK_ERROR', detail: 'on purpose' }, n: 5 })
})

test('the result of a step that has not ended, or was removed, is RESULT_NOT_AVAILABLE', async () => {
  const payload = {
    value: [null, null],
    holes: { '/0': { from: 'step', step: 'a', at: '' }, '/1': { from: 'step', step: 'b', at: '' } },
  } as const
  const workflow = await start({ steps: [step('a'), step('b'), step('c', [], { payload, join: { kind: 'any' } })] })
  await end('a')
  const c = await take('c')
  expect(JSON.parse((await store.stepPayloads([c.runId])).get(c.runId)!)).toMatchObject([
    1,
    { code: 'RESULT_NOT_AVAILABLE' },
  ])
  await store.cancelWorkflow(workflow.id)
})

test('a condition that does not hold skips the step, which is not a failure; its dependents are skipped too', async () => {
  const when = (equals: string) =>
    ({ when: { value: { from: 'step', step: 'a', at: '/kind' }, is: { equals } } }) as const
  const workflow = await start({
    steps: [
      step('a'),
      step('x', ['a'], when('x')),
      step('y', ['a'], when('y')),
      step('z', ['y']),
      step('merged', ['x', 'y'], { join: { kind: 'any' } }),
    ],
  })
  await end('a', { status: 'SUCCEEDED', result: '{"kind":"x"}' })
  expect(await workflow.states()).toMatchObject({
    x: 'AVAILABLE',
    y: 'SKIPPED CONDITION_NOT_MET',
    z: 'SKIPPED UPSTREAM_SKIPPED',
    merged: 'PENDING',
  })
  await end('x')
  await end('merged')
  expect(await workflow.status()).toBe('SUCCEEDED')
})

test('a condition reads each result from its own step, whatever the names of steps and members', async () => {
  const is = (name: string, at: string, equals: unknown) =>
    ({ value: { from: 'step', step: name, at }, is: { equals } }) as const
  const when = { all: [is('b', '/x a', 1), is('a b', '/x', 2)] }
  const workflow = await start({ steps: [step('b'), step('a b'), step('both', ['b', 'a b'], { when })] })
  await end('b', { status: 'SUCCEEDED', result: '{"x a": 1}' })
  await end('a b', { status: 'SUCCEEDED', result: '{"x": 2}' })
  expect(await workflow.states()).toMatchObject({ both: 'AVAILABLE' })
})

test('a condition on the input is evaluated when the workflow starts', async () => {
  const when = { value: { from: 'input', at: '/go' }, is: 'truthy' } as const
  const workflow = await start({ steps: [step('a', [], { when }), step('b', ['a'])] }, { go: false })
  expect(await workflow.states()).toEqual({ a: 'SKIPPED CONDITION_NOT_MET', b: 'SKIPPED UPSTREAM_SKIPPED' })
  expect(await workflow.status()).toBe('SUCCEEDED')
})

test('the delay of a step starts when its parents release it', async () => {
  const workflow = await start({ steps: [step('a'), step('b', ['a'], { options: { delayMs: 3_600_000 } })] })
  await end('a')
  expect((await store.listSteps(workflow.id))[1]).toMatchObject({ status: 'PENDING', waitingFor: 'time' })
  await store.cancelWorkflow(workflow.id)
})

test('steps with a concurrency key share it with each other', async () => {
  const keyed = { keyed: { concurrency: { scope: 'keyed', at: '/k' } } }
  const of = (name: string) => step(name, ['a'], { task: 'keyed', payload: plain({ k: 'one' }) })
  const workflow = await start({ steps: [step('a'), of('b'), of('c')] }, {}, keyed)
  await end('a')
  expect(Object.values(await workflow.states()).toSorted()).toEqual(['AVAILABLE', 'PENDING', 'SUCCEEDED'])
  await end('keyed')
  expect(await claim('keyed')).toHaveLength(1)
  await store.cancelWorkflow(workflow.id)
})

test('a step whose inputs the database cannot build is refused with the reason', async () => {
  const needsIt = { value: null, holes: { '': { from: 'step', step: 'long', at: '' } } } as const
  const workflow = await start({ steps: [step('long'), step('short', [], { payload: needsIt })] })
  await end('long')
  // Stands for a list that is longer than a value of the database can be.
  await db.updateTable('q.workflow_step').set({ inputs: '[]' }).where('run_id', '=', workflow.run('short')).execute()
  await expect(store.stepPayloads([workflow.run('short')])).rejects.toMatchObject({
    code: 'INVALID_PAYLOAD',
    why: expect.stringContaining('non-object'),
  })
})

/** A workflow that a test starts is executed by its drain, step after step, to its end. */
import { expect, test } from 'vitest'
import { workflow, type Ref } from '@q/client'
import { testQueue, type DrainResult } from '@q/testing'
import * as tasks from './tasks/steps.ts'

const define = workflow<typeof tasks>()
const soon = { timeout: '100s' } as const
const named = ({ ran }: DrainResult) => ran.map(({ task, outcome }) => `${task} ${outcome}`)

const diamond = define('diamond', ({ step }, input: Ref<{ left: string; right: string }>) => {
  const top = step('upper', { text: 'top' }, { name: 'top' })
  const left = step('upper', { text: input.left }, { name: 'left', after: [top] })
  const right = step('upper', { text: input.right }, { name: 'right', after: [top] })
  return { joined: step('join', { texts: [top, left, right] }) }
})

const shout = define('shout', ({ step, map }, input: Ref<{ text: string }>) => {
  const { words } = step('split', { text: input.text })
  return { shouted: step('join', { texts: map('upper', words, (text) => ({ text })) }) }
})

test('a diamond: parents before children, results from step to step, the output in the handle', async () => {
  await using q = await testQueue({ tasks })
  const run = await q.start(diamond, { left: 'l', right: 'r' })
  expect(named(await q.drain())).toEqual(['upper succeeded', 'upper succeeded', 'upper succeeded', 'join succeeded'])
  expect(await run.result(soon)).toEqual({ joined: 'TOP+L+R' })
})

test('a map has a run for each element, and its result keeps their order', async () => {
  await using q = await testQueue({ tasks })
  const run = await q.start(shout, { text: 'to be or not' })
  expect((await q.drain()).ran.map(({ task }) => task)).toEqual([
    'split',
    ...Array.from({ length: 4 }, () => 'upper'),
    'join',
  ])
  expect(await run.result(soon)).toEqual({ shouted: 'TO+BE+OR+NOT' })
})

test('a sub-workflow is executed by the same drain', async () => {
  const twice = define('twice', ({ step, sub }, input: Ref<{ text: string }>) => {
    const inner = sub(shout, { text: input.text })
    return step('upper', { text: inner.shouted })
  })
  await using q = await testQueue({ tasks })
  const run = await q.start(twice, { text: 'a b' })
  await q.drain()
  expect(await run.result(soon)).toEqual({ text: 'A+B' })
})

test('a failed branch: dependents are skipped, tolerant steps run, succeeded steps are compensated', async () => {
  const tolerant = define(
    'tolerant',
    ({ step, compensate }) => {
      const good = step('upper', { text: 'good' }, { name: 'good' })
      const bad = step('upper', { text: 'broken' }, { name: 'bad' })
      step('join', { texts: [good, bad] })
      step('tell', { texts: [good, bad] }, { allowFailed: true })
      compensate(good, 'undo', ({ text }) => ({ text }))
    },
    { onError: 'continue' },
  )
  await using q = await testQueue({ tasks })
  const run = await q.start(tolerant)
  expect(named(await q.drain())).toEqual(['upper succeeded', 'upper failed', 'tell succeeded', 'undo succeeded'])
  expect((await run.steps()).map(({ name, status }) => `${name} ${status}`)).toEqual([
    'good SUCCEEDED',
    'bad FAILED',
    'join SKIPPED',
    'tell SUCCEEDED',
    'good (undo) SUCCEEDED',
  ])
  await expect(run.result(soon)).rejects.toMatchObject({ code: 'TASK_ERROR', failed: [{ name: 'bad' }] })
})

test('a delayed step begins that long after its parents, and not before', async () => {
  const later = define('later', ({ step }) => {
    const first = step('upper', { text: 'now' }, { name: 'first' })
    return step('upper', { text: first.text }, { name: 'second', delay: '1d' })
  })
  await using q = await testQueue({ tasks })
  const run = await q.start(later)
  await q.travel('2d') // its parent has not run: nothing waits for its time yet
  expect(named(await q.drain())).toEqual(['upper succeeded'])
  await q.travel('23h')
  expect(named(await q.drain())).toEqual([])
  await q.travel('1h')
  expect(named(await q.drain())).toEqual(['upper succeeded'])
  expect(await run.result(soon)).toEqual({ text: 'NOW' })
})

test('a step that has not started in time expires, and its workflow fails', async () => {
  const urgent = define('urgent', ({ step }) => step('upper', { text: 'now' }, { expires: '1h' }))
  await using q = await testQueue({ tasks })
  const run = await q.start(urgent)
  await q.travel('2h')
  expect(await q.drain()).toMatchObject({ ran: [], expired: [expect.any(String)] })
  await expect(run.result(soon)).rejects.toMatchObject({ failed: [{ status: 'EXPIRED' }] })
})

test.each([
  ['fragile', 'FAILED'],
  ['upper', 'SUCCEEDED'],
] as const)(
  'after the death of a replica with a step, the workflow continues by the step’s onCrash: %s, %s',
  async (task, status) => {
    const chain = define('chain', ({ step }) => {
      const first = step(task, { text: 'a' }, { name: 'first' })
      return step('upper', { text: first.text }, { name: 'second' })
    })
    await using q = await testQueue({ tasks })
    const run = await q.start(chain)
    const id = await q.abandon(task)
    expect(await q.drain()).toMatchObject({ ran: [], recovered: [] })
    await q.travel('2m')
    expect((await q.drain()).recovered).toEqual([id])
    expect(await run.status()).toMatchObject({ status })
  },
)

test('a schedule and a workflow in one drain do not affect each other', async () => {
  await using q = await testQueue({ tasks })
  await q.schedule('daily', { task: 'undo', every: '1d', payload: { text: 'tick' } })
  const run = await q.start(diamond, { left: 'l', right: 'r' })
  await q.travel('1d')
  expect((await q.drain()).ran).toHaveLength(5)
  expect(await run.status()).toMatchObject({ status: 'SUCCEEDED' })
})

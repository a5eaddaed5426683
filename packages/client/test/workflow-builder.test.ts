/** The plan that the function of a workflow builds, as data. No database. */
import { expect, test } from 'vitest'
import { workflow, type Ref } from '@q/client'
import { parentsOf } from '@q/schema/workflow'
import type * as tasks from './workflow-tasks.ts'

const define = workflow<typeof tasks>()

type Source = { repo: string; commit: string }

const build = define(
  'build',
  ({ step, map, compensate }, input: Ref<Source>) => {
    const source = step('fetch', { repo: input.repo, commit: input.commit })
    const objects = map('compile', source.files, (file) => ({ file }), { parallel: 4 })
    const linked = step('link', { objects })
    const tested = step('test', { binary: linked.path }, { name: 'unit tests', timeout: '5m', attempts: 3 })
    const published = step('publish', { binary: linked.path }, { after: [tested] })
    compensate(published, 'unpublish', (done) => ({ url: done.url }), { priority: -5 })
    return { binary: linked.path, urls: [published.url] }
  },
  { onError: 'pause' },
)

test('a workflow is data: steps, references where results go, options in milliseconds', () => {
  const from = (step: string, at = '') => ({ from: 'step', step, at })
  expect(build.plan).toEqual({
    name: 'build',
    onError: 'pause',
    steps: [
      {
        kind: 'task',
        name: 'fetch',
        task: 'fetch',
        payload: {
          value: { repo: null, commit: null },
          holes: { '/repo': { from: 'input', at: '/repo' }, '/commit': { from: 'input', at: '/commit' } },
        },
      },
      {
        kind: 'map',
        name: 'compile',
        task: 'compile',
        over: from('fetch', '/files'),
        payload: { value: { file: null }, holes: { '/file': { from: 'item', at: '' } } },
        parallel: 4,
      },
      {
        kind: 'task',
        name: 'link',
        task: 'link',
        payload: { value: { objects: null }, holes: { '/objects': from('compile') } },
      },
      {
        kind: 'task',
        name: 'unit tests',
        task: 'test',
        payload: { value: { binary: null }, holes: { '/binary': from('link', '/path') } },
        options: { timeoutMs: 300_000, maxAttempts: 3 },
      },
      {
        kind: 'task',
        name: 'publish',
        task: 'publish',
        payload: { value: { binary: null }, holes: { '/binary': from('link', '/path') } },
        after: ['unit tests'],
        compensate: {
          task: 'unpublish',
          payload: { value: { url: null }, holes: { '/url': from('publish', '/url') } },
          options: { priority: -5 },
        },
      },
    ],
    output: {
      value: { binary: null, urls: [null] },
      holes: { '/binary': from('link', '/path'), '/urls/0': from('publish', '/url') },
    },
  })
})

test('steps of the same task are numbered, unless they are named', () => {
  const { plan } = workflow()('many', ({ step }) => {
    for (let count = 0; count < 3; count++) step('x', { count })
    step('y', {}, { name: 'last' })
  })
  expect(plan.steps.map(({ name }) => name)).toEqual(['x', 'x 2', 'x 3', 'last'])
})

test('joins, conditions and nested workflows are data too', () => {
  const { plan } = define('outer', ({ step, sub, is, ended, all, any, not, orMissing }) => {
    const inner = sub(build, { repo: 'r', commit: 'c' }, { name: 'inner' })
    const tested = step('test', { binary: 'b' }, { after: [inner], join: 'any' })
    const again = step('test', { binary: 'b' }, { after: [inner, tested], join: { quorum: 2 } })
    step(
      'report',
      { tested: again, note: 'n' },
      {
        allowFailed: true,
        when: all(is(tested.coverage, { above: 80 }), any(not(is(again.passed)), ended(inner, 'FAILED', 'SKIPPED'))),
      },
    )
    return orMissing(again.coverage)
  })
  expect(plan.steps[0]).toMatchObject({ kind: 'workflow', name: 'inner', workflow: build.plan })
  expect(plan.steps[1]).toMatchObject({ name: 'test', join: { kind: 'any' } })
  expect(plan.steps[2]).toMatchObject({ name: 'test 2', after: ['inner', 'test'], join: { kind: 'quorum', of: 2 } })
  expect(plan.steps[3]).toMatchObject({
    allowFailed: true,
    when: {
      all: [
        { value: { from: 'step', step: 'test', at: '/coverage' }, is: { above: 80 } },
        {
          any: [
            { not: { value: { from: 'step', step: 'test 2', at: '/passed' }, is: 'truthy' } },
            { step: 'inner', ended: ['FAILED', 'SKIPPED'] },
          ],
        },
      ],
    },
  })
  expect(plan.output).toEqual({ value: null, holes: { '': { from: 'step', step: 'test 2', at: '/coverage' } } })
})

test('an output cannot require a result that may be missing when the workflow succeeds', () => {
  type Output = 'source' | 'tested' | 'published' | 'any' | 'reported'
  const outputOf = (output: Output, conditional: boolean) => () =>
    define('w', ({ step, is }) => {
      const source = step('fetch', { repo: 'r' })
      const tested = step('test', { binary: 'b' }, conditional ? { when: is(source.commit) } : {})
      const published = step('publish', { binary: 'b' }, { after: [tested, source] })
      const any = step('fetch', { repo: 'r' }, { after: [published, source], join: 'any' })
      const reported = step('report', { tested, note: 'n' }, { after: [any, published], allowFailed: true })
      return { source, tested, published, any, reported }[output]
    })
  const refusal = expect.objectContaining({ why: expect.stringContaining('use orMissing()') as string }) as Error
  // A step that requires the success of a parent makes its failure one of the workflow.
  expect(outputOf('source', true)).not.toThrow()
  expect(outputOf('tested', false)).not.toThrow()
  // Its condition may not hold, and then what insists on it is skipped too.
  expect(outputOf('tested', true)).toThrow(refusal)
  expect(outputOf('published', true)).toThrow(refusal)
  // No step requires the success of these.
  expect(outputOf('published', false)).toThrow(refusal)
  expect(outputOf('any', false)).toThrow(refusal)
  // No step depends on this one, so its failure is one of the workflow.
  expect(outputOf('reported', true)).not.toThrow()
})

test('the cost of ten thousand steps is linear', () => {
  const { plan } = workflow()('wide', ({ step }) => {
    const parts = Array.from({ length: 10_000 }, (_, n) => step('part', { n }))
    step('whole', { parts })
  })
  expect(plan.steps.at(-2)?.name).toBe('part 10000')
  expect(parentsOf(plan.steps.at(-1)!)).toHaveLength(10_000)
})

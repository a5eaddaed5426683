/** What must not compile in a workflow does not, and what comes back has the right type. Judged by the type checker. */
import { Client, Pool } from 'pg'
import { expect, expectTypeOf, test } from 'vitest'
import { workflow, type MissingResult, type Queue, type Ref, type Workflow, type WorkflowHandle } from '@q/client'
import type * as tasks from './workflow-tasks.ts'

const define = workflow<typeof tasks>()
type Input = { repo: string; commit?: string; list: string[] }

const neverCalled = () => {
  const build = define('build', ({ step, map }, input: Ref<Input>) => {
    const source = step('fetch', { repo: input.repo })
    const objects = map('compile', source.files, (file) => ({ file }), { parallel: 4 })
    const linked = step('link', { objects }, { name: 'link all', timeout: '5m', priority: -1 })
    return { binary: linked.path, files: source.files, fixed: [1, linked.path] as const }
  })
  expectTypeOf(build).toEqualTypeOf<Workflow<Input, { binary: string; files: string[]; fixed: [1, string] }>>()
  expectTypeOf(define('nothing', () => {})).toEqualTypeOf<Workflow<unknown, null>>()

  define('values', ({ step, map, is, compensate, orMissing }, input: Ref<Input>) => {
    const source = step('fetch', { repo: 'r', commit: 'c' })
    const tested = step('test', { binary: 'b' })
    // @ts-expect-error no task has this name
    step('fetsh', { repo: 'r' })
    // @ts-expect-error the payload lacks its repo
    step('fetch', {})
    // @ts-expect-error the payload has a member too many
    step('fetch', { repo: 'r', branch: 'b' })
    // @ts-expect-error the payload has a wrong type
    step('fetch', { repo: 5 })
    // @ts-expect-error a placeholder of a wrong type
    step('fetch', { repo: source.files })
    // @ts-expect-error the whole result, where a part of it is wanted
    step('fetch', { repo: source })
    // @ts-expect-error the result has no such member
    step('fetch', { repo: source.branch })
    // @ts-expect-error a member of the input that may be missing: null arrives
    step('fetch', { repo: 'r', commit: input.commit })
    // @ts-expect-error a member of the result that may be missing
    step('fetch', { repo: source.license })
    // @ts-expect-error a member of what may be null
    step('fetch', { repo: source.owner.name })
    // @ts-expect-error an element that may not be there
    step('fetch', { repo: source.files.at(0) })
    // @ts-expect-error a list has no other members
    step('fetch', { repo: source.files.length })
    expectTypeOf(source.files.at(0)).toExtend<Ref<string | null, MissingResult>>()
    expectTypeOf(source.owner.name).toExtend<Ref<string | null, MissingResult>>()
    step('fetch', { repo: source.pair[0] })
    // @ts-expect-error the second of the pair is a number
    step('fetch', { repo: source.pair[1] })
    step('link', { objects: [{ object: source.pair[0] }, { object: 'x' }] })
    step('publish', { binary: 'b', report: tested })
    step('publish', { binary: 'b', report: { passed: tested.passed } })

    // @ts-expect-error not a list
    map('compile', source, (file) => ({ file: file }))
    // @ts-expect-error items of a wrong type
    map('compile', source.pair, (file) => ({ file }))
    // @ts-expect-error a wrong payload of an item
    map('compile', source.files, (file) => ({ fil: file }))
    // @ts-expect-error not a duration
    step('fetch', { repo: 'r' }, { timeout: '5 parsecs' })
    // @ts-expect-error no such option
    step('fetch', { repo: 'r' }, { alowFailed: true })
    // @ts-expect-error a part of a result is not a step
    step('fetch', { repo: 'r' }, { after: [source.files] })
    // @ts-expect-error neither is the input
    step('fetch', { repo: 'r' }, { after: [input] })
    // @ts-expect-error a placeholder is not a value
    void (source.pair[1] * 2)
    // @ts-expect-error nor a number
    void (tested.coverage > 5)
    // @ts-expect-error nor a list
    void source.files.map((file: string) => file)

    step('test', { binary: 'b' }, { when: is(tested.coverage, { above: 80 }) })
    step('test', { binary: 'b' }, { when: is(tested.kind, { oneOf: ['unit'] }) })
    // @ts-expect-error it cannot be that
    is(tested.kind, { equals: 'none' })
    // @ts-expect-error text is neither above nor below
    is(tested.kind, { above: 5 })
    // @ts-expect-error a condition is made by is() and its kind
    step('test', { binary: 'b' }, { when: tested.passed })

    // What arrives of a Date is text, in an input and in a result.
    define('dates', ({ step: next }, { at }: Ref<{ at: Date }>) => void next('fetch', { repo: at }))

    compensate(tested, 'unpublish', (done) => ({ url: 'u', tested: { passed: done.passed } }))
    // @ts-expect-error results of other steps may be missing by then
    compensate(tested, 'unpublish', () => ({ url: step('publish', { binary: 'b' }).url }))
    // @ts-expect-error a wrong payload
    compensate(tested, 'unpublish', (done) => ({ url: done.passed }))
    expectTypeOf(orMissing(tested.coverage)).toExtend<Ref<number | MissingResult>>()
  })

  define('missing', ({ step, map, sub }, input: Ref<Input>) => {
    const tested = step('test', { binary: 'b' })
    step('report', { tested, note: input.repo }, { allowFailed: true })
    step('report', { tested, note: 'x' }, { join: 'any' })
    // @ts-expect-error its payload cannot hold a missing result
    step('publish', { binary: 'b', report: tested }, { allowFailed: true })
    // @ts-expect-error also not a part of one
    step('report', { tested: { passed: tested.passed }, note: 'x' }, { join: { quorum: 1 } })
    // @ts-expect-error there may be no list
    map('compile', step('fetch', { repo: 'r' }).files, (file) => ({ file }), { allowFailed: true })
    const objects = map('compile', input.list, (file) => ({ file }), { onItemError: 'collect' })
    // @ts-expect-error items that failed are in the list
    step('link', { objects })
    const inner = sub(build, { repo: input.repo, list: ['a'] })
    step('test', { binary: inner.binary })
    // @ts-expect-error the input lacks its list
    sub(build, { repo: 'r' })
    // @ts-expect-error a wrong use of its output
    step('test', { binary: inner.files })
  })
}

const neverStarted = async (q: Queue<typeof tasks>, build: Workflow<Input, { binary: string }>) => {
  const run = await q.start(build, { repo: 'r', list: [] }, { tx: new Client() })
  expectTypeOf(run).toEqualTypeOf<WorkflowHandle<{ binary: string }>>()
  expectTypeOf(await run.result({ timeout: '1h' })).toEqualTypeOf<{ binary: string }>()
  expectTypeOf(q.workflow('1', build)).toEqualTypeOf<WorkflowHandle<{ binary: string }>>()
  expectTypeOf(q.workflow('1')).toEqualTypeOf<WorkflowHandle<unknown>>()
  await q.start(define('no input', ({ step }) => void step('fetch', { repo: 'r' })))
  // @ts-expect-error it needs its input
  await q.start(build)
  // @ts-expect-error the input lacks its list
  await q.start(build, { repo: 'r' })
  // @ts-expect-error a wrong type in the input
  await q.start(build, { repo: 5, list: [] })
  // @ts-expect-error a pool is no transaction
  await q.start(build, { repo: 'r', list: [] }, { tx: new Pool() })
  // @ts-expect-error not a workflow
  await q.start('build', {})
}

test('the types of the tasks determine names, payloads, placeholders, conditions and outputs', () => {
  expect([neverCalled, neverStarted]).toHaveLength(2)
})

/** Placeholders for results of steps: what they refer to, and that they cannot be used as values. */
import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { workflow, type Ref } from '@q/client'
import type * as tasks from './workflow-tasks.ts'

const define = workflow<typeof tasks>()
type Source = { repo: string; commit: string }

test('a placeholder refers to members, elements and unusual names', () => {
  const any = workflow()(
    'places',
    ({ step }, input: Ref<{ 'a/b~c': number; list: [string, string]; at: { deep: number }[] }>) => {
      step('x', { a: input['a/b~c'], b: input.list[1], c: input.at.at(2).deep, d: input })
    },
  )
  expect(any.plan.steps[0]).toMatchObject({
    payload: {
      holes: {
        '/a': { from: 'input', at: '/a~1b~0c' },
        '/b': { from: 'input', at: '/list/1' },
        '/c': { from: 'input', at: '/at/2/deep' },
        '/d': { from: 'input', at: '' },
      },
    },
  })
})

/** Each takes the placeholder for the value. */
const misuses: Record<string, (ref: never) => unknown> = {
  'a template string': (ref: string) => `${ref}!`,
  concatenation: (ref: string) => 'x' + ref,
  arithmetic: (ref: number) => ref * 2,
  comparison: (ref: number) => ref > 2,
  'String()': (ref: number) => String(ref),
  'a call of toString': (ref: number) => ref.toString(),
  'JSON.stringify': (ref: object) => JSON.stringify({ ref }),
  'a spread list': (ref: string[]) => [...ref],
  'a spread object': (ref: object) => ({ ...ref }),
  'a loop': (ref: string[]) => {
    for (const member of ref) return member
  },
  'Object.keys': (ref: object) => Object.keys(ref),
  in: (ref: object) => 'a' in ref,
  instanceof: (ref: object) => ref instanceof Date,
  assignment: (ref: object) => Object.assign(ref, { a: 1 }),
  deletion: (ref: object) => Reflect.deleteProperty(ref, 'a'),
  'a call': (ref: string[]) => ref.map(String),
  'an element from the end': (ref: string[]) => ref.at(-1),
  'then, which await calls': (ref: object) => Reflect.get(ref, 'then') as unknown,
}

test.each(Object.entries(misuses))(
  'a placeholder used as a value by %s is refused, naming step and place',
  (_, misuse) => {
    const mistaken = () =>
      define('mistaken', ({ step }) => {
        misuse(step('fetch', { repo: 'r' }, { name: 'get it' }).files as never)
      })
    expect(mistaken).toThrow(
      expect.objectContaining({
        code: 'PLACEHOLDER_USED_AS_VALUE',
        message: expect.stringMatching(/^Workflow "mistaken" uses the result of step "get it" at \/files/) as string,
      }),
    )
  },
)

test('a placeholder can be inspected, for instance by console.log', () => {
  define('shown', ({ step }, input: Ref<Source>) => {
    expect(inspect(step('fetch', { repo: input.repo }).files)).toBe('Ref(the result of step "fetch" at /files)')
    expect(inspect({ a: input.commit })).toBe('{ a: Ref(the input at /commit) }')
  })
})

test('a workflow rejects placeholders of another one, and steps added after its definition', () => {
  let foreign: Ref<string> | undefined
  let late: (() => unknown) | undefined
  define('first', ({ step }, input: Ref<Source>) => {
    foreign = input.repo
    late = () => step('fetch', { repo: 'r' })
    late()
  })
  expect(() => define('second', ({ step }) => void step('fetch', { repo: foreign! }))).toThrow(
    expect.objectContaining({ why: expect.stringContaining('a placeholder of the workflow "first"') as string }),
  )
  expect(late).toThrow(
    expect.objectContaining({ why: expect.stringContaining('after its function had returned') as string }),
  )
})

/** Templates and conditions, and the order of a graph: pure. */
import { expect, test } from 'vitest'
import {
  checkPlan,
  filledText,
  fillSome,
  conditionHolds,
  parentsOf,
  tasksOfPlan,
  valueAt,
  type Condition,
  type StepPlan,
} from '@q/schema/workflow'

const step = (name: string, after: readonly string[] = []): StepPlan => ({
  kind: 'task',
  name,
  task: name,
  after,
  payload: { value: {}, holes: {} },
})

test('a pointer finds members of objects and arrays, also under strange names, and nothing that is only inherited', () => {
  const value = { 'a/b': [{ '~': 1 }], x: null }
  expect(valueAt(value, '/a~1b/0/~0')).toBe(1)
  expect(valueAt(value, '')).toBe(value)
  expect(valueAt(value, '/x')).toBeNull()
  expect([valueAt(value, '/toString'), valueAt(value, '/a~1b/1'), valueAt(value, '/x/y')]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
})

test('texts are spliced into a template at its references, for any member names', () => {
  const value = { 'a/b': [1, null, { deep: null }], same: null, kept: 'x' }
  const texts = new Map([
    ['/a~1b/1', '{"r":1}'],
    ['/a~1b/2/deep', '[]'],
    ['/same', '"s"'],
  ])
  expect(JSON.parse(filledText(value, texts))).toEqual({ 'a/b': [1, { r: 1 }, { deep: [] }], same: 's', kept: 'x' })
  expect(filledText({ any: 'thing' }, new Map([['', '7']]))).toBe('7')
  expect(filledText(undefined, new Map())).toBe('null')
})

test('references that have a value are filled, the others stay', () => {
  const template = {
    value: { a: null, list: [null] },
    holes: { '/a': { from: 'input', at: '' }, '/list/0': { from: 'step', step: 's', at: '' } },
  } as const
  expect(fillSome(template, (ref) => (ref.from === 'input' ? { value: 5 } : undefined))).toEqual({
    value: { a: 5, list: [null] },
    holes: { '/list/0': { from: 'step', step: 's', at: '' } },
  })
})

test('a value named __proto__ is a member like any other', () => {
  const template = {
    value: JSON.parse('{"__proto__":null}') as unknown,
    holes: { '/__proto__': { from: 'input', at: '' } },
  } as const
  const { value } = fillSome(template, () => ({ value: { evil: true } }))
  expect(JSON.stringify(value)).toBe('{"__proto__":{"evil":true}}')
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
})

const value = { from: 'input', at: '' } as const
const judged: [string, Condition, unknown, boolean][] = [
  ['truthy', { value, is: 'truthy' }, 'x', true],
  ['falsy', { value, is: 'falsy' }, 0, true],
  ['a place that is not there is null', { value, is: 'falsy' }, undefined, true],
  ['equals, whatever the order of members', { value, is: { equals: { a: 1, b: [2] } } }, { b: [2], a: 1 }, true],
  ['equals: a list is no object', { value, is: { equals: [] } }, {}, false],
  ['one of', { value, is: { oneOf: ['a', null] } }, null, true],
  ['above', { value, is: { above: 3 } }, 4, true],
  ['above: only numbers', { value, is: { above: 3 } }, '4', false],
  ['below', { value, is: { below: 3 } }, 3, false],
  ['not', { not: { value, is: 'truthy' } }, 1, false],
  [
    'all',
    {
      all: [
        { value, is: 'truthy' },
        { value, is: { above: 1 } },
      ],
    },
    1,
    false,
  ],
  [
    'any',
    {
      any: [
        { value, is: 'falsy' },
        { value, is: { below: 2 } },
      ],
    },
    1,
    true,
  ],
  ['how a step ended', { step: 's', ended: ['FAILED'] }, null, true],
]

test.each(judged)('conditions: %s', (_, condition, given, expected) => {
  expect(conditionHolds(condition, { valueOf: () => given, endOf: () => 'FAILED' })).toBe(expected)
})

test('parents are the steps that references, the condition and after name, each once', () => {
  const ref = { from: 'step', step: 'a', at: '' } as const
  const plan: StepPlan = {
    ...step('x', ['a', 'b']),
    when: {
      all: [
        { step: 'c', ended: [] },
        { value: ref, is: 'truthy' },
      ],
    },
  }
  expect(parentsOf(plan).toSorted()).toEqual(['a', 'b', 'c'])
})

test('tasks of a plan: of steps, of compensations and of sub-workflows', () => {
  const payload = { value: null, holes: {} }
  const inner: StepPlan = {
    kind: 'workflow',
    name: 'w',
    input: payload,
    workflow: { name: 'in', steps: [step('deep')] },
  }
  expect(tasksOfPlan([{ ...step('a'), compensate: { task: 'undo', payload } }, inner, step('a')])).toEqual([
    'a',
    'undo',
    'deep',
  ])
})

test('a chain of a hundred thousand steps is sorted, and a cycle in it is named', () => {
  const chain = Array.from({ length: 100_000 }, (_, place) =>
    step(`s${place}`, place === 99_999 ? [] : [`s${place + 1}`]),
  )
  const checked = checkPlan({ name: 'chain', steps: chain })
  expect(checked.ok && [checked.order[0]?.name, checked.order.at(-1)?.name]).toEqual(['s99999', 's0'])
  const round = checkPlan({
    name: 'round',
    steps: [...chain.slice(0, 99_998), step('s99998', ['s99997']), step('s99999')],
  })
  expect(round).toMatchObject({
    ok: false,
    problems: [expect.stringMatching(/s99997 → s99998 → s99997|s99998 → s99997 → s99998/)],
  })
})

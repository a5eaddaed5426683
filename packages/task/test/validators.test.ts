/** Any Standard Schema types a task on both sides: what is enqueued is its input, what the code gets its output. */
import { type } from 'arktype'
import * as v from 'valibot'
import { expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { task, type PayloadOf } from '@q/task'

interface Given {
  url: string
  width?: number | undefined
}

const byZod = task(
  { input: z.object({ url: z.url(), width: z.number().default(800) }), concurrency: { key: '/url' } },
  ({ width }) => width + 1,
)
const byValibot = task(
  { input: v.object({ url: v.pipe(v.string(), v.url()), width: v.optional(v.number(), 800) }), unique: '/width' },
  ({ width }) => width + 1,
)
const byArktype = task(
  { input: type({ url: 'string.url', width: 'number = 800' }), unique: { key: '/url', for: '1h' } },
  ({ width }) => width + 1,
)

test.each([
  ['zod', byZod, true],
  ['valibot', byValibot, false],
  ['arktype', byArktype, true],
] as const)('%s', async (_, { options }, givesJsonSchema) => {
  expectTypeOf<PayloadOf<typeof byZod>>().toEqualTypeOf<Given>()
  expectTypeOf<PayloadOf<typeof byValibot>>().toEqualTypeOf<Given>()
  expectTypeOf<{ url: string }>().toExtend<PayloadOf<typeof byArktype>>()
  const standard = options.input!['~standard']
  expect(await standard.validate({ url: 'https://example.org' })).toMatchObject({ value: { width: 800 } })
  expect((await standard.validate({ url: 'nowhere' })).issues).toHaveLength(1)
  expect('jsonSchema' in standard).toBe(givesJsonSchema)
})

const wrong = () => {
  // @ts-expect-error the schema has no such member
  task({ input: v.object({ url: v.string() }), unique: '/href' }, () => 1)
  // @ts-expect-error nor this one
  task({ input: type({ url: 'string' }), unique: '/href' }, () => 1)
}

test('keys are held against the input of any of them', () => {
  expect(wrong).toBeTypeOf('function')
})

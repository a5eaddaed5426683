/** Any Standard Schema types a task on both sides: what is enqueued is its input, what the code gets its output. */
import { type } from 'arktype'
import * as v from 'valibot'
import { expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { task, type PayloadOf } from '@q/task'

interface ValidatorInput {
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
  expectTypeOf<PayloadOf<typeof byZod>>().toEqualTypeOf<ValidatorInput>()
  expectTypeOf<PayloadOf<typeof byValibot>>().toEqualTypeOf<ValidatorInput>()
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

test('keys are checked against the input of every validator', () => {
  expect(wrong).toBeTypeOf('function')
})

const decode = (text: string) => new Date(text)
const variants = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('now'), at: z.date() }),
  z.object({ kind: z.literal('never') }),
])

test.each([
  ['z.date()', z.date(), 'satisfies it;'],
  ['a member that is z.date()', z.object({ url: z.string(), at: z.date() }), 'satisfies it at /at;'],
  ['one inside', z.object({ a: z.object({ 'b/c': z.date() }) }), 'satisfies it at /a/b~1c;'],
  ['a bigint', z.object({ id: z.bigint() }), '/id;'],
  ['a Map', z.map(z.string(), z.string()), 'it;'],
  ['the first of a tuple', z.tuple([z.date()]), '/0;'],
  ['Date of arktype', type('Date'), 'it;'],
  ['a member that is Date of arktype', type({ at: 'Date' }), '/at;'],
  ['a bigint of arktype', type({ id: 'bigint' }), '/id;'],
])('a task whose input no JSON value satisfies is refused: %s', (_, input, place) => {
  expect(() => task({ input } as never, () => 1)).toThrow(expect.objectContaining({ code: 'TASK_OPTIONS_INVALID' }))
  expect(() => task({ input } as never, () => 1)).toThrow(place)
})

test.each([
  ['z.coerce.date()', z.object({ at: z.coerce.date() })],
  ['z.preprocess', z.object({ at: z.preprocess((text) => new Date(String(text)), z.date()) })],
  ['a transform of text', z.object({ at: z.string().transform(decode) })],
  ['a codec', z.codec(z.string(), z.date(), { decode, encode: (date) => date.toISOString() })],
  ['text or a Date', z.string().or(z.date())],
  ['a Date that may be missing', z.object({ at: z.date().optional() })],
  ['a Date in one variant', variants],
  ['z.custom', z.custom<string>()],
  ['string.date.parse of arktype', type({ at: 'string.date.parse' })],
  ['string or Date of arktype', type('string | Date')],
  ['what valibot cannot tell', v.object({ at: v.date() })],
])('a task whose input some JSON value satisfies is accepted: %s', (_, input) => {
  expect(task({ input } as never, () => 1).options.input).toBe(input)
})

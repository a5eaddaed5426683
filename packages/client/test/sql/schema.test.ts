/**
 * The database judges payloads by the published JSON Schema. Its law: it refuses nothing that the validator accepts.
 * What it does not understand it leaves to the check before the run.
 */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { connectedClient } from './connected-client.ts'

const client = await connectedClient()

async function problems(schema: unknown, payloads: readonly unknown[]): Promise<(string | null)[]> {
  const { rows } = await client.query<{ problem: string | null }>(
    `SELECT q.schema_problem($1, payload, $1) AS problem
      FROM jsonb_array_elements($2::jsonb) WITH ORDINALITY AS p(payload, place) ORDER BY place`,
    [JSON.stringify(schema), JSON.stringify(payloads)],
  )
  return rows.map(({ problem }) => problem)
}

const tree = z.object({
  name: z.string(),
  get children() {
    return z.array(tree).max(2)
  },
})

const schemas = {
  scalars: z.object({ a: z.string(), b: z.number().optional(), c: z.boolean().nullable(), d: z.int().default(1) }),
  bounds: z.object({
    a: z.string().min(2).max(4),
    b: z.number().gt(0).lte(10).multipleOf(2),
    c: z.array(z.int()).min(1).max(3),
  }),
  strict: z.strictObject({ a: z.literal('x'), b: z.enum(['p', 'q']).optional() }),
  loose: z.object({ a: z.literal([1, 2]) }).catchall(z.string()),
  union: z.union([z.string(), z.object({ a: z.number() }), z.array(z.null())]),
  tagged: z.discriminatedUnion('b', [
    z.object({ b: z.literal('p'), a: z.string() }),
    z.object({ b: z.literal('q'), c: z.int() }),
  ]),
  tuple: z.tuple([z.string(), z.number()]).rest(z.boolean()),
  record: z.record(z.string(), z.union([z.number(), z.null()])),
  intersection: z.intersection(z.object({ a: z.string() }), z.object({ b: z.number() })),
  formats: z.object({
    a: z.union([z.email(), z.uuid(), z.ipv4(), z.iso.datetime(), z.iso.date(), z.base64(), z.hostname()]),
    b: z
      .string()
      .regex(/^[\w.-]+@(?!\d)\w+\.\p{L}{2,}$/u)
      .optional(),
    c: z.string().startsWith('p').includes('q').optional(),
    d: z
      .string()
      .regex(/^\S+\b.{2,300}$/)
      .optional(),
  }),
  tree,
} as const

const word = fc.constantFrom(
  '',
  'x',
  'p',
  'q',
  'pq',
  'abcd',
  'abcde',
  '😀😀',
  '😀😀😀',
  'é',
  'ada@example.org',
  'Ada <a@b>',
  '127.0.0.1',
  'example.org',
  'p\nq',
  'aGk=',
  '2026-01-31',
  '2026-01-31T10:00:00Z',
  '123e4567-e89b-42d3-a456-426614174000',
  ' ',
  '\t',
  'a b',
)
const scalar = fc.oneof(
  word,
  fc.integer({ min: -3, max: 12 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
)
const { payload } = fc.letrec<{ payload: unknown }>((tie) => ({
  payload: fc.oneof(
    { maxDepth: 3 },
    { weight: 2, arbitrary: scalar },
    { weight: 1, arbitrary: fc.array(tie('payload'), { maxLength: 4 }) },
    {
      weight: 2,
      arbitrary: fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd', 'name', 'children'), tie('payload'), { maxKeys: 5 }),
    },
    { weight: 2, arbitrary: fc.record({ a: scalar, b: scalar, c: scalar, d: scalar }, { requiredKeys: [] }) },
    { weight: 1, arbitrary: fc.record({ name: word, children: fc.array(tie('payload'), { maxLength: 3 }) }) },
  ),
}))

test.each(Object.entries(schemas))('a value that zod accepts is not refused: %s', async (_, schema) => {
  const jsonSchema = schema['~standard'].jsonSchema.input({ target: 'draft-2020-12' })
  await fc.assert(
    fc.asyncProperty(fc.array(payload, { minLength: 100, maxLength: 150 }), async (payloads) => {
      const found = await problems(jsonSchema, payloads)
      const wrongly = payloads.flatMap((one, index) =>
        found[index] !== null && schema.safeParse(JSON.parse(JSON.stringify(one))).success
          ? [{ one, found: found[index] }]
          : [],
      )
      expect(wrongly).toEqual([])
    }),
    { numRuns: 25 },
  )
})

test.each<[object | boolean, unknown, string | null]>([
  [{ type: 'string' }, 1, 'the payload is of type number, not string'],
  [{ type: ['string', 'null'] }, true, 'the payload is of type boolean, not string or null'],
  [{ type: 'integer' }, 1.5, 'the payload is of type number with a fraction, not integer'],
  [{ required: ['a'] }, {}, 'the payload lacks a'],
  [
    { properties: { a: { properties: { 'b/c': { type: 'null' } } } } },
    { a: { 'b/c': 1 } },
    '/a/b~1c is of type number, not null',
  ],
  [{ additionalProperties: false, properties: { a: true } }, { a: 1, b: 2 }, '/b is not allowed'],
  [{ additionalProperties: { type: 'number' } }, { b: 'x' }, '/b is of type string, not number'],
  [{ additionalProperties: false, patternProperties: { '^x': {} } }, { x1: 1 }, null],
  [{ items: { type: 'number' } }, [1, 'x'], '/1 is of type string, not number'],
  [{ prefixItems: [{ const: 1 }], items: false }, [1, 2], '/1 is not allowed'],
  [{ items: [{ const: 1 }, { const: 3 }] }, [1, 2], '/1 is not 3'],
  [{ enum: ['a', { b: 1 }] }, { b: 2 }, 'the payload is none of ["a", {"b": 1}]'],
  [{ enum: ['a', { b: 1 }] }, { b: 1 }, null],
  [{ const: null }, false, 'the payload is not null'],
  [{ minimum: 1 }, 0, 'the payload is not within minimum 1'],
  [{ exclusiveMaximum: 1 }, 1, 'the payload is not within exclusiveMaximum 1'],
  [{ maximum: 0.3 }, 0.1 + 0.2, 'the payload is not within maximum 0.3'],
  [{ multipleOf: 3 }, 7, 'the payload is not within multipleOf 3'],
  [{ multipleOf: 0.01 }, 0.07, null],
  [{ minLength: 3 }, 'ab', 'the payload has fewer than 3 characters'],
  [{ maxLength: 1 }, 'ab', 'the payload has more than 1 characters'],
  [{ pattern: '^a+$' }, 'ab', 'the payload does not match ^a+$'],
  [{ pattern: String.raw`^\p{L}$` }, '1', null],
  [{ pattern: '(' }, '1', null],
  [{ minItems: 1 }, [], 'the payload has 0 items'],
  [{ uniqueItems: true }, [1, 2, 1], 'the payload has equal items'],
  [{ allOf: [{ type: 'object' }, { required: ['a'] }] }, {}, 'the payload lacks a'],
  [
    { anyOf: [{ type: 'string' }, { type: 'null' }] },
    1,
    'the payload fits none of the forms it may have; for the first, the payload is of type number, not string',
  ],
  [{ oneOf: [{ type: 'string' }, { minLength: 1 }] }, 'x', null],
  [{ $ref: '#/$defs/a', $defs: { a: { type: 'string' } } }, 1, 'the payload is of type number, not string'],
  [
    { $ref: '#', type: 'object', additionalProperties: { $ref: '#' } },
    { a: { b: 1 } },
    '/a/b is of type number, not object',
  ],
  [{ $ref: 'https://example.org/schema' }, 1, null],
  [{ anyOf: [{ $ref: '#' }, { $ref: '#' }] }, 1, null],
  [{ not: {}, if: true, contains: {}, unevaluatedProperties: false, type: 'date' }, { a: 1 }, null],
  [false, 1, 'the payload is not allowed'],
  [true, 1, null],
])('%j says of %j: %s', async (schema, value, problem) => {
  expect(await problems(schema, [value])).toEqual([problem])
})

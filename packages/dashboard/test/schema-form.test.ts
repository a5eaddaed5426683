import { expect, test } from 'vitest'
import { fieldsOf, payloadFrom } from '../src/pages/enqueue/schema-fields.ts'

const schema = {
  type: 'object',
  required: ['tenant', 'source'],
  properties: {
    tenant: { type: 'integer', minimum: 1 },
    source: { type: 'string' },
    profile: { enum: ['hd', 'sd'] },
    dryRun: { type: 'boolean', default: false },
    tags: { type: 'array' },
  },
}

test('a schema becomes one field per member', () => {
  expect(
    fieldsOf(schema)?.map(({ name, kind, isRequired }) => `${name} ${kind}${isRequired ? ' required' : ''}`),
  ).toEqual(['tenant number required', 'source text required', 'profile choice', 'dryRun boolean', 'tags json'])
})

test('a payload that is not an object of known members has no form', () => {
  expect([null, undefined, { type: 'string' }, { anyOf: [] }].map(fieldsOf)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ])
})

test('numbers are sent with the digits that were typed', () => {
  const { text, problems } = payloadFrom(fieldsOf(schema) ?? [], {
    tenant: '9007199254740993',
    source: 'a"b',
    tags: '[1]',
  })
  expect(text).toBe(String.raw`{ "tenant": 9007199254740993, "source": "a\"b", "dryRun": false, "tags": [1] }`)
  expect(problems).toEqual({})
})

test('a problem is shown at its field', () => {
  expect(payloadFrom(fieldsOf(schema) ?? [], { tenant: 'many', tags: '[1' }).problems).toEqual({
    tenant: 'It is not a number.',
    tags: 'It is not JSON.',
  })
  expect(payloadFrom(fieldsOf(schema) ?? [], {}).problems).toEqual({ tenant: 'It is required.' })
})

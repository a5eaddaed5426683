import { expect, test } from 'vitest'
import { RequestProblem } from '../src/api/problem.ts'
import { placedIssues, pointersOf } from '../src/pages/enqueue/issues.ts'
import { payloadFrom, payloadFromJson } from '../src/pages/enqueue/payload-from.ts'
import { enqueueCommandLine, noOptions, problemsOf } from '../src/pages/enqueue/run-options.tsx'
import { type FormField, formOf } from '../src/pages/enqueue/schema-form.ts'

const schema = {
  type: 'object',
  required: ['tenant', 'source', 'target'],
  properties: {
    tenant: { type: 'integer', minimum: 1 },
    source: { type: 'string' },
    profile: { enum: ['hd', 'sd', 4] },
    dryRun: { type: 'boolean', default: false },
    tags: { type: 'array' },
    target: {
      type: 'object',
      required: ['bucket'],
      properties: { bucket: { type: 'string' }, crop: { $ref: '#/$defs/crop' } },
    },
    owner: { anyOf: [{ type: 'string' }, { type: 'null' }] },
  },
  $defs: {
    crop: {
      type: 'object',
      required: ['width'],
      properties: { width: { type: 'integer' }, 'a/b': { type: 'number' } },
    },
  },
}
const form = formOf(schema) ?? []

function outline(fields: readonly FormField[]): string[] {
  return fields.flatMap((field) => [
    `${field.pointer} ${field.kind}${field.isRequired ? ' required' : ''}`,
    ...(field.kind === 'group' ? outline(field.fields) : []),
  ])
}

test('a schema becomes one field per member, and a group per object', () => {
  expect(outline(form)).toEqual([
    '/tenant integer required',
    '/source text required',
    '/profile choice',
    '/dryRun boolean',
    '/tags json',
    '/target group required',
    '/target/bucket text required',
    '/target/crop group',
    '/target/crop/width integer required',
    '/target/crop/a~1b number',
    '/owner text',
  ])
})

test('a payload that is not an object of known members has no form', () => {
  expect([null, undefined, { type: 'string' }, { anyOf: [] }].map(formOf)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ])
})

test('a schema that refers to itself ends in a field for JSON', () => {
  const node = { type: 'object', properties: { next: { $ref: '#' } } }
  expect(outline(formOf(node) ?? []).at(-1)).toBe('/next/next/next/next json')
})

test('values are written as typed, choices as they are in the schema, and a group only if something in it is given', () => {
  const typed = { '/tenant': '7', '/source': 'a"b', '/profile': '4', '/tags': '[1]', '/target/bucket': 'b' }
  const { text, problems } = payloadFrom(form, typed)
  expect(JSON.parse(text)).toEqual({
    tenant: 7,
    source: 'a"b',
    profile: 4,
    dryRun: false,
    tags: [1],
    target: { bucket: 'b' },
  })
  expect(problems).toEqual({})
  const cropped = payloadFrom(form, { ...typed, '/target/crop/a~1b': '1.50' })
  expect(cropped.text).toContain('"crop": { "a/b": 1.50 }')
  expect(cropped.problems).toEqual({ '/target/crop/width': 'It is required.' })
})

test('a problem is shown at its field', () => {
  expect(payloadFrom(form, { '/tenant': 'many', '/tags': '[1', '/target/crop/width': '1.5' }).problems).toEqual({
    '/tenant': 'It is not a number.',
    '/tags': 'It is not JSON.',
    '/target/crop/width': 'It is not a whole number.',
  })
  expect(payloadFrom(form, {}).problems).toEqual({ '/tenant': 'It is required.' })
})

test('an integer that would lose digits is refused where it was typed', () => {
  const words = '9007199254740993 has more digits than the code of a task gets. Send it as text, between quotes.'
  expect(
    payloadFrom(form, { '/tenant': '9007199254740993', '/tags': '[{ "id": 9007199254740993 }]' }).problems,
  ).toEqual({
    '/tenant': words,
    '/tags': words,
  })
  expect(payloadFromJson('{ "id": 9007199254740993 }').problems).toEqual({ '': words })
  expect(payloadFromJson('{ "id": "9007199254740993", "big": 9007199254740991 }').problems).toEqual({})
  expect(payloadFromJson('{ "id": 01 }').problems).toEqual({ '': 'This is not JSON.' })
})

test('an issue of the server is shown at the field that its value was typed into, or as a whole', () => {
  const place = (...issues: readonly { path: string; message: string }[]) =>
    placedIssues(
      new RequestProblem({ status: 422, code: 'X', title: '', why: null, fix: null, since: null, issues }),
      new Set(pointersOf(form)),
    )
  expect(
    place(
      { path: 'payload/target/bucket', message: 'too short' },
      { path: 'payload/tags/0/name', message: 'unknown' },
      { path: 'priority', message: 'too big' },
    ),
  ).toEqual({
    payload: { '/target/bucket': 'too short', '/tags': 'unknown' },
    options: { priority: 'too big' },
    isComplete: true,
  })
  expect(place({ path: 'payload/other', message: 'is not expected' })).toMatchObject({ isComplete: false })
  expect(place()).toMatchObject({ isComplete: false })
})

test('the command says everything that is enqueued', () => {
  const options = { group: 'tenant 1', priority: '-5', delay: '1.5' }
  expect(enqueueCommandLine('resize', '{\n  "a": "it\'s"\n}', options)).toBe(
    String.raw`q enqueue resize '{ "a": "it'\''s" }' --group 'tenant 1' --priority -5 --delay 1500ms`,
  )
  expect(problemsOf(options)).toEqual({})
  expect(Object.keys(problemsOf({ ...noOptions, priority: 'high', delay: '-1' }))).toEqual(['priority', 'delay'])
})

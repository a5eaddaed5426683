/** q.enqueue() of the database explains each refusal. */
import { DatabaseError } from 'pg'
import { expect, test } from 'vitest'
import { fixture } from './fixture.ts'

const { enqueue, publish } = await fixture()

async function refusal(call: string, values: unknown[] = []): Promise<DatabaseError> {
  const error = await enqueue(call, values).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error instanceof DatabaseError) return error
  throw new Error(`it was not refused: ${call}`)
}

test.each([
  ['no name', `''`, 'QE001', 'the task is empty'],
  ['no task at all', `NULL`, 'QE001', 'the task is null'],
  ['a name that is too long', `repeat('x', 101)`, 'QE001', 'the task has 101 characters; at most 100 are allowed'],
  ['a name with a line end', `E'a\\nb'`, 'QE001', 'the task contains a control character'],
  ['an empty key', `'t', unique_key => ''`, 'QE001', 'the unique key is empty'],
  [
    'a group of 101 emoji',
    `'t', run_group => repeat('😀', 101)`,
    'QE001',
    'the group has 202 characters; at most 200 are allowed',
  ],
  ['a delay into the past', `'t', delay => '-1 s'`, 'QE002', 'delay is not from 0 to 100 years'],
  ['a priority beyond', `'t', priority => 40000`, 'QE002', 'priority is not from -32768 to 32767'],
  ['no attempt', `'t', max_attempts => 0`, 'QE002', 'max_attempts is not from 1 to 32767'],
  ['a period without a key', `'t', unique_for => '1 h'`, 'QE002', 'unique_for has no unique_key'],
  [
    'two wrong options',
    `'t', max_attempts => 0, expires_in => '-1 s'`,
    'QE002',
    'max_attempts is not from 1 to 32767; expires_in is not from 0 to 100 years',
  ],
  ['NULL', `'t', NULL`, 'QE003', `it is SQL's NULL; the JSON value is written 'null'`],
  ['2 MB', `'t', to_jsonb(repeat('x', 2000000))`, 'QE003', 'it has 2000002 bytes as JSON; at most 1048576 are allowed'],
  ['65 levels', `'t', (repeat('[', 65) || repeat(']', 65))::jsonb`, 'QE003', 'it is more than 64 levels deep'],
  ['1e400', `'t', '[1, {"a": -1e400}]'`, 'QE003', 'it holds a number that is beyond the range of a double'],
])('%s is refused', async (_, call, code, detail) => {
  const error = await refusal(call)
  expect(error).toMatchObject({ code, detail, message: expect.stringContaining('nothing was enqueued') })
  expect(error.hint).not.toBe('')
})

test.each([
  `'t', (repeat('[', 64) || repeat(']', 64))::jsonb`,
  `'t', '[1.7976931348623157e308, 1e-400]'`,
  `repeat('😀', 50)`,
])('values at the limits are accepted: %s', async (call) => {
  expect(await enqueue(call)).toMatchObject({ duplicate: false })
})

test('a payload that violates the published schema is rejected with the place of the problem', async () => {
  const properties = { url: { type: 'string' }, width: { type: 'integer', minimum: 1 } }
  await publish('resize', {}, { type: 'object', properties, required: ['url'] })
  expect(await refusal(`'resize', '{"url":"x","width":0.5}'`)).toMatchObject({
    code: 'QE004',
    message: 'the payload is not what the task resize accepts; nothing was enqueued',
    detail: '/width is of type number with a fraction, not integer',
  })
  expect(await enqueue(`'resize', '{"url":"x","width":1.0}'`)).toMatchObject({ duplicate: false })
})

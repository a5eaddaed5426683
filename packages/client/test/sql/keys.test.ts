/** Keys that the database makes of a payload are those that TypeScript makes of it: judged on thousands of strange ones. */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { checkName } from '@q/schema/json'
import { runSettings } from '@q/task'
import { connectedClient } from './connected-client.ts'

const client = await connectedClient()

interface Asked {
  readonly payload: unknown
  readonly pointer: string
}

const keyAt = ({ payload, pointer }: Asked) =>
  runSettings('t', { unique: { key: pointer, forMs: null } }, payload).uniqueKey ?? null

async function keysOfTheDatabase(asked: readonly Asked[]): Promise<(string | null)[]> {
  const { rows } = await client.query<{ key: string | null }>(
    `SELECT q.key_at(a.payload, a.pointer) AS key
      FROM unnest($1::text[]::jsonb[], $2::text[]) WITH ORDINALITY AS a(payload, pointer, place) ORDER BY place`,
    [asked.map(({ payload }) => JSON.stringify(payload)), asked.map(({ pointer }) => pointer)],
  )
  return rows.map(({ key }) => key)
}

// Without NUL, which jsonb cannot hold; halves of surrogate pairs are not among them.
const text = fc.oneof(fc.string(), fc.string({ unit: 'binary' })).map((letters) => letters.replaceAll('\0', ''))
const jsonLike = fc.jsonValue({ maxDepth: 1 }).map((json) => `json:${JSON.stringify(json).replaceAll('\\u0000', '')}`)
const indexLike = fc.constantFrom('0', '1', '10', '9', '01', '-1', '1.5', '4294967294', '4294967295', '99999999999', '')
const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.maxSafeInteger(),
  fc.integer(),
  fc.integer({ min: -1074, max: 1023 }).map((power) => 2 ** power),
  fc
    .tuple(fc.integer({ min: -999, max: 999 }), fc.integer({ min: -330, max: 305 }))
    .map(([d, e]) => Number(`${d}e${e}`)),
)
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    text,
    jsonLike,
    number,
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(text, indexLike), tie('value'), { maxKeys: 6 }),
  ),
}))

/** A pointer to some place of it, or to none. */
function pointerInto(payload: unknown, turns: readonly number[]): string {
  let place = payload
  let pointer = ''
  for (const turn of turns) {
    if (typeof place !== 'object' || place === null) break
    const keys = Object.keys(place)
    const key = keys[turn % (keys.length + 1)] ?? 'length'
    pointer += `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
    place = Object.hasOwn(place, key) ? Reflect.get(place, key) : undefined
  }
  return pointer
}

const asked = fc
  .tuple(value, fc.array(fc.nat({ max: 9 }), { maxLength: 3 }))
  .map(([payload, turns]): Asked => ({ payload, pointer: pointerInto(payload, turns) }))

test('the key at any pointer of any payload is the same in SQL and in TypeScript', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(asked, { minLength: 60, maxLength: 100 }), async (many) => {
      expect(await keysOfTheDatabase(many)).toEqual(many.map(keyAt))
    }),
    { numRuns: 60 },
  )
})

test('the database writes a number as JavaScript does', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(number, { minLength: 200, maxLength: 300 }), async (numbers) => {
      const { rows } = await client.query<{ written: string }>(
        'SELECT q.js_number(n) AS written FROM unnest($1::text[]::numeric[]) WITH ORDINALITY AS a(n, place) ORDER BY place',
        [numbers.map(String)],
      )
      expect(rows.map(({ written }) => written)).toEqual(numbers.map((one) => String(one === 0 ? 0 : one)))
    }),
    { numRuns: 60 },
  )
})

test('numbers with more digits than a double holds are the doubles that JavaScript reads', async () => {
  const texts = [
    '0.1000000000000000055511151231257827',
    '9007199254740993',
    '123456789012345678901234567890',
    '1e-400',
    '1e23',
  ]
  const { rows } = await client.query<{ written: string }>(
    'SELECT q.js_number(n) AS written FROM unnest($1::text[]::numeric[]) WITH ORDINALITY AS a(n, place) ORDER BY place',
    [texts],
  )
  expect(rows.map(({ written }) => written)).toEqual(texts.map((one) => String(Number(one))))
})

test('SQL and TypeScript reject the same names for the same reason', async () => {
  const name = fc.oneof(text, fc.string({ unit: 'binary', minLength: 90, maxLength: 110 }))
  await fc.assert(
    fc.asyncProperty(fc.array(name, { minLength: 60, maxLength: 100 }), async (names) => {
      const storable = names.map((one) => one.replaceAll('\0', ''))
      const { rows } = await client.query<{ problem: string | null }>(
        `SELECT q.name_problem('task', n, 100) AS problem FROM unnest($1::text[]) WITH ORDINALITY AS a(n, place) ORDER BY place`,
        [storable],
      )
      const problemOf = (one: string) => checkName('task', one)
      expect(rows.map(({ problem }) => problem?.replace('the task ', ''))).toEqual(storable.map(problemOf))
    }),
    { numRuns: 40 },
  )
})

import { expect, test } from 'vitest'
import { checkJson, repairJson } from '@q/schema/json'

test('a valid value is unchanged, and nothing is flagged', () => {
  const value = { a: [1, 'two', null], at: new Date(0), nothing: undefined }
  expect(repairJson(value)).toEqual({ kind: 'json', text: JSON.stringify(value), repaired: [] })
})

test('undefined becomes null, which is not a repair', () => {
  expect(repairJson(undefined)).toEqual({ kind: 'json', text: 'null', repaired: [] })
})

test.each<[string, unknown, unknown, string[]]>([
  ['a NUL character', { a: 'x\0y' }, { a: 'x\uFFFDy' }, ['/a']],
  ['half of a surrogate pair', ['\uDC00😀'], ['\uFFFD😀'], ['/0']],
  ['a key', { 'a\0': { '\uD800': 1 } }, { 'a\uFFFD': { '\uFFFD': 1 } }, ['/a\uFFFD/\uFFFD', '/a\uFFFD']],
  ['a key and its value', { '\0': '\0' }, { '\uFFFD': '\uFFFD' }, ['/\uFFFD', '/\uFFFD']],
  ['a number out of range', { a: [Number.NaN, -Infinity] }, { a: [null, null] }, ['/a/0', '/a/1']],
  ['a number alone', Number.NaN, null, ['']],
  ['an invalid date', [new Date('never')], [null], ['/0']],
  ['a hole', Object.assign([1], { 2: 3 }), [1, null, 3], ['/1']],
  ['a method and a symbol', { call() {}, symbol: Symbol('s') }, { call: null, symbol: null }, ['/call', '/symbol']],
])('%s is repaired and flagged', (_, value, repairedValue, repaired) => {
  const result = repairJson(value)
  expect(result).toEqual({ kind: 'json', text: JSON.stringify(repairedValue), repaired })
})

test.each<[string, unknown, string, string]>([
  ['a function', () => 1, 'function', ''],
  ['a symbol', Symbol('s'), 'symbol', ''],
  ['a bigint', { a: [1n] }, 'bigint', '/a/0'],
  ['a Map', { a: new Map() }, 'not-plain', '/a'],
  [
    'a getter that throws',
    {
      get a(): unknown {
        throw new Error('no')
      },
    },
    'unreadable',
    '/a',
  ],
])('%s cannot be repaired: the error names its place', (_, value, reason, pointer) => {
  expect(repairJson(value)).toMatchObject({ kind: 'not-json', problem: { reason, pointer } })
})

test('a bigint becomes a string of its digits where that is allowed, within the limit of bytes', () => {
  const limits = { bytesMax: 40, depthMax: 5, bigintAsText: true }
  expect(repairJson({ a: [-(2n ** 53n) - 1n] }, limits)).toEqual({
    kind: 'json',
    text: '{"a":["-9007199254740993"]}',
    repaired: [],
  })
  expect(repairJson(10n ** 50n, limits)).toMatchObject({ kind: 'too-large' })
})

test('a cycle and too many levels are not JSON', () => {
  const self: unknown[] = []
  self.push(self)
  let deep: unknown = 1
  for (let level = 0; level < 5_000; level++) deep = [deep]
  expect(repairJson(self)).toMatchObject({ kind: 'not-json', problem: { reason: 'cycle', pointer: '/0' } })
  expect(repairJson(deep)).toMatchObject({ kind: 'not-json', problem: { reason: 'too-deep' } })
})

test('a value that is too large is reported with the size that was seen', () => {
  expect(repairJson('x'.repeat(2_000_000))).toEqual({ kind: 'too-large', bytes: 2_000_002 })
  expect(repairJson('é'.repeat(600_000))).toEqual({ kind: 'too-large', bytes: 1_200_002 })
})

test('the list of repairs is bounded, however many there are', () => {
  const result = repairJson(Array.from({ length: 100_000 }, () => Number.NaN))
  expect(result).toMatchObject({ kind: 'json', repaired: { length: 10 } })
})

test('a repaired value passes the check', () => {
  const result = repairJson({ 'a\0b': ['\uD800', Number.NaN, undefined, () => 1] })
  if (result.kind !== 'json') throw new Error(`not repaired: ${result.kind}`)
  expect(checkJson(JSON.parse(result.text))).toEqual({ ok: true, text: result.text })
})

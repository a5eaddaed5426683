import { createContext, runInContext } from 'node:vm'
import { expect, test } from 'vitest'
import { checkJson, type JsonReason } from '@q/schema/json'

/** `reason at pointer`, for each problem. */
function problems(value: unknown): string[] {
  const checked = checkJson(value)
  return checked.ok ? [] : checked.problems.map(({ reason, pointer }) => `${reason} at ${pointer}`)
}

function nested(depth: number): unknown {
  let value: unknown = 'bottom'
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { a: value }
  return value
}

class Point {
  readonly x = 1
}
class Secretive {
  readonly #state = 1
  get state() {
    return this.#state
  }
}
class NamedMap extends Map<string, number> {
  readonly label = 'map'
}

test.each<[string, unknown]>([
  ['null', null],
  ['false', false],
  ['an empty string', ''],
  ['a number at each end of its range', [Number.MAX_VALUE, -Number.MAX_VALUE, Number.MIN_VALUE, 2 ** 53, -0, 1e21]],
  ['characters that need an escape', '"\\\n\u0001\u001F\u007F\u2028\uFFFD\uFFFF😀/'],
  ['nested arrays and objects', { a: [1, [2, { b: null }]], '': {}, 'c d': [] }],
  ['a date, by its toJSON', { at: new Date(0) }],
  ['bytes in a Buffer, by its toJSON', Buffer.from('ab')],
  ['a URL, by its toJSON', new URL('https://example.org/')],
  ['a toJSON that receives its key', { key: { toJSON: (key: string) => key } }],
  ['a toJSON that returns another with one', { toJSON: () => ({ toJSON: 1, a: 2 }) }],
  ['a member that is undefined', { a: undefined, b: 1 }],
  ['a member whose toJSON gives nothing', { a: { toJSON: () => undefined }, b: 1 }],
  ['a symbol as key', { [Symbol('hidden')]: 1, a: 2 }],
  ['an object without prototype', Object.assign(Object.create(null), { a: 1 })],
  ['an object of another realm', runInContext('({ a: [1, {}] })', createContext())],
  ['an instance of a class with fields', new Point()],
  ['an own key named __proto__', JSON.parse('{"__proto__":{"polluted":true},"constructor":1}')],
  ['64 levels', nested(64)],
  ['a proxy', new Proxy({ a: [1] }, {})],
])('%s is written as JSON.stringify does', (_, value) => {
  expect(checkJson(value)).toEqual({ ok: true, text: JSON.stringify(value) })
})

test('an object in several places is written in each', () => {
  const shared = { a: [1] }
  expect(checkJson([shared, { shared }])).toEqual({ ok: true, text: '[{"a":[1]},{"shared":{"a":[1]}}]' })
})

test.each<[string, unknown, string]>([
  ['undefined', undefined, 'undefined at '],
  ['what toJSON makes undefined', { toJSON: () => undefined }, 'undefined at '],
  ['a function', () => 1, 'function at '],
  ['a symbol', Symbol('s'), 'symbol at '],
  ['a bigint', { id: 1n }, 'bigint at /id'],
  ['a function inside', { call() {} }, 'function at /call'],
  ['undefined in an array', [1, undefined], 'undefined at /1'],
  ['a hole in an array', Object.assign([1], { 2: 3 }), 'undefined at /1'],
  ['a NUL character', ['a\0b'], 'nul-character at /0'],
  ['a NUL character in a key', { a: { 'b\0c': 1 } }, 'nul-character at /a/b\uFFFDc'],
  ['half of a surrogate pair', { a: '\uD83D' }, 'lone-surrogate at /a'],
  ['half of a surrogate pair in a key', { '\uDE00': 1 }, 'lone-surrogate at /\uFFFD'],
  ['NaN', [Number.NaN], 'not-finite at /0'],
  ['a number that JavaScript reads as infinite', JSON.parse('{"a":[1e400]}'), 'not-finite at /a/0'],
  ['an invalid date', { at: new Date('never') }, 'not-finite at /at'],
  ['a Map', { a: new Map([['a', 1]]) }, 'not-plain at /a'],
  ['a Map with fields of its own', new NamedMap(), 'not-plain at '],
  ['a Set', [new Set([1])], 'not-plain at /0'],
  ['an Error', { error: Object.assign(new Error('lost'), { errno: 1 }) }, 'not-plain at /error'],
  ['a promise that was not awaited', { a: Promise.resolve(1) }, 'not-plain at /a'],
  ['an instance that keeps its state private', new Secretive(), 'not-plain at '],
  ['a typed array', new Uint8Array([1, 2]), 'not-plain at '],
  ['a boxed string', { a: Object('text') }, 'not-plain at /a'],
  ['65 levels', nested(65), `too-deep at ${'/0/a'.repeat(32)}`],
  ['a key with slash and tilde', { 'a/b': [{ '~c': 1n }] }, 'bigint at /a~1b/0/~0c'],
  ['a key with a line break', { 'a\nb': 1n }, 'bigint at /a\uFFFDb'],
  ['more than 1 MiB', { text: 'x'.repeat(1_048_576) }, 'too-large at '],
])('%s is refused, and where it is', (_, value, problem) => {
  expect(problems(value)).toEqual([problem])
})

test('raw JSON text, which JavaScript would not read back equal, is refused', () => {
  const rawJSON: unknown = Reflect.get(JSON, 'rawJSON')
  if (typeof rawJSON !== 'function') throw new Error('this Node has no JSON.rawJSON')
  expect(problems({ a: Reflect.apply(rawJSON, JSON, ['1e400']) })).toEqual(['not-plain at /a'])
})

test('1 MiB is measured in bytes of UTF-8, to the byte', () => {
  expect(problems('é'.repeat(524_287))).toEqual([])
  expect(problems('é'.repeat(524_287) + 'x')).toEqual(['too-large at '])
  expect(problems(['x'.repeat(1_048_572)])).toEqual([])
  expect(problems(['x'.repeat(1_048_573)])).toEqual(['too-large at '])
})

test('numbers are accepted as long as the database returns them unchanged', () => {
  expect(problems(Array.from({ length: 3_000 }, () => 5e-324))).toEqual([])
  expect(problems(Array.from({ length: 4_000 }, () => 5e-324))).toEqual(['too-large at '])
})

test('a cycle is named where it closes', () => {
  const self: Record<string, unknown> = { list: [] }
  self['list'] = [{ self }]
  expect(problems(self)).toEqual(['cycle at /list/0/self'])
})

test('up to ten problems are reported together, in the order of the text', () => {
  expect(problems({ a: 1n, b: { c: '\0' }, d: [undefined] })).toEqual([
    'bigint at /a',
    'nul-character at /b/c',
    'undefined at /d/0',
  ])
  expect(problems(Array.from({ length: 1_000 }, () => 1n))).toHaveLength(10)
})

test('an error that the value throws is reported at its place, and the rest is still checked', () => {
  const revoked = Proxy.revocable({}, {})
  revoked.revoke()
  const hostile = {
    get getter(): unknown {
      throw new Error('no\0way')
    },
    toJSONs: {
      toJSON() {
        throw undefined
      },
    },
    revoked: revoked.proxy,
    unspeakable: {
      get a(): unknown {
        throw Object.create(null)
      },
    },
    last: 1n,
  }
  expect(problems(hostile)).toEqual([
    'unreadable at /getter',
    'unreadable at /toJSONs',
    'unreadable at /revoked',
    'unreadable at /unspeakable/a',
    'bigint at /last',
  ])
  expect(checkJson(hostile)).toMatchObject({ problems: [{ detail: 'cannot be read: no\uFFFDway' }, {}, {}, {}, {}] })
})

test('every member is read once, so the checked value is the written value', () => {
  let reads = 0
  const fickle = {
    get a() {
      return ++reads === 1 ? 'fine' : '\0'
    },
  }
  expect(checkJson(fickle)).toEqual({ ok: true, text: '{"a":"fine"}' })
  expect(reads).toBe(1)
})

/** Each ends although the value does not. */
test.each<[string, () => unknown, JsonReason]>([
  ['an array that says it is endless', () => endlessArray(), 'too-large'],
  ['an array with four billion holes', () => holes(), 'undefined'],
  ['an object that is new at every look', () => bottomless(), 'too-deep'],
  ['shared references that double at every level', () => doubling(60), 'too-large'],
  ['a string of 50 MB', () => 'x'.repeat(50_000_000), 'too-large'],
  ['a key of 50 MB', () => ({ ['x'.repeat(50_000_000)]: 1n }), 'bigint'],
])('%s is refused in bounded time and few words', (_, make, reason) => {
  const begunMs = performance.now()
  const checked = checkJson(make())
  expect(performance.now() - begunMs).toBeLessThan(5_000)
  expect(checked).toMatchObject({ ok: false, problems: expect.arrayContaining([expect.objectContaining({ reason })]) })
  expect(JSON.stringify(checked).length).toBeLessThan(5_000)
})

function endlessArray(): unknown {
  return new Proxy([], {
    get: (_, key) => (key === 'length' ? Number.MAX_SAFE_INTEGER : key === 'toJSON' ? undefined : 1),
  })
}

function holes(): unknown[] {
  const array: unknown[] = []
  array.length = 2 ** 32 - 2
  return array
}

function bottomless(): unknown {
  return new Proxy({ deeper: 1 }, { get: (_, key) => (key === 'toJSON' ? undefined : bottomless()) })
}

function doubling(levels: number): unknown {
  let value: unknown = []
  for (let level = 0; level < levels; level++) value = [value, value]
  return value
}

test('limits can be narrower', () => {
  expect(checkJson([[1]], { bytesMax: 100, depthMax: 1 })).toMatchObject({ problems: [{ reason: 'too-deep' }] })
  expect(checkJson('12345', { bytesMax: 6, depthMax: 1 })).toMatchObject({ problems: [{ reason: 'too-large' }] })
})

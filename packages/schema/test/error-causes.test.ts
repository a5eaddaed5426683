import { expect, test } from 'vitest'
import { causesOf, causesText } from '@q/schema/json'

const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' })

test('the cause of an error is kept with its code, and the cause of the cause', () => {
  const error = new Error('the order failed', { cause: new TypeError('fetch failed', { cause: refused }) })
  const causes = causesOf(error)
  expect(causes).toMatchObject({
    cause: { name: 'TypeError', message: 'fetch failed', cause: { message: refused.message, code: 'ECONNREFUSED' } },
  })
  expect(causesText(causes)).toBe(`; caused by TypeError: fetch failed; caused by Error: ${refused.message}`)
})

test('the errors of an AggregateError are kept, even if it has no message of its own', () => {
  const error = new Error('no host answered', { cause: new AggregateError([refused, new Error('b')], '') })
  expect(causesText(causesOf(error))).toBe(`; caused by AggregateError; errors: Error: ${refused.message} | Error: b`)
})

test('a cause that is not an error is kept as text', () => {
  const [words, data] = ['out of stock', { status: 503 }].map((cause) => causesOf(new Error('x', { cause })))
  expect(causesText(words!)).toBe('; caused by out of stock')
  expect(causesText(data!)).toBe('; caused by { status: 503 }')
})

test('an error without a cause has none', () => {
  expect([new Error('alone'), 'text', undefined, null, 5].map(causesOf)).toEqual([{}, {}, {}, {}, {}])
  expect(causesText({})).toBe('')
})

test('causes are bounded in depth, number and length, and circular causes end', () => {
  const circle = new Error('circle')
  circle.cause = new Error('half', { cause: circle })
  expect(causesOf(circle)).toMatchObject({ cause: { message: 'half' } })
  let deep = new Error('0')
  for (let depth = 1; depth < 50; depth++) deep = new Error(String(depth), { cause: deep })
  const wide = new AggregateError(
    Array.from({ length: 1_000 }, () => new AggregateError([deep, deep], 'x'.repeat(9_999))),
  )
  for (const error of [deep, wide]) {
    expect(JSON.stringify(causesOf(error)).length).toBeLessThan(80_000)
    expect(causesText(causesOf(error)).length).toBeLessThan(2_100)
  }
})

test('an error whose getters throw, or whose text jsonb cannot hold, is still a cause', () => {
  const hostile = Object.defineProperties(new Error('a\0b'), {
    name: {
      get() {
        throw new Error('no name')
      },
    },
    stack: { value: 7 },
    code: { value: Symbol('c') },
  })
  expect(causesOf(new Error('x', { cause: hostile }))).toEqual({
    cause: { name: 'something that cannot be written as text', message: 'a\uFFFDb' },
  })
  expect(causesOf(new Error('x', { cause: Object.create(null) }))).toMatchObject({
    cause: { message: expect.any(String) },
  })
})

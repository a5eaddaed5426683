import { expect, test } from 'vitest'
import { parseLossless, pretty } from '../src/parts/json/lossless.ts'

test('a 64-bit integer keeps its digits', () => {
  expect(pretty('{"id":9007199254740993,"rate":22.50}')).toBe('{\n  "id": 9007199254740993,\n  "rate": 22.50\n}')
})

test('text with braces, quotes and escapes is one value', () => {
  expect(parseLossless(String.raw`["a\"]{", "\\"]`)).toEqual({
    kind: 'array',
    items: [
      { kind: 'atom', raw: String.raw`"a\"]{"` },
      { kind: 'atom', raw: String.raw`"\\"` },
    ],
  })
})

test.each(['', '{', '{"a":1,}', '[1 2]', '{a:1}', 'undefined', '"open', '{"a":1}}', '[1]]'])(
  '%s is not JSON',
  (text) => {
    expect(parseLossless(text)).toBeUndefined()
  },
)

test('JSON that is deeper than a person reads is left as text', () => {
  const deep = '['.repeat(5_000) + ']'.repeat(5_000)
  expect(parseLossless(deep)).toBeUndefined()
  expect(pretty(deep)).toBe(deep)
})

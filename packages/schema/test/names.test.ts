import { expect, test } from 'vitest'
import { checkName, type NameKind } from '@q/schema/json'

const lengths: Record<NameKind, number> = {
  task: 100,
  queue: 100,
  group: 200,
  'unique key': 500,
  'throttle key': 500,
  'debounce key': 500,
  schedule: 110,
  destination: 100,
  'concurrency scope': 100,
  'concurrency key': 500,
}

test.each(Object.entries(lengths) as [NameKind, number][])('a %s has 1 to %i characters', (kind, charsMax) => {
  expect(checkName(kind, '')).toBe('is empty')
  expect(checkName(kind, 'x')).toBeUndefined()
  expect(checkName(kind, 'x'.repeat(charsMax))).toBeUndefined()
  expect(checkName(kind, 'x'.repeat(charsMax + 1))).toContain(`at most ${charsMax}`)
})

test('any printable text is a key', () => {
  for (const key of ['tenant 7', 'https://example.org/?a=b', 'Grüße 😀', '日本', "'; DROP TABLE"]) {
    expect(checkName('unique key', key)).toBeUndefined()
  }
})

test.each([
  ['a NUL character', 'a\0b', 'control character'],
  ['the separator of concurrency keys', 'a\u001Fb', 'control character'],
  ['a line break', 'a\nb', 'control character'],
  ['an escape of a terminal', '\u009B31m', 'control character'],
  ['half of a surrogate pair', 'a\uD800', 'surrogate'],
  ['a number', 7, 'not a string'],
])('%s is in no name', (_, name, problem) => {
  expect(checkName('task', name)).toContain(problem)
})

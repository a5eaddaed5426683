/**
 * Checks names and keys from outside. They must not contain control characters: names appear in logs and terminals, and
 * U+001F separates a concurrency key from its scope.
 *
 * Their lengths are limited because a key and the name before it share one row of a btree index, which holds 2704
 * bytes; a character takes at most three bytes for each unit of length.
 */
import { isStorableText } from './text.ts'

const charsMax = {
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
} as const
export type NameKind = keyof typeof charsMax

/** The problem of a name, as the end of a sentence that begins with the kind: `is empty`. */
export function checkName(kind: NameKind, name: unknown): string | undefined {
  if (typeof name !== 'string') return 'is not a string'
  if (name === '') return 'is empty'
  if (name.length > charsMax[kind]) return `has ${name.length} characters; at most ${charsMax[kind]} are allowed`
  if (/\p{Cc}/u.test(name)) return 'contains a control character'
  if (!isStorableText(name)) return 'contains half of a surrogate pair'
  return undefined
}

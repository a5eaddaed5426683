/**
 * Keys from a payload: the value at a JSON pointer, as text. Equal values have equal keys, whatever the order of an
 * object's members; values of different JSON types never do. The key of a string is the string, the key of any other
 * value is `json:` and its JSON. If the value is too long or has characters that a key may not have, or if a string
 * begins with `json:`, its hash is the key.
 *
 * `q.key_at` of the database returns the same key for the same JSON; a test compares them.
 */
import { createHash } from 'node:crypto'

const charsMax = 200
const jsonPrefix = 'json:'

/** The key at a pointer; undefined if the payload has no value or null there. The empty pointer is the whole payload. */
export function keyAt(payload: unknown, pointer: string): string | undefined {
  const json = canonical(valueAt(payload, pointer))
  if (json === undefined || json === 'null') return undefined
  // As JSON: a Date, for instance, is a string.
  return json.startsWith('"') ? textKey(JSON.parse(json) as string) : jsonKey(json)
}

function textKey(text: string): string {
  return isPlain(text) && !text.startsWith(jsonPrefix) ? text : hashOf(text)
}

function jsonKey(json: string): string {
  return `${jsonPrefix}${isPlain(json) ? json : hashOf(json)}`
}

function isPlain(text: string): boolean {
  return text !== '' && text.length <= charsMax && text.isWellFormed() && !/\p{Cc}/u.test(text)
}

function hashOf(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('base64url')}`
}

function valueAt(payload: unknown, pointer: string): unknown {
  let value = payload
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    if (Array.isArray(value) && key === 'length') return undefined // not an item
    value = Reflect.get(value, key)
  }
  return value
}

/** Undefined if the value cannot be written as JSON; the payload check reports that. */
function canonical(value: unknown): string | undefined {
  try {
    return JSON.stringify(value, (_, member: unknown) =>
      typeof member === 'object' && member !== null && !Array.isArray(member)
        ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)))
        : member,
    )
  } catch {
    return undefined
  }
}

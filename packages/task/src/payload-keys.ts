/**
 * Keys that come out of a payload: the value at a JSON pointer, as text by which equal values are recognised. The order
 * of an object's members does not matter. What is too long or too strange for a name is told apart by its hash.
 *
 * `q.key_at` of the database says the same of the same JSON: this file is the truth, and a test holds them together.
 */
import { createHash } from 'node:crypto'

const charsMax = 200

/** Undefined where the payload has no such place, or null there. The empty pointer is the whole payload. */
export function keyAt(payload: unknown, pointer: string): string | undefined {
  const value = valueAt(payload, pointer)
  const text = typeof value === 'string' ? value : textOf(canonical(value))
  if (text === undefined) return undefined
  const isPlain = text !== '' && text.length <= charsMax && text.isWellFormed() && !/\p{Cc}/u.test(text)
  return isPlain ? text : `sha256:${createHash('sha256').update(text).digest('base64url')}`
}

function valueAt(payload: unknown, pointer: string): unknown {
  let value = payload
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    if (Array.isArray(value) && key === 'length') return undefined // no item
    value = Reflect.get(value, key)
  }
  return value
}

/** Undefined: it has no JSON, and whoever checks the payload says so. */
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

/** What is a string in JSON, a Date for instance, is known by that string. */
function textOf(json: string | undefined): string | undefined {
  if (json === undefined || json === 'null') return undefined
  return json.startsWith('"') ? (JSON.parse(json) as string) : json
}

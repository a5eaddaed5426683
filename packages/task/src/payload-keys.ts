/**
 * Keys that come out of a payload: the value at a JSON pointer, as text by which equal values are recognised. The order
 * of an object's members does not matter. What is too long or too strange for a name is told apart by its hash.
 */
import { createHash } from 'node:crypto'

const charsMax = 200

/** Undefined where the payload has no such place, or null there. The empty pointer is the whole payload. */
export function keyAt(payload: unknown, pointer: string): string | undefined {
  const value = valueAt(payload, pointer)
  if (value === undefined || value === null) return undefined
  const text = typeof value === 'string' ? value : canonical(value)
  const isPlain = text !== '' && text.length <= charsMax && text.isWellFormed() && !/\p{Cc}/u.test(text)
  return isPlain ? text : `sha256:${createHash('sha256').update(text).digest('base64url')}`
}

function valueAt(payload: unknown, pointer: string): unknown {
  let value = payload
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = Reflect.get(value, key)
  }
  return value
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  )
}

/**
 * Returns the concurrency key of a step: the value at a pointer of its payload, as text. It is the same key that `@q/task`
 * returns for a run that is not a step (payload-keys.ts explains it), so steps and other runs share keys.
 */
import { createHash } from 'node:crypto'
import { valueAt } from '@q/schema/workflow'

const charsMax = 200
const jsonPrefix = 'json:'

/** Returns undefined if there is no value at the pointer, or null. */
export function stepKeyAt(payload: unknown, pointer: string): string | undefined {
  const value = valueAt(payload, pointer)
  if (value === undefined || value === null) return undefined
  return typeof value === 'string' ? textKey(value) : jsonKey(canonical(value))
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

/** Whether the key would come from a result that does not exist yet. */
export function isKeyedByResult(at: string, pointers: readonly string[]): boolean {
  return pointers.some((pointer) => pointer === at || pointer.startsWith(`${at}/`) || at.startsWith(`${pointer}/`))
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  )
}

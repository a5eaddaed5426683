/**
 * The concurrency key of a step: the value at a place of its payload, as the text by which equal values are recognised.
 * The same text as `@q/task` makes of the payload of a run that is no step, so both share the key.
 */
import { createHash } from 'node:crypto'
import { valueAt } from '@q/schema/workflow'

const charsMax = 200

/** Undefined where there is no such place, or null there. */
export function keyAt(payload: unknown, pointer: string): string | undefined {
  const value = valueAt(payload, pointer)
  if (value === undefined || value === null) return undefined
  const text = typeof value === 'string' ? value : canonical(value)
  const isPlain = text !== '' && text.length <= charsMax && text.isWellFormed() && !/\p{Cc}/u.test(text)
  return isPlain ? text : `sha256:${createHash('sha256').update(text).digest('base64url')}`
}

/** True if the key would come out of a result that is not there yet. */
export function isKeyedByResult(at: string, holes: readonly string[]): boolean {
  return holes.some((pointer) => pointer === at || pointer.startsWith(`${at}/`) || at.startsWith(`${pointer}/`))
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  )
}

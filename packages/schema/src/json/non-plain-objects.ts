/** Detects objects whose content JSON would lose. Their own code may throw; the walk catches that. */
import { types } from 'node:util'
import { storableText } from './text.ts'

const nameCharsMax = 100
const messageCharsMax = 200

/**
 * Names an object whose content JSON would silently drop: a Map, a Set, an Error, bytes, a boxed primitive, or any
 * other object that would become `{}` (a Promise that was not awaited, a class with private state). An instance of a
 * class with fields counts as a plain object with those fields.
 */
export function describeNonPlain(value: object, keys: readonly string[]): string | undefined {
  if (isPlain(value)) return isRawJson(value) ? 'a JSON.rawJSON' : undefined
  const holdsMore =
    types.isMap(value) ||
    types.isSet(value) ||
    types.isNativeError(value) ||
    types.isBoxedPrimitive(value) ||
    ArrayBuffer.isView(value)
  return holdsMore || keys.length === 0 ? `an instance of ${classOf(value)}` : undefined
}

/** Whether the value is a plain object, including one from another realm: its prototype has no prototype. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null
}

/**
 * Raw JSON text (`JSON.rawJSON`), which may have numbers beyond double precision, so JavaScript could not read it back.
 */
function isRawJson(value: object): boolean {
  const isRawJSON: unknown = Reflect.get(JSON, 'isRawJSON')
  return typeof isRawJSON === 'function' && Reflect.apply(isRawJSON, JSON, [value]) === true
}

function classOf(value: object): string {
  const name: unknown = Reflect.get(Object(Reflect.get(value, 'constructor')), 'name')
  return typeof name === 'string' && name !== '' ? storableText(name.slice(0, nameCharsMax)) : 'a class without a name'
}

/** Never throws, for any thrown value. */
export function messageOf(error: unknown): string {
  try {
    return storableText(String(error instanceof Error ? error.message : error).slice(0, messageCharsMax))
  } catch {
    return 'what it threw cannot be written as text'
  }
}

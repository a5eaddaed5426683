/** Objects that are more than the data JSON shows of them. Their own code may throw; the walk catches that. */
import { types } from 'node:util'
import { storableText } from './text.ts'

const nameCharsMax = 100
const messageCharsMax = 200

/**
 * What an object is, if JSON would silently drop what it holds: a Map, a Set, an Error, bytes, a boxed primitive, or
 * whatever else is no plain object and would become `{}` (a Promise that was not awaited, a class with private state).
 * Instances of a class with fields are taken for those fields.
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

/** Whether it is a plain object, including one from another realm: its prototype is the root of its own. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null
}

/** Text meant to be copied unchanged, numbers beyond double precision among it: JavaScript would not give it back. */
function isRawJson(value: object): boolean {
  const isRawJSON: unknown = Reflect.get(JSON, 'isRawJSON')
  return typeof isRawJSON === 'function' && Reflect.apply(isRawJSON, JSON, [value]) === true
}

function classOf(value: object): string {
  const name: unknown = Reflect.get(Object(Reflect.get(value, 'constructor')), 'name')
  return typeof name === 'string' && name !== '' ? storableText(name.slice(0, nameCharsMax)) : 'a class without a name'
}

/** Never throws, whatever was thrown. */
export function messageOf(error: unknown): string {
  try {
    return storableText(String(error instanceof Error ? error.message : error).slice(0, messageCharsMax))
  } catch {
    return 'what it threw cannot be written as text'
  }
}

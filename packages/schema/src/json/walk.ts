/**
 * Converts a value to JSON text. It reads every member once, so that it writes exactly what it has checked, even if a
 * getter or proxy would return something else the second time. It writes the same text as `JSON.stringify`, including
 * `toJSON`, and reports where that would lose data silently.
 *
 * `bytesMax` bounds the text (every array, object and item counts, so shared references, endless arrays and proxies
 * reach it), `depthMax` bounds the recursion, and the judge can stop the walk. A getter that never returns blocks it.
 * Nothing here throws: an error from a value's own code is reported at that value.
 */
import { types } from 'node:util'
import { messageOf, describeNonPlain } from './non-plain-objects.ts'
import { problemAt, type JsonLimits, type JsonProblem, type JsonReason } from './problem.ts'
import { isStorableText, storableText } from './text.ts'

export interface WrittenJson {
  /** Undefined: the whole value has no JSON form. */
  readonly text: string | undefined
  /** The size, or the size so far when the walk was stopped. */
  readonly bytes: number
}

/** `problem` is computed on demand, because most repairs need no pointer. */
type Judge = (reason: JsonReason, problem: () => JsonProblem) => 'go-on' | 'stop'

interface Walk {
  readonly limits: JsonLimits
  readonly judge: Judge
  readonly path: (string | number)[]
  /** The enclosing containers, one for each part of the path. */
  readonly ancestors: object[]
  /** UTF-16 units so far, never more than the bytes in UTF-8; numbers count with the length that jsonb returns. */
  units: number
  stopped: boolean
}

export function walkJson(value: unknown, limits: JsonLimits, judge: Judge): WrittenJson {
  const walk: Walk = { limits, judge, path: [], ancestors: [], units: 0, stopped: false }
  const text = guarded(walk, { '': value }, '')
  if (walk.stopped || text === undefined) return { text, bytes: walk.units }
  const bytes = Buffer.byteLength(text) + walk.units - text.length
  if (bytes > limits.bytesMax) stopTooLarge(walk)
  return { text, bytes }
}

/** Writes one value and catches errors of its own code. Nested values are guarded separately. */
function guarded(walk: Walk, holder: object, key: string | number): string | undefined {
  const depth = walk.path.length
  try {
    const value: unknown = Reflect.get(holder, key)
    const data = resolved(value, key)
    if (data === null && types.isDate(value)) return refuse(walk, 'not-finite', 'is an invalid Date')
    return writeValue(walk, data)
  } catch (error) {
    walk.path.length = depth
    walk.ancestors.length = depth
    return refuse(walk, 'unreadable', `cannot be read: ${messageOf(error)}`)
  }
}

/** Calls `toJSON` once and not on its result, like `JSON.stringify`. */
function resolved(value: unknown, key: string | number): unknown {
  if ((typeof value !== 'object' || value === null) && typeof value !== 'bigint') return value
  const { toJSON } = value as { toJSON?: unknown }
  if (typeof toJSON !== 'function') return value
  return Reflect.apply(toJSON, value, [String(key)])
}

/** Returns undefined for a value that is left out, as `JSON.stringify` does. */
function writeValue(walk: Walk, value: unknown): string | undefined {
  switch (typeof value) {
    case 'string':
      return writeString(walk, value, 'its text')
    case 'number':
      return writeNumber(walk, value)
    case 'boolean':
      return spend(walk, String(value))
    case 'undefined':
      return undefined
    case 'bigint':
      return walk.limits.bigintAsText === true ? spend(walk, `"${value}"`) : refuse(walk, 'bigint', 'is a bigint')
    case 'function':
      return refuse(walk, 'function', 'is a function')
    case 'symbol':
      return refuse(walk, 'symbol', 'is a symbol')
    case 'object':
      return value === null ? spend(walk, 'null') : writeContainer(walk, value)
  }
}

/** Writes -0 as 0: the two are equal, and arithmetic produces -0 so easily that an error would not help. */
function writeNumber(walk: Walk, value: number): string {
  if (!Number.isFinite(value)) return refuse(walk, 'not-finite', `is ${value}`)
  const text = String(value)
  return spend(walk, text, text.includes('e') ? unitsRefunded(text) : text.length)
}

/** A quote, a backslash, a control character or a surrogate: text without them needs no further check. */
const special = /[^ !#-[\]-\uD7FF\uE000-\uFFFF]/

function writeString(walk: Walk, value: string, place: 'its text' | 'its key'): string {
  if (value.length > walk.limits.bytesMax - walk.units) return spend(walk, '""', value.length + 2)
  if (!special.test(value)) return spend(walk, `"${value}"`)
  if (isStorableText(value)) return spend(walk, JSON.stringify(value))
  if (value.includes('\0')) report(walk, 'nul-character', `has a NUL character in ${place}`)
  else report(walk, 'lone-surrogate', `has half of a surrogate pair in ${place}`)
  return spend(walk, JSON.stringify(storableText(value)))
}

function writeContainer(walk: Walk, value: object): string {
  if (walk.ancestors.includes(value)) return refuse(walk, 'cycle', 'contains itself')
  const { depthMax } = walk.limits
  if (walk.path.length >= depthMax) return refuse(walk, 'too-deep', `is more than ${depthMax} levels deep`)
  walk.ancestors.push(value)
  const text = Array.isArray(value) ? writeArray(walk, value) : writeObject(walk, value)
  walk.ancestors.pop()
  return text
}

function writeArray(walk: Walk, items: readonly unknown[]): string {
  const { length } = items
  let text = spend(walk, '[')
  for (let index = 0; index < length && !walk.stopped; index++) {
    walk.path.push(index)
    if (index > 0) text += spend(walk, ',')
    text += guarded(walk, items, index) ?? refuse(walk, 'undefined', 'is undefined or missing in an array')
    walk.path.pop()
  }
  return text + spend(walk, ']')
}

function writeObject(walk: Walk, value: object): string {
  const keys = Object.keys(value)
  const what = describeNonPlain(value, keys)
  if (what !== undefined) return refuse(walk, 'not-plain', `is ${what}, whose contents JSON does not show`)
  let text = spend(walk, '{')
  for (const key of keys) {
    if (walk.stopped) break
    walk.path.push(key)
    const member = guarded(walk, value, key)
    if (member !== undefined) {
      if (text.length > 1) text += spend(walk, ',')
      text += writeString(walk, key, 'its key') + spend(walk, ':') + member
    }
    walk.path.pop()
  }
  return text + spend(walk, '}')
}

/** A value without a JSON form is written as null: the text stays JSON, and the judge decides whether that is a problem. */
function refuse(walk: Walk, reason: JsonReason, detail: string): string {
  report(walk, reason, detail)
  return spend(walk, 'null')
}

function report(walk: Walk, reason: JsonReason, detail: string): void {
  if (!walk.stopped) walk.stopped = walk.judge(reason, () => problemAt(walk.path, reason, detail)) === 'stop'
}

function spend(walk: Walk, text: string, units: number = text.length): string {
  walk.units += units
  if (walk.units > walk.limits.bytesMax && !walk.stopped) stopTooLarge(walk)
  return text
}

function stopTooLarge(walk: Walk): void {
  walk.judge('too-large', () => problemAt([], 'too-large', `has more than ${walk.limits.bytesMax} bytes as JSON`))
  walk.stopped = true
}

/** jsonb returns numbers without exponents: 5e-324, six characters, as 326. */
function unitsRefunded(number: string): number {
  const [digits = '', exponent] = number.split('e')
  return digits.length + Math.abs(Number(exponent))
}

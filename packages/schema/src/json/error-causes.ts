/**
 * The causes of an error as JSON: its `cause`, the causes of that, and the errors of an AggregateError. Bounded in depth,
 * number and length. No function here throws, even if a getter of an error does.
 */
import { inspect, types } from 'node:util'
import { storableText } from './text.ts'

export interface ErrorData extends Causes {
  /** Undefined: the code threw a value that is not an Error. */
  readonly name?: string
  readonly message: string
  readonly code?: string
  readonly stack?: string
}

export interface Causes {
  readonly cause?: ErrorData
  readonly errors?: readonly ErrorData[]
}

const depthMax = 5
const errorsMax = 8
const totalMax = 20
const messageCharsMax = 1_000
const stackCharsMax = 2_000
const textCharsMax = 2_000

/** The cause and the errors of an error; empty for any other value. */
export function causesOf(error: unknown): Causes {
  const seen = new Set<unknown>([error])
  return causesAt(error, 1)

  function causesAt(from: unknown, depth: number): Causes {
    if (!isError(from)) return {}
    const cause = dataOf(
      readSafely(() => from.cause),
      depth,
    )
    const errors = listOf(from).flatMap((one) => dataOf(one, depth) ?? [])
    return { ...(cause === undefined ? {} : { cause }), ...(errors.length === 0 ? {} : { errors }) }
  }

  /** Undefined for a value that occurred before, too: causes can be circular. */
  function dataOf(value: unknown, depth: number): ErrorData | undefined {
    if (value === undefined || value === null || depth > depthMax || seen.size > totalMax || seen.has(value))
      return undefined
    seen.add(value)
    return { ...ownData(value), ...causesAt(value, depth + 1) }
  }
}

/** One line for people, empty if there are no causes: `; caused by Error: connect ECONNREFUSED 127.0.0.1:1`. */
export function causesText(causes: Causes): string {
  const text = wholeText(causes)
  return text.length <= textCharsMax ? text : `${text.slice(0, textCharsMax)}…`
}

function wholeText({ cause, errors = [] }: Causes): string {
  const caused = cause === undefined ? '' : `; caused by ${errorText(cause)}`
  return errors.length === 0 ? caused : `${caused}; errors: ${errors.map(errorText).join(' | ')}`
}

function errorText(error: ErrorData): string {
  const { name, message, code } = error
  const said = [name, message].filter((text) => text !== undefined && text !== '').join(': ')
  return `${said}${code === undefined || said.includes(code) ? '' : ` (${code})`}${wholeText(error)}`
}

function ownData(value: unknown): ErrorData {
  if (!isError(value))
    return { message: textOf(() => (typeof value === 'object' ? inspect(value, { depth: 2 }) : value)) }
  const code: unknown = readSafely(() => Reflect.get(value, 'code'))
  const stack: unknown = readSafely(() => value.stack)
  return {
    name: textOf(() => value.name),
    message: textOf(() => value.message),
    ...(typeof code === 'string' || typeof code === 'number' ? { code: cut(String(code), messageCharsMax) } : {}),
    ...(typeof stack === 'string' ? { stack: cut(stack, stackCharsMax) } : {}),
  }
}

function listOf(error: Error): readonly unknown[] {
  const list: unknown = readSafely(() => (error instanceof AggregateError ? error.errors.slice(0, errorsMax) : []))
  return Array.isArray(list) ? list : []
}

function isError(value: unknown): value is Error {
  return types.isNativeError(value) || readSafely(() => value instanceof Error) === true
}

function textOf(read: () => unknown): string {
  const text = readSafely(() => String(read()))
  return typeof text === 'string' ? cut(text, messageCharsMax) : 'something that cannot be written as text'
}

function cut(text: string, charsMax: number): string {
  return storableText(text.length <= charsMax ? text : `${text.slice(0, charsMax)}…`)
}

function readSafely(read: () => unknown): unknown {
  try {
    return read()
  } catch {
    return undefined
  }
}

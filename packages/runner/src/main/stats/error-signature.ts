/**
 * The signature that errors with the same cause share: code, class, text without its variable parts, and the first function
 * of the user's own code in the stack trace, without its line number so that it survives a deploy. Pure.
 *
 * An end without an error of its own (a timeout, a crash, a drain) is one group per code and task.
 */
import type { ErrorCode } from '@q/schema'
import { fingerprintOf } from '@q/store'
import { userFunction } from '../../output/user-frame.ts'

export interface EndedByError {
  readonly code: ErrorCode
  readonly detail: string
  readonly task: string
  readonly stack?: string | undefined
  /** Class of the error. */
  readonly errorName?: string | undefined
  /** Given by the code that threw the error: errors with the same value are one group, whatever their text. */
  readonly given?: string | undefined
}

export interface ErrorSignature {
  readonly fingerprint: string
  readonly code: ErrorCode
  readonly name: string
  readonly message: string
  readonly place: string | null
}

const textMax = 2_000
const messageMax = 300

export function signatureOf({ code, detail, task, stack, errorName, given }: EndedByError): ErrorSignature {
  if (code !== 'TASK_ERROR') {
    return { fingerprint: fingerprintOf([code, task]), code, name: code, message: normalized(detail), place: null }
  }
  const name = errorName ?? 'Error'
  const message = normalized(withoutName(detail, name)) || name
  const place = (stack === undefined ? undefined : userFunction(stack)) ?? null
  const parts = given === undefined ? [code, name, message, place ?? ''] : ['given', given]
  return { fingerprint: fingerprintOf(parts), code, name, message, place }
}

/** The detail of an error begins with its name. */
function withoutName(detail: string, name: string): string {
  const [prefix] = /^[\w$]+: /.exec(detail) ?? ['']
  return prefix === `${name}: ` || prefix === 'Error: ' ? detail.slice(prefix.length) : detail
}

/** In this order: a time contains numbers, and a path may contain anything. */
const differing: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '<uuid>'],
  [/\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?/g, '<time>'],
  [/"(?:[^"\\]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`[^`]*`/g, '<text>'],
  [/(?:file:\/\/|(?<![\w.])\/|\b[A-Za-z]:[\\/])[^\s:,;()]*[^\s:,;().]/g, '<path>'],
  [/\b(?:0x)?(?=[0-9a-f]*\d)[0-9a-f]{8,}\b/gi, '<hex>'],
  [/\d+(?:\.\d+)?/g, '<n>'],
]

/** The text with a placeholder for each part that differs from one error of the same cause to the next. */
export function normalized(text: string): string {
  const replaced = differing.reduce(
    (rest, [pattern, placeholder]) => rest.replace(pattern, placeholder),
    text.slice(0, textMax),
  )
  return replaced.replace(/\s+/g, ' ').trim().slice(0, messageMax)
}

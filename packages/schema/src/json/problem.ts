/** The problems of values that cannot be stored as jsonb, with their positions. */
import { pointerOf, type Path } from './pointer.ts'

export interface JsonLimits {
  /** Size of the JSON text in UTF-8. */
  readonly bytesMax: number
  /**
   * Nesting of arrays and objects. PostgreSQL stores deeper values, but `JSON.stringify` overflows on them after a
   * read.
   */
  readonly depthMax: number
  /** A bigint becomes a string of its digits, so that every reader gets all of them. Otherwise it is a problem. */
  readonly bigintAsText?: boolean
}

export const jsonLimits: JsonLimits = { bytesMax: 1_048_576, depthMax: 64 }

/** At most this many problems are reported. */
export const problemsMax = 10

/** Why a value is rejected: JSON has no such value, jsonb cannot hold it (though JSON can), or it is too large. */
export const jsonReasons = {
  undefined: 'not-json',
  function: 'not-json',
  symbol: 'not-json',
  bigint: 'not-json',
  'not-plain': 'not-json',
  unreadable: 'not-json',
  cycle: 'not-json',
  'not-finite': 'unstorable',
  'nul-character': 'unstorable',
  'lone-surrogate': 'unstorable',
  'too-deep': 'unstorable',
  'too-large': 'too-large',
} as const
export type JsonReason = keyof typeof jsonReasons

export interface JsonProblem {
  readonly reason: JsonReason
  /** An RFC 6901 pointer; empty: the whole value. Safe to store and to show. */
  readonly pointer: string
  /** The end of a sentence that begins with the position: `is a bigint`. */
  readonly detail: string
}

export function problemAt(path: Path, reason: JsonReason, detail: string): JsonProblem {
  return { reason, pointer: pointerOf(path), detail }
}

/** `/a/0 is a bigint; the whole is undefined` */
export function problemsText(problems: readonly JsonProblem[]): string {
  return problems.map(({ pointer, detail }) => `${pointer === '' ? 'the whole' : pointer} ${detail}`).join('; ')
}

/**
 * Checks a value that a caller wants to store: returns JSON text that jsonb accepts and returns equal, or every problem (up
 * to ten). Equal means equal after `JSON.stringify`: it calls `toJSON`, leaves out undefined members and writes -0 as 0.
 * Every finite number of JavaScript survives, so only NaN and the infinities are refused: `1e400` in a text is Infinity
 * once it is parsed.
 */
import { jsonLimits, problemAt, problemsMax, type JsonLimits, type JsonProblem } from './problem.ts'
import { walkJson } from './walk.ts'

export type CheckedJson =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly problems: readonly [JsonProblem, ...JsonProblem[]] }

/** Never throws. The cost is bounded by `limits.bytesMax`, however large, shared or endless the value is. */
export function checkJson(value: unknown, limits: JsonLimits = jsonLimits): CheckedJson {
  const problems: JsonProblem[] = []
  const { text } = walkJson(value, limits, (_, problem) => (problems.push(problem()) < problemsMax ? 'go-on' : 'stop'))
  const [first = problemAt([], 'undefined', 'is undefined'), ...others] = problems
  return text === undefined || problems.length > 0 ? { ok: false, problems: [first, ...others] } : { ok: true, text }
}

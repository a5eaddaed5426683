/**
 * For values that a caller wants to store: JSON text that jsonb accepts and returns equal, or every problem (up to ten).
 *
 * Equal means: as `JSON.stringify` shows it. `toJSON` is followed, a member that is undefined is left out, -0 is 0.
 * Every finite number of JavaScript comes back as it was, so only NaN and the infinities are refused: `1e400` in a
 * text is Infinity by the time it is a value.
 */
import { jsonLimits, problemAt, problemsMax, type JsonLimits, type JsonProblem } from './problem.ts'
import { walkJson } from './walk.ts'

export type CheckedJson =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly problems: readonly [JsonProblem, ...JsonProblem[]] }

/** Never throws. Costs at most what `limits.bytesMax` bytes cost, however large, shared or endless the value is. */
export function checkJson(value: unknown, limits: JsonLimits = jsonLimits): CheckedJson {
  const problems: JsonProblem[] = []
  const { text } = walkJson(value, limits, (_, problem) => (problems.push(problem()) < problemsMax ? 'go-on' : 'stop'))
  const [first = problemAt([], 'undefined', 'is undefined'), ...others] = problems
  return text === undefined || problems.length > 0 ? { ok: false, problems: [first, ...others] } : { ok: true, text }
}

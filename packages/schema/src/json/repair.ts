/**
 * Repairs values that user code returned, threw or logged, so that an outcome is not lost because of one bad member.
 * Invalid characters become U+FFFD; invalid numbers, holes, functions and symbols inside become null; the result lists
 * each position. (If two keys become equal, the last one stays, as in jsonb.) `undefined` alone becomes null, without a
 * repair. Anything else fails with its position: a bigint, a Map, a cycle, a getter that throws, …
 */
import { jsonLimits, problemsMax, type JsonLimits, type JsonProblem, type JsonReason } from './problem.ts'
import { walkJson } from './walk.ts'

export type RepairedJson =
  /** `repaired`: the first ten JSON pointers. */
  | { readonly kind: 'json'; readonly text: string; readonly repaired: readonly string[] }
  | { readonly kind: 'not-json'; readonly problem: JsonProblem }
  /** `bytes`: a lower bound of the size, at which the walk stopped. */
  | { readonly kind: 'too-large'; readonly bytes: number }

const repairable: ReadonlySet<JsonReason> = new Set([
  'nul-character',
  'lone-surrogate',
  'not-finite',
  'undefined',
  'function',
  'symbol',
])

/** Never throws; bounded like `checkJson`. */
export function repairJson(value: unknown, limits: JsonLimits = jsonLimits): RepairedJson {
  const repaired: string[] = []
  let failure: JsonProblem | undefined
  const { text = 'null', bytes } = walkJson(value, limits, (reason, problem) => {
    if (repairable.has(reason) && repaired.length >= problemsMax) return 'go-on'
    const found = problem()
    if (!isRepairable(found)) {
      failure = found
      return 'stop'
    }
    repaired.push(found.pointer)
    return 'go-on'
  })
  if (failure === undefined) return { kind: 'json', text, repaired }
  return failure.reason === 'too-large' ? { kind: 'too-large', bytes } : { kind: 'not-json', problem: failure }
}

/** A function or a symbol alone cannot be repaired. */
function isRepairable({ reason, pointer }: JsonProblem): boolean {
  return repairable.has(reason) && !(pointer === '' && (reason === 'function' || reason === 'symbol'))
}

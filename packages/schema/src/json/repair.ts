/**
 * For what user code returned, threw or logged: it has happened and must not be lost because its text is strange.
 * Characters become U+FFFD; numbers, holes, and functions or symbols inside become null; each place is named.
 * (Two keys that become equal: the last one stays, as in jsonb.) Nothing at all, undefined, is null and no repair.
 * The rest cannot be guessed, and is a failure that says where: a bigint, a Map, a cycle, a getter that throws, …
 */
import { jsonLimits, problemsMax, type JsonLimits, type JsonProblem, type JsonReason } from './problem.ts'
import { walkJson } from './walk.ts'

export type RepairedJson =
  /** `repaired`: JSON pointers, the first ten. */
  | { readonly kind: 'json'; readonly text: string; readonly repaired: readonly string[] }
  | { readonly kind: 'not-json'; readonly problem: JsonProblem }
  /** `bytes`: at least so many; looking stopped there. */
  | { readonly kind: 'too-large'; readonly bytes: number }

const repairable: ReadonlySet<JsonReason> = new Set([
  'nul-character',
  'lone-surrogate',
  'not-finite',
  'undefined',
  'function',
  'symbol',
])

/** Never throws; bounded as `checkJson` is. */
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

/** A function or a symbol alone is no result with a flaw: it is none. */
function isRepairable({ reason, pointer }: JsonProblem): boolean {
  return repairable.has(reason) && !(pointer === '' && (reason === 'function' || reason === 'symbol'))
}

/**
 * When a step is to run: judged in the database when its parents have let it go, so it is data, made by functions.
 * The steps it asks about become parents. A result that there is not is null here; `ended` asks how a step ended.
 */
import type { TerminalState } from '@q/schema'
import type { Condition, Hole } from '@q/schema/workflow'
import type { AnyStep, Placeholder } from './ref.ts'

/** What a value is compared with, as JSON. Numbers also with `above` and `below`, which no other value passes. */
export type ValueTest<T> =
  | { readonly equals: T }
  | { readonly oneOf: readonly T[] }
  | (Extract<T, number> extends never ? never : { readonly above: number } | { readonly below: number })

export interface Conditions {
  /** It is what JavaScript calls true; with a test: it passes the test. */
  is<T>(value: Placeholder<T>, test?: ValueTest<NoInfer<T>>): When
  /** The step ended in one of these states. Give the asking step `allowFailed`, or it asks only about successes. */
  ended(step: AnyStep, ...states: readonly [TerminalState, ...TerminalState[]]): When
  all(...conditions: readonly [When, ...When[]]): When
  any(...conditions: readonly [When, ...When[]]): When
  not(condition: When): When
}

/** A condition, made by `is`, `ended`, `all`, `any` and `not`. */
export interface When {
  readonly condition: Condition
}

/** `holeOf`: where a placeholder's value comes from; refuses what is none. */
export function conditions(
  holeOf: (candidate: unknown, where: string) => Hole,
  stepOf: (step: unknown) => string,
): Conditions {
  return {
    is: (value, test) => ({ condition: { value: holeOf(value, 'is()'), is: test ?? 'truthy' } }),
    ended: (step, ...states) => ({ condition: { step: stepOf(step), ended: states } }),
    all: (...parts) => ({ condition: { all: parts.map(conditionOf) } }),
    any: (...parts) => ({ condition: { any: parts.map(conditionOf) } }),
    not: (part) => ({ condition: { not: part.condition } }),
  }
}

function conditionOf({ condition }: When): Condition {
  return condition
}

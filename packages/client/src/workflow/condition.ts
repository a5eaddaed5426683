/**
 * The condition of a step. The database evaluates it when the step's parents have ended, so it is data that functions build.
 * The steps it refers to become parents. A missing result is null here; `ended` tests how a step ended.
 */
import type { TerminalState } from '@q/schema'
import type { Condition, ValueRef } from '@q/schema/workflow'
import type { AnyStep, Placeholder } from './ref.ts'

/** Compares a value as JSON. `above` and `below` compare numbers; every other value fails them. */
export type ValueTest<T> =
  | { readonly equals: T }
  | { readonly oneOf: readonly T[] }
  | (Extract<T, number> extends never ? never : { readonly above: number } | { readonly below: number })

export interface Conditions {
  /** Whether the value is truthy; with a test, whether it passes the test. */
  is<T>(value: Placeholder<T>, test?: ValueTest<NoInfer<T>>): When
  /** Whether the step ended in one of these states. Without `allowFailed`, the testing step runs only after successes. */
  ended(step: AnyStep, ...states: readonly [TerminalState, ...TerminalState[]]): When
  all(...conditions: readonly [When, ...When[]]): When
  any(...conditions: readonly [When, ...When[]]): When
  not(condition: When): When
}

/** A condition built by `is`, `ended`, `all`, `any` and `not`. */
export interface When {
  readonly condition: Condition
}

/** `refOf` returns the reference of a placeholder and throws for any other value. */
export function conditions(
  refOf: (candidate: unknown, where: string) => ValueRef,
  stepOf: (step: unknown) => string,
): Conditions {
  return {
    is: (value, test) => ({ condition: { value: refOf(value, 'is()'), is: test ?? 'truthy' } }),
    ended: (step, ...states) => ({ condition: { step: stepOf(step), ended: states } }),
    all: (...parts) => ({ condition: { all: parts.map(conditionOf) } }),
    any: (...parts) => ({ condition: { any: parts.map(conditionOf) } }),
    not: (part) => ({ condition: { not: part.condition } }),
  }
}

function conditionOf({ condition }: When): Condition {
  return condition
}

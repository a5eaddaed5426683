/**
 * The types of placeholders, which stand for values that do not exist yet: the workflow's input, the result of a step, an
 * item of a map. placeholder.ts creates them.
 *
 * `Ref<T>` has the members of T, each a Ref. Because values travel as JSON, a missing member is null, and so is every member
 * of null.
 *
 * `Missing` is the type of a missing value: `never` for the input and for items, `MissingResult` for a step, which may not
 * have succeeded. It matters only to steps that start without the success of all parents.
 */
import type { MissingResult } from '@q/schema/workflow'
import type { ArrivingView } from '@q/task'

declare const value: unique symbol
declare const missing: unique symbol
declare const step: unique symbol

export interface Placeholder<out T, out Missing = unknown> {
  readonly [value]: T
  readonly [missing]: Missing
}

export type Ref<T, Missing = never> = Placeholder<T, Missing> & Members<T, Missing>

/** A step of a workflow, and its result. */
export type Step<Result> = Ref<Result, MissingResult> & AnyStep

export interface AnyStep {
  readonly [step]: true
}

type Leaf = string | number | boolean | bigint | symbol | null | undefined | Date | ((...args: never[]) => unknown)

/** For a nullable T, the members of its non-null part, each of which may be null. */
type Members<T, Missing> = unknown extends T
  ? unknown
  : [T] extends [Leaf]
    ? unknown
    : MembersOf<Exclude<T, null | undefined>, Missing, T extends null | undefined ? null : never>

type MembersOf<T, Missing, Also> = T extends readonly unknown[]
  ? number extends T['length']
    ? Elements<T[number], Missing>
    : { readonly [Place in Extract<keyof T, `${number}`>]: Ref<ArrivingView<T[Place]> | Also, Missing> }
  : { readonly [Key in Exclude<keyof T, Unreadable>]-?: Ref<ArrivingView<T[Key]> | Also, Missing> }

interface Elements<Element, Missing> {
  /** The element at an index, from 0; null if the list is shorter. */
  at(index: number): Ref<ArrivingView<Element> | null, Missing>
}

/** Reading these means that the placeholder is used as a value, so members of these names cannot be referenced. */
type Unreadable = 'then' | 'toJSON' | 'toString' | 'valueOf'

/**
 * Accepted in place of a T: the value, or a placeholder for it or any part of it. `Loose` is for a step that starts without
 * the success of all parents: its T must then also accept a `MissingResult`.
 */
export type WithPlaceholders<T, Loose extends boolean = false> = unknown extends T
  ? unknown
  : Placeholder<T, Loose extends true ? T : unknown> | Literal<T, Loose>

type Literal<T, Loose extends boolean> = T extends Leaf
  ? T
  : T extends readonly unknown[]
    ? { readonly [Place in keyof T]: WithPlaceholders<T[Place], Loose> }
    : { readonly [Key in keyof T]: WithPlaceholders<T[Key], Loose> } & NoPlaceholder

/** A placeholder for an object is checked as a whole, not member by member. */
interface NoPlaceholder {
  readonly [value]?: never
}

/** The output type of a workflow: what its function returns, with values in place of placeholders. */
export type Filled<Returned> =
  Returned extends Placeholder<infer T>
    ? T
    : Returned extends Leaf | void
      ? Returned extends undefined | void
        ? null
        : Returned
      : { -readonly [Key in keyof Returned]: Filled<Returned[Key]> }

/**
 * What stands for a value that is not there yet: the workflow's input, the result of a step, an item of a map. Types
 * only; placeholder.ts makes them.
 *
 * `Ref<T>` has the members of T, each a Ref again. Two things differ from the value, because what arrives is JSON: a
 * member that may be missing is null when it is, and so is every member of what is null itself.
 *
 * `Missing` is what may stand there instead of a T: never for the input and for items, `MissingResult` for a step, which
 * may not have succeeded. It matters only to those who do not insist on success.
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

/** Of null and undefined there are the members of the rest, each of which may be null. */
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
  /** The element at a place, counted from 0; null where the list is shorter. */
  at(index: number): Ref<ArrivingView<Element> | null, Missing>
}

/** Whoever reads these uses a placeholder as a value; members of that name cannot be pointed at. */
type Unreadable = 'then' | 'toJSON' | 'toString' | 'valueOf'

/**
 * What may be given where a T is wanted: the value, or a placeholder at any place of it. `Loose`: by a step that does not
 * insist on success, whose T must then also take what stands in the place of a result.
 */
export type Given<T, Loose extends boolean = false> = unknown extends T
  ? unknown
  : Placeholder<T, Loose extends true ? T : unknown> | Literal<T, Loose>

type Literal<T, Loose extends boolean> = T extends Leaf
  ? T
  : T extends readonly unknown[]
    ? { readonly [Place in keyof T]: Given<T[Place], Loose> }
    : { readonly [Key in keyof T]: Given<T[Key], Loose> } & NoPlaceholder

/** A placeholder of an object is judged as a whole, not by its members. */
interface NoPlaceholder {
  readonly [value]?: never
}

/** What becomes of what a workflow's function returns: values where it has placeholders. */
export type Filled<Returned> =
  Returned extends Placeholder<infer T>
    ? T
    : Returned extends Leaf | void
      ? Returned extends undefined | void
        ? null
        : Returned
      : { -readonly [Key in keyof Returned]: Filled<Returned[Key]> }

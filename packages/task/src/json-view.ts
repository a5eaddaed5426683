/**
 * The JSON view of a type: the type of a value after it was stored as JSON, like payloads, results and checkpoints. Types only.
 *
 * A Date becomes a string, and an object with toJSON() what that returns. An undefined member is missing; in a list, and as a
 * result, undefined is null. Functions and symbols become null, or are missing as methods of a class. A bigint, Map or Set
 * cannot be stored: never.
 */

/** JSON itself. A type that is assignable to this is its own view, which costs the compiler one comparison. */
type JsonData = Scalar | readonly JsonData[] | { readonly [member: string]: JsonData }

type Scalar = string | number | boolean | null
type NoData = symbol | ((...args: never[]) => unknown)
type Unstorable = bigint | ReadonlyMap<never, unknown> | ReadonlySet<unknown>

export type JsonView<T> = unknown extends T ? T : T extends JsonData ? T : ViewOf<T>

type ViewOf<T> = T extends Unstorable
  ? never
  : T extends { toJSON(...args: never[]): infer Written }
    ? JsonView<Written>
    : T extends readonly unknown[]
      ? { [Place in keyof T]: ArrivingView<T[Place]> }
      : { [Member in keyof T]: MemberView<T[Member]> }

/** Keeps `undefined` as it is: a member that may be missing must not become one that may be passed as undefined. */
type MemberView<T> = unknown extends T ? T : T extends undefined ? T : T extends NoData ? null | undefined : JsonView<T>

/** The view of a value that is never missing: a result, an element of a list. */
export type ArrivingView<T> = unknown extends T ? T : T extends undefined | void | NoData ? null : JsonView<T>

/**
 * `unknown` if values of the type do not change when they are stored as JSON; else a sentence that the compiler shows,
 * because it is intersected with the parameter.
 */
export type ArrivesAs<T> = [JsonView<T>] extends [T]
  ? unknown
  : 'A payload is stored as JSON: declare its JSON type (string for a Date), or give the task an input that converts it'

/**
 * JSON pointers (RFC 6901) typed against a payload: `/user/id` compiles only if the payload has a `user` with an `id`.
 *
 * Optional members count, and so do those of every variant of a union; if the payload is `unknown`, any pointer is
 * valid. The check covers four levels, so that recursive types end; below that any name is accepted. It applies only
 * where an option has a key, so other tasks cost the compiler nothing.
 */
export type JsonPointer = `/${string}`

export type PointerInto<Payload> = unknown extends Payload ? JsonPointer : Into<Payload, FourLevels>

type FourLevels = [1, 2, 3, 4]

type Into<Value, Levels extends readonly unknown[]> = unknown extends Value
  ? JsonPointer
  : Value extends Leaf
    ? never
    : Value extends readonly (infer Item)[]
      ? Step<`${number}`, Item, Levels>
      : { [Key in Name<Value>]-?: Step<Escaped<`${Key}`>, Value[Key], Levels> }[Name<Value>]

type Leaf = string | number | boolean | bigint | symbol | null | undefined | Date | ((...args: never[]) => unknown)

type Name<Value> = keyof Value & (string | number)

type Step<Key extends string, Value, Levels extends readonly unknown[]> = Levels extends readonly [
  unknown,
  ...infer Rest,
]
  ? `/${Key}` | `/${Key}${Into<Value, Rest>}`
  : `/${string}`

/** `~` and `/` in the name of a member are written `~0` and `~1`. */
type Escaped<Key extends string> = Key extends `${infer Head}~${infer Tail}`
  ? `${Slashes<Head>}~0${Escaped<Tail>}`
  : Slashes<Key>
type Slashes<Key extends string> = Key extends `${infer Head}/${infer Tail}` ? `${Head}~1${Slashes<Tail>}` : Key

/** What must not compile does not. Judged by the type checker; nothing here is called. */
import { expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import * as v from 'valibot'
import {
  task,
  type ArrivingView,
  type JsonView,
  type PayloadOf,
  type PointerInto,
  type ResultOf,
  type TaskContext,
  type TaskName,
} from '@q/task'

interface Order {
  readonly id: number
  readonly customer?: { readonly mail: string | null }
  readonly items: readonly { readonly sku: string }[]
  readonly 'a/b~c': string
}
const order = (_: Order): number => 1

const keys = () => {
  const url = z.object({ url: z.url(), width: z.number().default(800) })
  task({ concurrency: { key: '/id' }, unique: '/customer/mail' }, order)
  task({ concurrency: { key: '/items/0/sku' }, unique: { key: '/a~1b~0c', for: '10m' } }, order)
  task({ unique: 'payload' }, order)
  task({ input: url, concurrency: { key: '/url', limit: 1 }, unique: '/width' }, ({ width }) => width)
  task({ concurrency: { key: '/id' }, unique: '/customer/mail' }, (_: Order, ctx) => ctx.heartbeat())
  task({ concurrency: { key: '/anything' } }, (_: unknown) => 1)
  task({ concurrency: { key: '/url' } }, (_: { kind: 'a'; url: string } | { kind: 'b' }) => 1)
  task({ concurrency: { key: '/any/name' } }, (_: { any: Record<string, string> }) => 1)
  // @ts-expect-error the payload has no such member
  task({ concurrency: { key: '/ulr' } }, order)
  // @ts-expect-error nor for a function that takes its context as it comes
  task({ concurrency: { key: '/ulr' } }, (_: Order, ctx) => ctx.heartbeat())
  // @ts-expect-error nor one inside it
  task({ concurrency: { key: '/customer/name' } }, order)
  // @ts-expect-error a pointer begins with a slash
  task({ unique: 'id' }, order)
  // @ts-expect-error nothing is inside of a number
  task({ unique: { key: '/id/x', for: '1h' } }, order)
  // @ts-expect-error the schema has no such member
  task({ input: url, concurrency: { key: '/href' } }, ({ width }) => width)
}

const options = () => {
  task({ timeout: '10m', maxSilent: '1.5h', keep: 5_000 }, order)
  // @ts-expect-error not a duration
  task({ timeout: '10 minutes' }, order)
  // @ts-expect-error not a duration either
  task({ retry: { attempts: 2, delay: 'soon' } }, order)
  // @ts-expect-error no such option
  task({ timeuot: '10m' }, order)
  // @ts-expect-error attempts are a number
  task({ retry: { attempts: 'five' } }, order)
  // @ts-expect-error one of two words
  task({ onCrash: 'ignore' }, order)
}

interface Place {
  readonly row: number
}

const checkpoints = () => {
  task(async (_: null, ctx: TaskContext<Place>) => {
    expectTypeOf(ctx.resumed).toEqualTypeOf<Place | undefined>()
    await ctx.checkpoint({ row: 5 })
    // @ts-expect-error not what it says it saves
    await ctx.checkpoint({ line: 5 })
    expectTypeOf(await ctx.once('token', () => 'secret')).toEqualTypeOf<string>()
    expectTypeOf(await ctx.once('time', () => new Date())).toEqualTypeOf<string>()
  })
  task(async (_: null, ctx: TaskContext<{ at: Date }>) => {
    expectTypeOf(ctx.resumed).toEqualTypeOf<{ at: string } | undefined>()
    await ctx.checkpoint({ at: new Date() })
  })
  task(async (_: null, ctx) => {
    expectTypeOf(ctx.resumed).toEqualTypeOf<unknown>()
    await ctx.checkpoint('anything')
  })
}

interface User {
  readonly id: number
  rename(name: string): void
}

interface Tree {
  readonly left?: Tree
  readonly name: string
}

type AnyJson = string | number | boolean | null | AnyJson[] | { [member: string]: AnyJson }

const payloads = () => {
  task((_: { at: string; list: readonly (number | null)[]; any: unknown; more?: { x: true } }) => 1)
  task((_: Tree) => 1)
  task((_: AnyJson) => 1)
  task((_: Record<string, unknown>) => 1)
  task({ input: z.object({ at: z.coerce.date() }) }, ({ at }) => at.getTime())
  task({ input: z.object({ at: z.string().or(z.date()) }) }, ({ at }) => at)
  task({ input: v.pipe(v.string(), v.transform(Number)) }, (count) => count + 1)
  // @ts-expect-error a Date arrives as text
  task((_: { at: Date }) => 1)
  // @ts-expect-error also with options, and inside of a list
  task({ timeout: '5m' }, (_: { list: { at?: Date }[] }) => 1)
  // @ts-expect-error methods do not arrive
  task((_: User) => 1)
  // @ts-expect-error a Map cannot be stored
  task((_: { names: Map<string, string> }) => 1)
  // @ts-expect-error what is undefined in a list arrives as null
  task((_: { list: (string | undefined)[] }) => 1)
  // @ts-expect-error no JSON value is a Date
  task({ input: z.object({ at: z.date() }) }, ({ at }) => at.getTime())
  // @ts-expect-error nor for a validator that cannot tell at runtime
  task({ input: v.object({ at: v.date() }) }, ({ at }) => at.getTime())
}

test('a payload that JSON changes does not compile', () => {
  expect(payloads).toBeTypeOf('function')
})

test('the JSON view of a type is the type of its values after JSON', () => {
  interface Report {
    readonly at: Date
    readonly note?: string
    readonly perhaps: number | undefined
    readonly list: (Date | undefined)[]
    readonly pair: [Date, number]
    readonly url: URL
    readonly user: User
    readonly any: unknown
  }
  expectTypeOf<JsonView<Report>>().toEqualTypeOf<{
    readonly at: string
    readonly note?: string
    readonly perhaps: number | undefined
    readonly list: (string | null)[]
    readonly pair: [string, number]
    readonly url: string
    readonly user: { readonly id: number; rename: null | undefined }
    readonly any: unknown
  }>()
  expectTypeOf<JsonView<Tree>['left']>().toEqualTypeOf<JsonView<Tree> | undefined>()
  expectTypeOf<JsonView<bigint>>().toEqualTypeOf<never>()
  expectTypeOf<ArrivingView<void>>().toEqualTypeOf<null>()
  expectTypeOf<ArrivingView<unknown>>().toEqualTypeOf<unknown>()
})

test('keys, durations, options and checkpoints are typed by the task alone', () => {
  expect([keys, options, checkpoints]).toHaveLength(3)
  expectTypeOf<PointerInto<{ a: { b: Date }; c?: string[] }>>().toEqualTypeOf<'/a' | '/a/b' | '/c' | `/c/${number}`>()
})

test('the view of a recursive type is finite', () => {
  expectTypeOf<'/left/left/left/name'>().toExtend<PointerInto<Tree>>()
  expectTypeOf<'/left/right'>().not.toExtend<PointerInto<Tree>>()
})

test('the name of a task is its own, else that of its export', () => {
  const named = task({ name: 'images.resize' }, (_: { url: string }, ctx: TaskContext<Place>) => ctx.resumed?.row ?? 0)
  const tasks = { hello: task((_: null) => 1), exported: named, other: 3 }
  expectTypeOf<TaskName<typeof tasks>>().toEqualTypeOf<'hello' | 'images.resize'>()
  expectTypeOf<PayloadOf<typeof named>>().toEqualTypeOf<{ url: string }>()
  expectTypeOf<ResultOf<typeof named>>().toEqualTypeOf<number>()
  expect(() => task({ name: 'default' }, () => 1)).toThrow(/name: .*not default/)
})

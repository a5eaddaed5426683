/**
 * A task: a named function with options, defined in code. Its name is the name under which a module exports it.
 *
 * The function runs on a worker thread of some replica. What it is given has passed `input`, what it returns is the
 * run's result. Options are data, so that replicas can publish them for producers that never load this code.
 */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { TaskContext } from './context.ts'
import { checkOptions } from './check-options.ts'
import type { TaskOptions } from './options.ts'

/** The mark by which a task is recognised, also when two copies of this package are loaded. */
const mark: unique symbol = Symbol.for('@q/task') as never

export interface Task<Payload = never, Result = unknown> {
  readonly [mark]: true
  readonly options: TaskOptions
  /** Validates nothing: the runner has done that. */
  readonly run: (payload: Payload, context: TaskContext) => Result | Promise<Result>
}

export type TaskFunction<Payload, Result> = (payload: Payload, context: TaskContext) => Result | Promise<Result>

/** A task whose payload is not checked before it runs. */
export function task<Payload, Result>(run: TaskFunction<Payload, Result>): Task<Payload, Result>
/** A task with options; `input`, any Standard Schema, gives the payload its type and checks it before each run. */
export function task<Schema extends StandardSchemaV1, Result>(
  options: TaskOptions & { readonly input: Schema },
  run: TaskFunction<StandardSchemaV1.InferOutput<Schema>, Result>,
): Task<StandardSchemaV1.InferInput<Schema>, Result>
export function task<Payload, Result>(options: TaskOptions, run: TaskFunction<Payload, Result>): Task<Payload, Result>
export function task(
  optionsOrRun: TaskOptions | TaskFunction<never, unknown>,
  maybeRun?: TaskFunction<never, unknown>,
): Task {
  const [options, run] = typeof optionsOrRun === 'function' ? [{}, optionsOrRun] : [optionsOrRun, maybeRun]
  return Object.freeze({ [mark]: true as const, ...checkOptions(options, run) })
}

export function isTask(value: unknown): value is Task {
  return typeof value === 'object' && value !== null && Reflect.get(value, mark) === true
}

/** The tasks among a module's exports, by name. */
export type TasksOf<Module> = {
  [Name in keyof Module as Module[Name] extends Task<never> ? Name : never]: Module[Name]
}
export type TaskName<Module> = keyof TasksOf<Module> & string
export type PayloadOf<T> = T extends Task<infer Payload, unknown> ? Payload : never
export type ResultOf<T> = T extends Task<never, infer Result> ? Result : never

/**
 * A task: a named function with options, defined in code. Its name is the name under which a module exports it.
 *
 * The function runs on a worker thread of a replica. Its payload has passed `input`, and its return value is the result of
 * the run. Options are data, so that replicas can publish them for producers that never load this code.
 */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { TaskContext } from './context.ts'
import { checkOptions } from './check-options.ts'
import type { ArrivesAs } from './json-view.ts'
import type { TaskOptions } from './options.ts'

/** Identifies a task even if two copies of this package are loaded. */
const mark: unique symbol = Symbol.for('@q/task') as never

/** `Name` is never if the export names the task. */
export interface Task<Payload = never, Result = unknown, Name extends string = string> {
  readonly [mark]: true
  readonly options: TaskOptions & { readonly name?: Name }
  /** Calls the code. It does not validate the payload: the runner has done that. */
  readonly run: (payload: Payload, context: TaskContext) => Result | Promise<Result>
}

/** `State` is the type of its checkpoints (`ctx.checkpoint`, `ctx.resumed`), inferred from its second parameter. */
export type TaskFunction<Payload, Result, State = unknown> = (
  payload: Payload,
  context: TaskContext<State>,
) => Result | Promise<Result>

/** Omits `input`, which the compiler would otherwise compare twice: with a large schema that dominates compile time. */
type Options<Payload, Name extends string> = Omit<TaskOptions<Payload>, 'input' | 'name'> & { readonly name?: Name }

/** Defines a task whose payload is not checked before it runs. */
export function task<Payload, Result, State>(
  run: TaskFunction<Payload, Result, State> & ArrivesAs<Payload>,
): Task<Payload, Result, never>
/** Defines a task with options. `input`, any Standard Schema, types the payload and checks it before each run. */
export function task<Schema extends StandardSchemaV1, Result, State, const Name extends string = never>(
  options: Options<StandardSchemaV1.InferInput<Schema>, Name> & {
    readonly input: Schema & ArrivesAs<StandardSchemaV1.InferInput<Schema>>
  },
  run: TaskFunction<StandardSchemaV1.InferOutput<Schema>, Result, State>,
): Task<StandardSchemaV1.InferInput<Schema>, Result, Name>
export function task<Payload, Result, State, const Name extends string = never>(
  options: Options<Payload, Name> & { readonly input?: never },
  run: TaskFunction<Payload, Result, State> & ArrivesAs<Payload>,
): Task<Payload, Result, Name>
export function task(
  optionsOrRun: TaskOptions | ((payload: never, context: never) => unknown),
  maybeRun?: (payload: never, context: never) => unknown,
): Task {
  const [options, run] = typeof optionsOrRun === 'function' ? [{}, optionsOrRun] : [optionsOrRun, maybeRun]
  const checked = checkOptions(options, run)
  return Object.freeze({ [mark]: true as const, options: checked.options, run: checked.run as Task['run'] })
}

/** Never throws: modules also export objects that refuse to be read. */
export function isTask(value: unknown): value is Task {
  try {
    return typeof value === 'object' && value !== null && Reflect.get(value, mark) === true
  } catch {
    return false
  }
}

/** The name of a task: its own, else that of its export. */
export function nameOf(exportName: string, { options }: Task): string {
  return options.name ?? exportName
}

/** The tasks among a module's exports, by name. */
export type TasksOf<Module> = {
  [Export in keyof Module as NameOf<Export, Module[Export]>]: Module[Export]
}
type NameOf<Export, T> = T extends Task<never, unknown, infer Name> ? ([Name] extends [never] ? Export : Name) : never
export type TaskName<Module> = keyof TasksOf<Module> & string
export type PayloadOf<T> = T extends Task<infer Payload, unknown> ? Payload : never
export type ResultOf<T> = T extends Task<never, infer Result> ? Result : never

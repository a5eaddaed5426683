/**
 * A task: a named function with options, defined in code. Its name is the name under which a module exports it.
 *
 * The function runs on a worker thread of some replica. What it is given has passed `input`, what it returns is the
 * run's result. Options are data, so that replicas can publish them for producers that never load this code.
 */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { TaskContext } from './context.ts'
import { checkOptions } from './check-options.ts'
import type { ArrivesAs } from './json-view.ts'
import type { TaskOptions } from './options.ts'

/** The mark by which a task is recognised, also when two copies of this package are loaded. */
const mark: unique symbol = Symbol.for('@q/task') as never

/** `Name`: never, where the export names it. */
export interface Task<Payload = never, Result = unknown, Name extends string = string> {
  readonly [mark]: true
  readonly options: TaskOptions & { readonly name?: Name }
  /** Validates nothing: the runner has done that. */
  readonly run: (payload: Payload, context: TaskContext) => Result | Promise<Result>
}

/** `State`: what it saves with `ctx.checkpoint` and finds in `ctx.resumed`; said by the type of its second parameter. */
export type TaskFunction<Payload, Result, State = unknown> = (
  payload: Payload,
  context: TaskContext<State>,
) => Result | Promise<Result>

/** Without `input`, which would be compared twice: with a large schema that is most of what a task costs the compiler. */
type Options<Payload, Name extends string> = Omit<TaskOptions<Payload>, 'input' | 'name'> & { readonly name?: Name }

/** A task whose payload is not checked before it runs. */
export function task<Payload, Result, State>(
  run: TaskFunction<Payload, Result, State> & ArrivesAs<Payload>,
): Task<Payload, Result, never>
/** A task with options; `input`, any Standard Schema, gives the payload its type and checks it before each run. */
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

export function isTask(value: unknown): value is Task {
  return typeof value === 'object' && value !== null && Reflect.get(value, mark) === true
}

/** A task's identity: its own name, else that of its export. */
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

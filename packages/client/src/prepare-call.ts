/**
 * Turns a call into a new run: checks its options, looks up its task, checks its payload. Calls of a batch with the same task
 * and equal options share one preparation, except for what depends on the payload, so that the store can group their runs.
 */
import type { Db, NewRun } from '@q/store'
import { runSettings, throttleDebounceSettings, type OptionData } from '@q/task'
import { settingsOf, type RunOptions } from './enqueue-options.ts'
import { idempotencyThrottle } from './idempotency-key.ts'
import { assertPayload } from './payload-check.ts'
import type { TaskRoute, TaskRouting } from './task-routing.ts'
import { withThrottleDebounce } from './throttle-debounce.ts'

export interface TaskCall {
  readonly task: string
  readonly payload: unknown
  readonly options: RunOptions
}

/** A prepared call without its payload. */
interface Kind extends Pick<TaskRoute, 'check'> {
  readonly task: string
  readonly options: RunOptions
  readonly fieldsFor: (payload: unknown) => Omit<NewRun, 'task' | 'payload'>
}

/** Prepares the calls of one batch. `within`: the transaction they belong to. */
export function createPreparation(routing: TaskRouting, within?: Db): (call: TaskCall) => Promise<NewRun> {
  let last: Kind | undefined
  return async ({ task, payload, options }) => {
    if (last === undefined || last.task !== task || !areEqual(last.options, options)) {
      last = await kindOf(routing, { task, options }, within)
    }
    const { check, fieldsFor } = last
    if (check !== undefined) await assertPayload(task, payload, check)
    return { task, payload, ...fieldsFor(payload) }
  }
}

async function kindOf(routing: TaskRouting, { task, options }: Omit<TaskCall, 'payload'>, within?: Db): Promise<Kind> {
  const settings = { ...settingsOf(options), ...idempotencyThrottle(options.idempotencyKey) }
  const { lane, options: ofTask, check } = await routing.routeOf(task, within)
  const data = withThrottleDebounce(ofTask, options)
  const fieldsFor = (payload: unknown) =>
    lane === undefined
      ? { ...throttleDebounceSettings(data, payload), ...settings }
      : { lane, ...runSettings(task, data, payload), ...settings }
  if (hasKeys(data)) return { task, options, check, fieldsFor }
  const fields = fieldsFor(undefined)
  return { task, options, check, fieldsFor: () => fields }
}

function hasKeys({ concurrency, unique, throttle, debounce }: Partial<OptionData>): boolean {
  return [concurrency, unique, throttle, debounce].some((key) => key !== undefined && key !== null)
}

function areEqual(one: RunOptions, other: RunOptions): boolean {
  if (one === other) return true
  const keys = Object.keys(one) as (keyof RunOptions)[]
  return keys.length === Object.keys(other).length && keys.every((key) => one[key] === other[key])
}

/**
 * From a call to a new run: its options are checked, its task is looked up, its payload must fit. Calls of one batch that
 * have the same task and equal options are prepared once, up to what depends on their payloads; so the store finds their
 * runs alike.
 */
import type { Db, NewRun } from '@q/store'
import { runSettings, windowSettings, type OptionData } from '@q/task'
import { settingsOf, type RunOptions } from './enqueue-options.ts'
import { requireFit } from './payload-check.ts'
import type { Destination, Published } from './published.ts'
import { withWindow } from './windows.ts'

export interface Call {
  readonly task: string
  readonly payload: unknown
  readonly options: RunOptions
}

/** All but the payload of a call. */
interface Kind extends Pick<Destination, 'check'> {
  readonly task: string
  readonly options: RunOptions
  readonly fieldsFor: (payload: unknown) => Omit<NewRun, 'task' | 'payload'>
}

/** For the calls of one batch; `within`: the transaction they are part of. */
export function createPreparation(published: Published, within?: Db): (call: Call) => Promise<NewRun> {
  let last: Kind | undefined
  return async ({ task, payload, options }) => {
    if (last === undefined || last.task !== task || !areEqual(last.options, options)) {
      last = await kindOf(published, { task, options }, within)
    }
    const { check, fieldsFor } = last
    if (check !== undefined) await requireFit(task, payload, check)
    return { task, payload, ...fieldsFor(payload) }
  }
}

async function kindOf(published: Published, { task, options }: Omit<Call, 'payload'>, within?: Db): Promise<Kind> {
  const settings = settingsOf(options)
  const { lane, options: ofTask, check } = await published.find(task, within)
  const data = withWindow(ofTask, options)
  const fieldsFor = (payload: unknown) =>
    lane === undefined
      ? { ...windowSettings(data, payload), ...settings }
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

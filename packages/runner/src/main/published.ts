/**
 * Where a run goes that the code of another one, or a schedule, enqueues: what replicas have published about its task,
 * remembered for a while, so that a run with many children does not ask for each. Of a task that is not published nothing
 * is known: the database decides, and the run waits at the gate `task` until a replica publishes it.
 */
import { createTaskMemory, type Store } from '@q/store'
import { defaultQueue, runSettings, type OptionData, type RunSettings } from '@q/task'

export interface Destination {
  readonly queue: string
  /** For a run with this payload; the store takes it as part of a new run. */
  settingsFor(payload: unknown): Partial<RunSettings> & { readonly lane?: number }
}

export type FindDestination = (task: string) => Promise<Destination>

export function createPublished(
  store: Pick<Store, 'publishedTasks' | 'internLane'>,
  nowMs: () => number,
): FindDestination {
  const memory = createTaskMemory(store, nowMs)
  return async (task) => {
    const notice = await memory.find(task)
    if (notice === undefined) return { queue: defaultQueue, settingsFor: () => ({}) }
    const { queue } = notice
    const options: Partial<OptionData> = notice.options
    const lane = await memory.laneOf({ queue, task, requires: options.requires ?? [] })
    return { queue, settingsFor: (payload) => ({ lane, ...runSettings(task, options, payload) }) }
  }
}

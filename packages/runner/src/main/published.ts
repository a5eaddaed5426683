/**
 * The options of a run that the code of another run, or a schedule, enqueues: those that replicas have published for its
 * task, cached, so that a run with many children does not read them for each. For a task that is not published the
 * database decides, and the run waits at the gate `task` until a replica publishes the task.
 */
import { createTaskMemory, type Store } from '@q/store'
import { defaultQueue, runSettings, type OptionData, type RunSettings } from '@q/task'

export interface Destination {
  readonly queue: string
  /** The settings of a run with this payload, as part of a `NewRun` of the store. */
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

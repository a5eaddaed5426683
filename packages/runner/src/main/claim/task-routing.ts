/**
 * Finds the queue and options of a run that another run or a schedule enqueues, as replicas have published them for its
 * task. They are cached, so a run with many children does not read them for each child. A run of an unpublished task waits
 * at the gate `task` until a replica publishes the task.
 */
import { createTaskCache, type Store } from '@q/store'
import { defaultQueue, runSettings, type OptionData, type RunSettings } from '@q/task'

interface PublishedRoute {
  readonly queue: string
  /** The settings of a run with this payload, as part of a `NewRun` of the store. */
  settingsFor(payload: unknown): Partial<RunSettings> & { readonly lane?: number }
}

export type FindRoute = (task: string) => Promise<PublishedRoute>

export function createRouteFinder(store: Pick<Store, 'publishedTasks' | 'internLane'>, nowMs: () => number): FindRoute {
  const memory = createTaskCache(store, nowMs)
  return async (task) => {
    const notice = await memory.find(task)
    if (notice === undefined) return { queue: defaultQueue, settingsFor: () => ({}) }
    const { queue } = notice
    const options: Partial<OptionData> = notice.options
    const lane = await memory.laneOf({ queue, task, requires: options.requires ?? [] })
    return { queue, settingsFor: (payload) => ({ lane, ...runSettings(task, options, payload) }) }
  }
}

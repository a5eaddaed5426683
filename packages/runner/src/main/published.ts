/**
 * Where a run goes that the code of another one, or a schedule, enqueues: what replicas have published about its task, remembered for a
 * while, so that a run with many children does not ask for each. A task that nobody has published yet is accepted, with
 * defaults: its replicas may come later.
 */
import { createTaskMemory, type Store } from '@q/store'
import { defaultQueue, optionData, type OptionData } from '@q/task'

export interface Destination {
  readonly queue: string
  readonly lane: number
  readonly options: Partial<OptionData>
}

export type FindDestination = (task: string) => Promise<Destination>

export function createPublished(
  store: Pick<Store, 'publishedTasks' | 'internLane'>,
  nowMs: () => number,
): FindDestination {
  const memory = createTaskMemory(store, nowMs)
  return async (task) => {
    const notice = await memory.find(task)
    const options: Partial<OptionData> = notice?.options ?? optionData({})
    const queue = notice?.queue ?? defaultQueue
    return { queue, options, lane: await memory.laneOf({ queue, task, requires: options.requires ?? [] }) }
  }
}

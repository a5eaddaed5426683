/**
 * Where a run goes that the code of another one, or a schedule, enqueues: what replicas have published about its task, remembered for a
 * while, so that a run with many children does not ask for each. A task that nobody has published yet is accepted, with
 * defaults: its replicas may come later.
 */
import type { PublishedTask, Store } from '@q/store'
import { defaultQueue, optionData, type OptionData } from '@q/task'

export interface Destination {
  readonly queue: string
  readonly lane: number
  readonly options: Partial<OptionData>
}

export type FindDestination = (task: string) => Promise<Destination>

/** That a task is not published is remembered for less long: its replicas may just be starting. */
const rememberedMs = { known: 30_000, unknown: 1_000 }

export function createPublished(
  store: Pick<Store, 'publishedTasks' | 'internLane'>,
  nowMs: () => number,
): FindDestination {
  let tasks: Promise<readonly PublishedTask[]> | undefined
  let readMs = Number.NEGATIVE_INFINITY
  const lanes = new Map<string, Promise<number>>()

  function published(notOlderThanMs: number): Promise<readonly PublishedTask[]> {
    if (tasks !== undefined && nowMs() - readMs <= notOlderThanMs) return tasks
    readMs = nowMs()
    const asked = store.publishedTasks()
    tasks = asked
    asked.catch(() => (tasks = undefined)) // a failure is not remembered
    return asked
  }

  function laneOf(queue: string, task: string, requires: readonly string[]): Promise<number> {
    const key = [queue, task, ...requires].join('\n')
    const lane = lanes.get(key) ?? store.internLane({ queue, task, requires })
    lanes.set(key, lane)
    lane.catch(() => lanes.delete(key))
    return lane
  }

  return async (task) => {
    const noticeIn = (list: readonly PublishedTask[]) => list.find(({ name }) => name === task)
    const notice = noticeIn(await published(rememberedMs.known)) ?? noticeIn(await published(rememberedMs.unknown))
    const options: Partial<OptionData> = notice?.options ?? optionData({})
    const queue = notice?.queue ?? defaultQueue
    return { queue, options, lane: await laneOf(queue, task, options.requires ?? []) }
  }
}

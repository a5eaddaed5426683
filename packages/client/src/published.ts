/**
 * Where runs of a task go: what replicas have published about it, remembered for a while. A task that nobody has
 * published yet is accepted, with defaults: a producer may be deployed before the replicas that know the task.
 */
import type { PublishedTask, Store } from '@q/store'
import { defaultQueue, type OptionData } from '@q/task'

export interface Destination {
  readonly lane: number
  readonly queueName: string
  readonly options: Partial<OptionData>
}

export interface Published {
  find(task: string): Promise<Destination>
}

/** That a task is not published is remembered for less long: its replicas may just be starting. */
const rememberedMs = { known: 30_000, unknown: 1_000 }

export function createPublished(store: Store): Published {
  let tasks: Promise<PublishedTask[]> | undefined
  let readMs = Number.NEGATIVE_INFINITY
  const lanes = new Map<string, Promise<number>>()

  async function published(notOlderThanMs: number): Promise<PublishedTask[]> {
    if (tasks === undefined || performance.now() - readMs > notOlderThanMs) {
      readMs = performance.now()
      tasks = store.publishedTasks()
    }
    return tasks.catch((error: unknown) => {
      tasks = undefined // a failure is not remembered
      throw error
    })
  }

  function laneOf(queue: string, task: string, requires: readonly string[]): Promise<number> {
    const key = [queue, task, ...requires].join('\n')
    const known = lanes.get(key)
    if (known !== undefined) return known
    const lane = store.internLane({ queue, task, requires })
    lanes.set(key, lane)
    lane.catch(() => lanes.delete(key))
    return lane
  }

  return {
    async find(task) {
      const noticeIn = (list: PublishedTask[]) => list.find((candidate) => candidate.name === task)
      const notice = noticeIn(await published(rememberedMs.known)) ?? noticeIn(await published(rememberedMs.unknown))
      const queueName = notice?.queue ?? defaultQueue
      const options: Partial<OptionData> = notice?.options ?? {}
      return { queueName, lane: await laneOf(queueName, task, options.requires ?? []), options }
    },
  }
}

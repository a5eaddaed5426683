/**
 * What replicas have published about tasks, and the lanes of their runs, remembered by whoever enqueues again and again:
 * a producer, or a replica whose code enqueues and whose schedules tick.
 *
 * It is asked how to read: one may stand in a transaction that must not wait for another connection.
 */
import { createRemembered, type Remembered } from '../remembered.ts'
import type { LaneName } from '../lanes.ts'
import type { PublishedTask } from './publish.ts'

export interface TaskReads {
  publishedTasks(): Promise<readonly PublishedTask[]>
  internLane(name: LaneName): Promise<number>
}

export interface TaskMemory {
  /** Undefined: nobody has published it yet; its replicas may come later. `reads`: instead of the usual ones. */
  find(task: string, reads?: TaskReads): Promise<PublishedTask | undefined>
  /** Lanes stay: they are read once. */
  laneOf(name: LaneName, reads?: TaskReads): Promise<number>
}

/** That a task is not published is remembered for less long: its replicas may just be starting. */
const rememberedMs = { known: 30_000, unknown: 1_000 }

export function createTaskMemory(usual: TaskReads, nowMs: () => number): TaskMemory {
  const tasks = createRemembered(() => usual.publishedTasks(), nowMs)
  const lanes = new Map<string, Remembered<number>>()
  return {
    async find(task, reads) {
      const read = reads && (() => reads.publishedTasks())
      const lookFor = async (maxAgeMs: number) => (await tasks.get(maxAgeMs, read)).find(({ name }) => name === task)
      return (await lookFor(rememberedMs.known)) ?? (await lookFor(rememberedMs.unknown))
    },
    laneOf(name, reads) {
      const key = [name.queue, name.task, ...(name.requires ?? [])].join('\n')
      const lane = lanes.get(key) ?? createRemembered(() => usual.internLane(name), nowMs)
      lanes.set(key, lane)
      return lane.get(Number.POSITIVE_INFINITY, reads && (() => reads.internLane(name)))
    },
  }
}

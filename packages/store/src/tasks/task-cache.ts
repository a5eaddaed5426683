/**
 * Caches published tasks and the lanes of their runs, for programs that enqueue repeatedly: a producer, or a replica whose
 * code enqueues and whose schedules tick.
 *
 * The caller passes how to read, because it may be in a transaction that must not wait for another connection.
 */
import { createCachedRead, type CachedRead } from '../cached-read.ts'
import type { LaneName } from '../lanes.ts'
import type { PublishedTask } from './publish.ts'

export interface TaskReads {
  publishedTasks(): Promise<readonly PublishedTask[]>
  internLane(name: LaneName): Promise<number>
}

export interface TaskCache {
  /** Returns undefined if the task is not published yet; its replicas may start later. `reads` replaces the default reads. */
  find(task: string, reads?: TaskReads): Promise<PublishedTask | undefined>
  /** Lanes never change: they are read once. */
  laneOf(name: LaneName, reads?: TaskReads): Promise<number>
}

/** An unpublished task is cached for less time: its replicas may be starting. */
const cachedMsMax = { known: 30_000, unknown: 1_000 }

export function createTaskCache(usual: TaskReads, nowMs: () => number): TaskCache {
  const tasks = createCachedRead(() => usual.publishedTasks(), nowMs)
  const lanes = new Map<string, CachedRead<number>>()
  return {
    async find(task, reads) {
      const read = reads && (() => reads.publishedTasks())
      const lookFor = async (maxAgeMs: number) => (await tasks.get(maxAgeMs, read)).find(({ name }) => name === task)
      return (await lookFor(cachedMsMax.known)) ?? (await lookFor(cachedMsMax.unknown))
    },
    laneOf(name, reads) {
      const key = [name.queue, name.task, ...(name.requires ?? [])].join('\n')
      const lane = lanes.get(key) ?? createCachedRead(() => usual.internLane(name), nowMs)
      lanes.set(key, lane)
      return lane.get(Number.POSITIVE_INFINITY, reads && (() => reads.internLane(name)))
    },
  }
}

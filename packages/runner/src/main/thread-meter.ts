/**
 * What a thread uses, measured from the main thread while the thread itself may be too busy to say.
 *
 * On Linux the kernel tells the CPU time of a thread also while it is inside a native call. Elsewhere the thread is
 * asked in passing, which a spinning loop answers and a native call does not. The heap is asked for in the same way;
 * there is one question under way at most, and what is told is the last answer.
 */
import type { Worker } from 'node:worker_threads'
import { cpuMsOf } from './process-tree.ts'
import type { Measured } from './pulse-board.ts'

export interface ThreadMeter {
  measure(): Measured
}

const megabyte = 1_048_576

export function createThreadMeter(worker: Worker, osThreadId: number): ThreadMeter {
  let cpuMs = 0
  let heapMb: number | null = null
  let lastUse = worker.performance.eventLoopUtilization()
  let asking = false

  async function ask(): Promise<void> {
    asking = true
    try {
      const cpu = await worker.cpuUsage()
      cpuMs = Math.max(cpuMs, (cpu.user + cpu.system) / 1_000)
      heapMb = Math.round((await worker.getHeapStatistics()).used_heap_size / megabyte)
    } catch {
      // gone meanwhile
    }
    asking = false
  }

  return {
    measure() {
      if (!asking) void ask()
      if (osThreadId !== 0) cpuMs = Math.max(cpuMs, cpuMsOf(`/proc/self/task/${osThreadId}/stat`, ['own']))
      const use = worker.performance.eventLoopUtilization()
      const { utilization } = worker.performance.eventLoopUtilization(use, lastUse)
      lastUse = use
      return { cpuMs, heapMb, eventLoopUse: Number.isFinite(utilization) ? utilization : null }
    },
  }
}

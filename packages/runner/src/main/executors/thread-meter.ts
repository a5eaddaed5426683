/**
 * Measures the CPU time, heap and event loop use of a worker thread from the main thread.
 *
 * On Linux the kernel reports the CPU time even during a native call. On other systems, and for the heap, the thread is
 * asked: V8 answers during a JavaScript loop, but not during a native call. At most one request is in flight, and
 * `measure()` returns the last answer.
 */
import type { Worker } from 'node:worker_threads'
import { cpuMsOf } from './process-tree.ts'
import type { Usage } from '../liveness/run-evidence.ts'

export interface ThreadMeter {
  measure(): Usage
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
      // the thread has exited
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

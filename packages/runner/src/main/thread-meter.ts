/**
 * What a thread uses, measured from the main thread while the thread itself may be too busy to say.
 *
 * On Linux the kernel tells the CPU time of a thread also while it is inside a native call. Elsewhere the thread is
 * asked in passing, which a spinning loop answers and a native call does not. The heap is asked for in the same way;
 * there is one question under way at most, and what is told is the last answer.
 */
import { readFileSync } from 'node:fs'
import type { Worker } from 'node:worker_threads'
import type { Measured } from './pulse-board.ts'

export interface ThreadMeter {
  measure(): Measured
}

const megabyte = 1_048_576
const tickMs = 10 // of the kernel's accounting, on every Linux that Node runs on

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
      cpuMs = Math.max(cpuMs, kernelCpuMs(osThreadId) ?? 0)
      const use = worker.performance.eventLoopUtilization()
      const { utilization } = worker.performance.eventLoopUtilization(use, lastUse)
      lastUse = use
      return { cpuMs, heapMb, eventLoopUse: Number.isFinite(utilization) ? utilization : null }
    },
  }
}

/** Fields 14 and 15 of /proc/…/stat, counted behind the name in parentheses, which may contain anything. */
function kernelCpuMs(osThreadId: number): number | undefined {
  if (osThreadId === 0) return undefined
  try {
    const stat = readFileSync(`/proc/self/task/${osThreadId}/stat`, 'latin1')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) * tickMs
  } catch {
    return undefined
  }
}

/** CPU, memory and counts of this process, since the last look. */
import { availableParallelism } from 'node:os'
import type { Outcome, ReplicaVitals } from '@q/store'

export type OwnVitals = Omit<ReplicaVitals, 'activeRuns' | 'freeSlots'>

export interface Vitals {
  count(status: Outcome['status']): void
  read(): OwnVitals
}

const megabyte = 1_048_576

export function createVitals(): Vitals {
  let completed = 0
  let failed = 0
  let lastCpu = process.cpuUsage()
  let lastMs = performance.now()
  return {
    count(status) {
      if (status === 'SUCCEEDED') completed++
      if (status === 'FAILED') failed++
    },
    read() {
      const cpu = process.cpuUsage(lastCpu)
      const elapsedMs = Math.max(1, performance.now() - lastMs)
      lastCpu = process.cpuUsage()
      lastMs = performance.now()
      const cpuPercent = (cpu.user + cpu.system) / 1_000 / elapsedMs / availableParallelism()
      return {
        // Judged by thresholds in a later release; a replica that beats is taken for healthy.
        health: 'healthy',
        cpuPercent: Math.min(100, Math.round(cpuPercent * 1_000) / 10),
        memoryMb: Math.round(process.memoryUsage.rss() / megabyte),
        completed,
        failed,
        uptimeS: Math.round(process.uptime()),
      }
    },
  }
}

/**
 * Measures CPU, memory and counts of this process, and its health by the heartbeat protocol: the CPU time of the
 * process in percent of all cores, and its resident memory. (A runner uses other rules: main/stats/health.ts.)
 */
import { availableParallelism } from 'node:os'
import type { HealthStatus, WorkerMetrics } from '@q/store'
import { judge } from '../main/stats/health.ts'

export interface OwnMetrics {
  completed(): void
  failed(): void
  /** Measures again if the last measurement is too old. */
  read(): WorkerMetrics
  health(): HealthStatus
}

export interface Meters {
  readonly nowMs: () => number
  /** CPU time since the start of the process. */
  readonly cpuMs: () => number
  readonly memoryMb: () => number
  readonly cores: number
}

const limits = { degradedCpu: 70, unhealthyCpu: 90, degradedMb: 4_096, unhealthyMb: 8_192 }
/** A percentage over less time is not meaningful. */
const intervalMsMin = 1_000
const megabyte = 1_048_576

const processMeters: Meters = {
  nowMs: () => performance.now(),
  cpuMs() {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1_000
  },
  memoryMb: () => process.memoryUsage.rss() / megabyte,
  cores: availableParallelism(),
}

export function createOwnMetrics(meters: Meters = processMeters): OwnMetrics {
  const startedMs = meters.nowMs()
  const counts = { completed: 0, failed: 0 }
  let measured = { atMs: startedMs, cpuMs: meters.cpuMs(), cpuPercent: 0 }

  function read(): WorkerMetrics {
    const atMs = meters.nowMs()
    const elapsedMs = atMs - measured.atMs
    if (elapsedMs >= intervalMsMin) {
      const cpuMs = meters.cpuMs()
      measured = { atMs, cpuMs, cpuPercent: ((cpuMs - measured.cpuMs) / elapsedMs / meters.cores) * 100 }
    }
    return {
      cpu_usage: Math.round(measured.cpuPercent * 10) / 10,
      memory_usage: Math.round(meters.memoryMb() * 10) / 10,
      tasks_completed: counts.completed,
      tasks_failed: counts.failed,
      uptime: Math.round((atMs - startedMs) / 1_000),
    }
  }

  return {
    completed: () => void counts.completed++,
    failed: () => void counts.failed++,
    read,
    health() {
      const { cpu_usage: cpuPercent, memory_usage: memoryMb } = read()
      return judge({ cpuPercent, memoryMb }, limits)
    },
  }
}

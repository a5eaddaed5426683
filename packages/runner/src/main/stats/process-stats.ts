/** CPU, memory, counts and health of this process, with the programs that its runs have started. */
import { availableParallelism } from 'node:os'
import type { Outcome, ReplicaStats } from '@q/store'
import { containerMb } from './container-memory.ts'
import { judge, limitsWithin, type Health, type HealthLimits } from './health.ts'
import { processUse, type ProcessUse } from '../executors/process-tree.ts'

export type ProcessReading = Omit<ReplicaStats, 'activeRuns' | 'freeSlots' | 'threads'>

export interface ProcessStats {
  /** How a run ended. */
  count(status: Outcome['status']): void
  runBegan(): void
  runEnded(): void
  /** Measures since the last call, and judges the health. */
  look(): void
  health(): Health
  /** The last measurement. */
  read(): ProcessReading
}

/** Measurements over a shorter time are too inexact. */
const intervalMsMin = 1_000

export interface ProcessMeters {
  readonly cores?: number
  readonly nowMs?: () => number
  readonly use?: () => ProcessUse
}

export function createProcessStats(
  limits: HealthLimits,
  { cores = availableParallelism(), nowMs = () => performance.now(), use = processUse }: ProcessMeters = {},
): ProcessStats {
  const within = limitsWithin(containerMb(), limits)
  let completed = 0
  let failed = 0
  const first = use()
  let lastCpuMs = first.cpuMs
  let lastMs = nowMs()
  /** The total time of the runs executed here since the last measurement. */
  let runsMs = 0
  let running = 0
  let countedMs = lastMs
  const countRunning = (change: number) => {
    runsMs += running * (nowMs() - countedMs)
    countedMs = nowMs()
    running += change
  }
  let seen = { cpuPercent: 0, memoryMb: first.memoryMb }
  let health: Health = judge(seen, within)
  return {
    count(status) {
      if (status === 'SUCCEEDED') completed++
      if (status === 'FAILED') failed++
    },
    runBegan: () => countRunning(1),
    runEnded: () => countRunning(-1),
    look() {
      const elapsedMs = nowMs() - lastMs
      if (elapsedMs < intervalMsMin) return
      const { cpuMs, memoryMb } = use()
      const coresUsed = Math.max(0, cpuMs - lastCpuMs) / elapsedMs
      lastCpuMs = cpuMs
      lastMs = nowMs()
      countRunning(0)
      const coresOfRuns = runsMs / elapsedMs
      runsMs = 0
      seen = { cpuPercent: Math.min(100, Math.round((coresUsed / cores) * 1_000) / 10), memoryMb }
      health = judge({ ...seen, cpuPercent: Math.max(0, ((coresUsed - coresOfRuns) / cores) * 100) }, within)
    },
    health: () => health,
    read: () => ({ health, ...seen, completed, failed, uptimeS: Math.round(process.uptime()) }),
  }
}

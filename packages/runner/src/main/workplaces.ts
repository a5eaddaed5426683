/** All places where runs are executed: threads for most, child processes for those that must not share one. */
import type { RunnerConfig } from '../config.ts'
import type { WorkerSetup } from '../protocol.ts'
import { childEnv } from './child-env.ts'
import { createProcesses, type ProcessPool } from './process-pool.ts'
import { startThreads, type ThreadPool } from './thread-pool.ts'

export interface Workplaces {
  readonly threads: ThreadPool
  readonly processes: ProcessPool
  close(): Promise<void>
}

export function startWorkplaces(config: RunnerConfig, setup: WorkerSetup): Workplaces {
  const { threads: slots, threadMemoryMb } = config
  const memoryLimitMb = threadMemoryMb === 0 ? null : threadMemoryMb
  const threads = startThreads({ threads: slots, memoryLimitMb }, setup)
  const env = childEnv(process.env, config.childEnv)
  const processes = createProcesses({ ...setup, env, processesMax: slots })
  return {
    threads,
    processes,
    close: async () => void (await Promise.all([threads.close(), processes.close()])),
  }
}

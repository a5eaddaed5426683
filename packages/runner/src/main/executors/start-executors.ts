/** Starts both kinds of executors: threads for most runs, child processes for runs that must not share a process. */
import type { RunnerConfig } from '../../settings/config.ts'
import type { WorkerSetup } from '../../protocol/messages.ts'
import { childEnv } from './child-env.ts'
import { createProcesses, type ProcessPool } from './process-pool.ts'
import { startThreads, type ThreadPool } from './thread-pool.ts'

export interface Executors {
  readonly threads: ThreadPool
  readonly processes: ProcessPool
  close(): Promise<void>
}

export function startExecutors(config: RunnerConfig, setup: WorkerSetup): Executors {
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

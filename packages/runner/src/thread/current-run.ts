/**
 * Finds the run that the calling code belongs to. A thread executes one run at a time, but code may continue after its run
 * has ended, in timers and in promises without await. Such code still belongs to its own run, never to the next one.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { TaskContext } from '@q/task'
import type { RunCommand } from '../protocol/messages.ts'

export interface CurrentRun {
  readonly command: RunCommand
  /** Undefined until the code of the task starts. */
  context?: TaskContext
  ended: boolean
}

export interface CurrentRuns {
  /** Executes a run. All code that `execute` calls or schedules belongs to that run. */
  within<T>(command: RunCommand, execute: (run: CurrentRun) => Promise<T>): Promise<T>
  /** The run of the calling code; undefined if it belongs to the import of a module. */
  current(): CurrentRun | undefined
}

export function createCurrentRuns(): CurrentRuns {
  const storage = new AsyncLocalStorage<CurrentRun>()
  return {
    current: () => storage.getStore(),
    async within(command, execute) {
      const run: CurrentRun = { command, ended: false }
      try {
        return await storage.run(run, execute, run)
      } finally {
        run.ended = true
      }
    },
  }
}

/**
 * Which run the code that executes right now belongs to. A thread executes one run at a time, but code may go on after its
 * run has ended: timers, promises that no one awaited. It still belongs to its run then, never to the next one.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { TaskLog } from '@q/task'
import type { RunOrder } from '../protocol.ts'

export interface CurrentRun {
  readonly order: RunOrder
  /** Undefined before the code of the task begins. */
  log?: TaskLog
  ended: boolean
}

export interface CurrentRuns {
  /** Everything that `execute` causes, now or later, belongs to the run. */
  within<T>(order: RunOrder, execute: (run: CurrentRun) => Promise<T>): Promise<T>
  /** Undefined: no run has caused it, but a module when it was imported. */
  current(): CurrentRun | undefined
}

export function createCurrentRuns(): CurrentRuns {
  const storage = new AsyncLocalStorage<CurrentRun>()
  return {
    current: () => storage.getStore(),
    async within(order, execute) {
      const run: CurrentRun = { order, ended: false }
      try {
        return await storage.run(run, execute, run)
      } finally {
        run.ended = true
      }
    },
  }
}

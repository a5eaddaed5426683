/**
 * Errors that no one awaited: a rejection nobody handled, a throw in a timer. Node would end the thread, and with it
 * whichever run it has in hand. Here they are the fault of the run whose code caused them, if it is still going:
 * the run ends with the error, and the thread with the run. A run that was told to stop ends with what it was told:
 * a heartbeat in a timer throws then, and the rest of the code has its time to clean up. A run that ended before has its
 * outcome, and the run that is going now has nothing to do with it.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { orderKey, type RunOrder } from '../protocol.ts'
import type { MainLine } from './main-line.ts'
import { reportThrow } from './plain-data.ts'

export interface StrayErrors {
  /** Whatever `run` causes, now or later, is known to be its. */
  within<T>(order: RunOrder, run: () => Promise<T>): Promise<T>
}

/** `isStopped`: a run in execution was told to stop. */
export function catchStrayErrors(line: MainLine, isStopped: (order: RunOrder) => boolean): StrayErrors {
  const cause = new AsyncLocalStorage<RunOrder>()
  let current: RunOrder | undefined
  const caught = (error: unknown) => {
    const culprit = cause.getStore()
    if (culprit !== undefined && culprit === current) {
      if (isStopped(culprit)) return
      line.say({ key: orderKey(culprit), kind: 'last-words', report: reportThrow(error) })
      process.exit(1)
    }
    console.error('An error that nobody awaited, of a run that has ended or of a module:', error)
    if (current === undefined) process.exit(1) // a fresh thread takes its place, and gets what was on the way here
  }
  process.on('uncaughtException', caught)
  process.on('unhandledRejection', caught)
  return {
    async within(order, run) {
      current = order
      try {
        return await cause.run(order, run)
      } finally {
        current = undefined
      }
    },
  }
}

/**
 * Errors that no one awaited: a rejection nobody handled, a throw in a timer. Node would end the thread, and with it
 * whichever run it has in hand. Here they are the fault of the run whose code caused them, if it is still going:
 * the run ends with the error, and the thread with the run. A run that ended before has its outcome, and the run that
 * is going now has nothing to do with it. What no run has caused, but a module when it was imported (a second server
 * on the same port, a timer that throws), ends nothing: a fresh thread would import it and meet the same, without end.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { orderKey, type RunOrder } from '../protocol.ts'
import type { MainLine } from './main-line.ts'
import { reportThrow } from './plain-data.ts'

export interface StrayErrors {
  /** Whatever `run` causes, now or later, is known to be its. */
  within<T>(order: RunOrder, run: () => Promise<T>): Promise<T>
}

export function catchStrayErrors(line: MainLine): StrayErrors {
  const cause = new AsyncLocalStorage<RunOrder>()
  let current: RunOrder | undefined
  const caught = (error: unknown) => {
    const culprit = cause.getStore()
    if (culprit !== undefined && culprit === current) {
      line.say({ key: orderKey(culprit), kind: 'last-words', report: reportThrow(error) })
      process.exit(1)
    }
    console.error('An error that nobody awaited, of a run that has ended or of a module:', error)
    // A fresh thread takes its place, and it costs nobody anything.
    if (culprit !== undefined && current === undefined) process.exit(1)
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

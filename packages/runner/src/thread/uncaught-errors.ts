/**
 * Handles uncaught errors of task code: an unhandled rejection, a throw in a timer. By default Node would end the thread,
 * and with it the run that is executing. Here the error belongs to the run whose code caused it. If that run is executing,
 * it ends with the error, and the thread ends too. If a stop was requested, the error is ignored, because heartbeat() in a
 * timer throws then and the rest of the code may still clean up.
 *
 * Code of a run that has ended does not end the thread, neither with an error nor with process.exit(): the main thread may
 * not have read the result yet, and the thread may execute the next run. An error that the import of a module causes (a
 * second server on the same port, a timer that throws) does not end it either: the next thread would import the module and
 * fail again. Both kinds are printed, up to a number per minute.
 */
import type { RunCommand } from '../protocol/messages.ts'
import { ownClocks } from '../protocol/own-clocks.ts'
import type { CurrentRuns } from './current-run.ts'
import type { MainThreadChannel } from './main-thread-channel.ts'
import { reportThrow } from './plain-data.ts'

/** `isStopped`: whether a stop of the executing run was requested. */
export function catchUncaughtErrors(
  channel: Pick<MainThreadChannel, 'send'>,
  runs: Pick<CurrentRuns, 'current'>,
  isStopped: (command: RunCommand) => boolean,
): void {
  const print = createPrinter()
  const caught = (error: unknown) => {
    const culprit = runs.current()
    if (culprit?.ended === false) {
      if (isStopped(culprit.command)) return
      channel.send(culprit.command.seq, { kind: 'uncaught-error', report: reportThrow(error) })
      process.exit(1)
    }
    print(error)
  }
  process.on('uncaughtException', caught)
  process.on('unhandledRejection', caught)
  const exit = process.exit
  process.exit = (code) => {
    const culprit = runs.current()
    if (culprit?.ended !== true) return exit(code)
    throw new Error(`Run ${culprit.command.runId} has ended; its process.exit() ends nothing.`)
  }
}

const minuteMs = 60_000
const printedMax = 20

function createPrinter(): (error: unknown) => void {
  let sinceMs = ownClocks.threadMs()
  let count = 0
  return (error) => {
    if (ownClocks.threadMs() - sinceMs > minuteMs) [sinceMs, count] = [ownClocks.threadMs(), 0]
    count++
    if (count > printedMax) return
    console.error('Uncaught error in code of a run that has ended, or of a module:', textOf(error))
    if (count === printedMax) console.error('Further errors of this kind are not printed in this minute.')
  }
}

/** The text of an error, even if its own code throws. */
function textOf(error: unknown): string {
  const report = reportThrow(error)
  return report.ended === 'failed' ? (report.stack ?? report.detail) : report.ended
}

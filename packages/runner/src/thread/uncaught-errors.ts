/**
 * Errors that no one awaited: a rejection nobody handled, a throw in a timer. Node would end the thread, and with it
 * whichever run it has in hand. Here they are the fault of the run whose code caused them, if it is still going:
 * the run ends with the error, and the thread with the run. A run that was told to stop ends with what it was told:
 * a heartbeat in a timer throws then, and the rest of the code has its time to clean up.
 *
 * Code of a run that has ended ends no thread, neither by an error nor by process.exit(): what the run has returned may
 * not have been read yet, and the next one may be on its way here, or going. What no run has caused, but a module when it
 * was imported (a second server on the same port, a timer that throws), ends nothing: a fresh thread would import it and
 * meet the same, without end. Both are printed, some a minute: nothing ends a timer that throws for ever.
 */
import type { RunCommand } from '../protocol/messages.ts'
import type { CurrentRuns } from './current-run.ts'
import type { MainThreadChannel } from './main-thread-channel.ts'
import { reportThrow } from './plain-data.ts'

/** `isStopped`: a run in execution was told to stop. */
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
  let sinceMs = performance.now()
  let count = 0
  return (error) => {
    if (performance.now() - sinceMs > minuteMs) [sinceMs, count] = [performance.now(), 0]
    count++
    if (count > printedMax) return
    console.error('An error that nobody awaited, of a run that has ended or of a module:', textOf(error))
    if (count === printedMax) console.error('What follows of that kind in this minute is not printed.')
  }
}

/** Whatever its own code does when it is to be shown. */
function textOf(error: unknown): string {
  const report = reportThrow(error)
  return report.ended === 'failed' ? (report.stack ?? report.detail) : report.ended
}

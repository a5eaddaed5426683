/** Writes reports to the log of the sending replica, to show what a destination would receive. */
import type { Sender, SenderContext } from '../sender.ts'

export function openLogSender({ name, log }: SenderContext): Sender {
  return {
    send(reports) {
      for (const { id, kind, subject, payload } of reports)
        log('info', { destination: name, id, kind, subject, payload }, 'report')
      return Promise.resolve(reports.map(() => ({ kind: 'delivered' })))
    },
    test() {
      log('info', { destination: name }, 'test report')
      return Promise.resolve({ kind: 'delivered' })
    },
    close: () => Promise.resolve(),
  }
}

/** The kinds of destinations. A kind's code is loaded when the first destination of that kind is opened. */
import type { DestinationKind } from './sender.ts'

export const destinationKinds: Readonly<Record<string, DestinationKind>> = {
  log: {
    problemsOf: () => [],
    open: async (context) => (await import('./log/log-sender.ts')).openLogSender(context),
    inFlightMax: 1,
    batchMax: 100,
  },
}

/** Loads the package of the senders. The only file of the runner that knows it: a replica without destinations loads none of it. */
import type * as destinations from '@q/destinations'

export type { DestinationKind, Report, Sender, SendResult } from '@q/destinations'

export function loadDestinations(): Promise<typeof destinations> {
  return import('@q/destinations')
}

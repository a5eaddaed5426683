/** Loads @q/destinations; no other file of the runner imports it, so a replica without destinations never loads it. */
import type * as destinations from '@q/destinations'

export type { DestinationKind, Report, Sender, SendResult } from '@q/destinations'

export function loadDestinations(): Promise<typeof destinations> {
  return import('@q/destinations')
}

/**
 * The error of a report that could not be delivered. A step throws it; `send` turns it into the result of the report.
 */
import type { SendResult } from '../../sender.ts'

export type Undelivered = Exclude<SendResult, { kind: 'delivered' }>

interface Reach {
  /** Whether other reports of the destination would fail for the same reason. */
  readonly blocksOthers?: boolean
}

export class NotDelivered extends Error {
  override readonly name = 'NotDelivered'
  readonly result: Undelivered
  readonly blocksOthers: boolean

  constructor(result: Undelivered, { blocksOthers = false }: Reach = {}) {
    super(result.error)
    this.result = result
    this.blocksOthers = blocksOthers
  }
}

/** The result of a report that was not tried because earlier reports used up the time of the call. */
export function outOfTime(): NotDelivered {
  const error = 'Other reports took the time of this batch.'
  return new NotDelivered({ kind: 'postponed', error, retryAfterMs: 1000 }, { blocksOthers: true })
}

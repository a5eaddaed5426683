/** A report that could not be delivered. Thrown by a step, caught where the report's result is returned. */
import type { SendResult } from '../../sender.ts'

export type Undelivered = Exclude<SendResult, { kind: 'delivered' }>

export class NotDelivered extends Error {
  override readonly name = 'NotDelivered'
  readonly result: Undelivered
  /** Whether other reports of the destination would fail for the same reason. */
  readonly blocksOthers: boolean

  constructor(result: Undelivered, blocksOthers = false) {
    super(result.error)
    this.result = result
    this.blocksOthers = blocksOthers
  }
}

import type { WorkExchangeResult } from '@q/store'

/** The answer of the store to an exchange that wrote and claimed nothing. */
export const emptyExchange: WorkExchangeResult = {
  lookedOnly: false,
  finished: [],
  started: [],
  busy: [],
  claimed: [],
  prefetched: [],
  more: Promise.resolve(false),
}

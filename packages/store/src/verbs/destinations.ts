/** Destinations and the reports that they receive. The contracts are here; the file of each verb has its rules. */
import type { DB } from '@q/schema'
import type { Kysely } from 'kysely'
import type { Destination, DestinationInput } from '../deliveries/destination.ts'
import {
  getDestinationState,
  getSharedState,
  replaceSharedState,
  setDestinationState,
  type StateKey,
} from '../deliveries/destination-state.ts'
import { leaseDeliveries, type LeasedDelivery, type LeaseRequest } from '../deliveries/lease-deliveries.ts'
import { markDeliveries, type DeliveryMark, type MarkedDelivery } from '../deliveries/mark-deliveries.ts'
import { pauseDestination, resumeDestination } from '../deliveries/pause-destination.ts'
import { pruneDeliveries } from '../deliveries/prune.ts'
import {
  putDestination,
  removeDestination,
  removeUndeclared,
  type PutDestinationAnswer,
  type PutDestinationOptions,
} from '../deliveries/put-destination.ts'
import { redeliver, redeliverGivenUp, type RedeliverAnswer } from '../deliveries/redeliver.ts'
import { reportHeartbeats, type HeartbeatReportRequest } from '../deliveries/report-heartbeats.ts'
import { listDeliveries, type DeliveryRequest, type DeliveryView } from '../reads/deliveries/list-deliveries.ts'
import { listDestinations, readDestinations, type DestinationView } from '../reads/deliveries/list-destinations.ts'
import type { Page } from '../reads/page.ts'

export interface DestinationVerbs {
  // ---- Destinations

  /**
   * Creates or changes a destination; reports begin with the commit. Does not check the settings: `@q/destinations` knows the kinds.
   * Not part of a transaction. Throws `DESTINATION_BUSY` if transactions that wrote runs stay open.
   */
  putDestination(input: DestinationInput, options?: PutDestinationOptions): Promise<PutDestinationAnswer>

  /**
   * Stops sending reports to a destination. They are still written, and sent after it is resumed unless they are pruned before.
   */
  pauseDestination(
    name: string,
    request: { readonly by: string; readonly reason?: string },
  ): Promise<'paused' | 'not-found'>

  /** Resumes sending reports to a destination, including those written in the meantime. */
  resumeDestination(name: string): Promise<'resumed' | 'not-found'>

  /** Removes a destination with its undelivered reports. */
  removeDestination(name: string): Promise<'removed' | 'not-found'>

  /**
   * Removes destinations that a file declared earlier and no longer declares.
   * Returns their names.
   */
  removeUndeclared(declared: readonly string[]): Promise<string[]>

  /**
   * Returns all destinations by name, with the state of their reports.
   */
  listDestinations(): Promise<DestinationView[]>

  /**
   * Returns all destinations by name, without the state of their reports.
   */
  readDestinations(): Promise<Destination[]>

  // ---- Reports

  /** Returns reports to destinations, newest first; with `givenUp` only reports that were given up. In pages. */
  listDeliveries(request?: DeliveryRequest): Promise<Page<DeliveryView>>

  /**
   * Sends a report again under the same id, whether it was given up or delivered.
   * `superseded`: a newer report of the same kind about the same run or workflow was delivered or is
   * being sent.
   */
  redeliver(id: string): Promise<RedeliverAnswer>

  /**
   * Sends a bounded number of given-up reports of a destination again, oldest first. Returns how many became due;
   * superseded ones stay as they are.
   */
  redeliverGivenUp(request: { readonly destination: string; readonly limit: number }): Promise<number>

  /**
   * Leases the next reports of a destination to a sender: of each run, workflow or replica at most the oldest one. A
   * lease that expires makes the report due again. Safe with many callers.
   */
  leaseDeliveries(request: LeaseRequest): Promise<LeasedDelivery[]>

  /**
   * Records the results of leased reports. Reports under a lost lease do not change, and the answer leaves them out.
   */
  markDeliveries(holder: string, marks: readonly DeliveryMark[]): Promise<MarkedDelivery[]>

  /**
   * Reports the latest heartbeats of live replicas to a destination, once per interval of the destination. Returns the
   * number of reports; fewer than `limit` means that no other is due.
   */
  reportHeartbeats(request: HeartbeatReportRequest): Promise<number>

  /**
   * Removes old reports, delivered or not.
   * Returns how many; fewer than `limit` means that none is left.
   */
  pruneDeliveries(request: { readonly keepMs: number; readonly limit: number }): Promise<number>

  // ---- State of senders

  /** Returns the value that a sender stored under a key. */
  getDestinationState(state: StateKey): Promise<string | undefined>

  /** Stores a value for a sender; undefined removes it. */
  setDestinationState(state: StateKey, value: string | undefined): Promise<void>

  /**
   * Returns what the senders of all destinations remember together under a key.
   */
  getSharedState(key: string): Promise<string | undefined>

  /**
   * Replaces such a value unless it has changed since it was read as `from`; undefined: there was none.
   * Returns whether it did.
   */
  replaceSharedState(key: string, change: { readonly from: string | undefined; readonly to: string }): Promise<boolean>
}

export function destinationVerbs(db: Kysely<DB>): DestinationVerbs {
  return {
    putDestination: (input, options) => putDestination(db, input, options),
    pauseDestination: (name, request) => pauseDestination(db, name, request),
    resumeDestination: (name) => resumeDestination(db, name),
    removeDestination: (name) => removeDestination(db, name),
    removeUndeclared: (declared) => removeUndeclared(db, declared),
    listDestinations: () => listDestinations(db),
    readDestinations: () => readDestinations(db),
    listDeliveries: (request) => listDeliveries(db, request),
    redeliver: (id) => redeliver(db, id),
    redeliverGivenUp: (request) => redeliverGivenUp(db, request),
    leaseDeliveries: (request) => leaseDeliveries(db, request),
    markDeliveries: (holder, marks) => markDeliveries(db, holder, marks),
    reportHeartbeats: (request) => reportHeartbeats(db, request),
    pruneDeliveries: (request) => pruneDeliveries(db, request),
    getDestinationState: (state) => getDestinationState(db, state),
    setDestinationState: (state, value) => setDestinationState(db, state, value),
    getSharedState: (key) => getSharedState(db, key),
    replaceSharedState: (key, change) => replaceSharedState(db, key, change),
  }
}

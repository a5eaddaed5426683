/**
 * Signals between the parts of a replica. They are created before all parts, so each part depends only on parts that were
 * created before it; a part connects its receivers when it starts. A signal without a receiver is ignored: the loop that it
 * would wake has not started, and every loop looks for work when it starts.
 */
import type { DrainOrder, Lease } from '@q/store'

export interface Signals {
  /** The next exchange has something to carry: a success, or room for a run. */
  wakeClaim(): void
  /** Runs became ready: known claim candidates are out of date. */
  runsReady(): void
  /** Wakes may have been lost: every loop that wakes start checks for work once. */
  lookEverywhere(): void
  /** A slot of this concurrency key became free. */
  promoteKey(key: string): void
  /** A run is due in `inMs` milliseconds. */
  dueIn(inMs: number): void
  /** A schedule was created or changed. */
  wakeSchedules(): void
  /** An operation on many runs was requested. */
  operationRequested(): void
  /** A destination was created, changed or removed, or the wake that says so may have been lost. */
  destinationsChanged(): void
  /** A run that has a slot for itself is in execution from now on. */
  runBegan(lease: Lease): void
  /** Runs are about to be handed to the thread of a slot. */
  handingOver(slot: number, runs: readonly Lease[]): void
  /** This process was suspended. */
  suspended(): void
  /** The drain order that the database holds; null: none. */
  drainOrdered(order: DrainOrder | null): void
  /** The database requires a newer release of this program. */
  programTooOld(): void
}

export interface ConnectedSignals extends Signals {
  connect(receivers: Partial<Signals>): void
}

export function createSignals(): ConnectedSignals {
  let receivers: Partial<Signals> = {}
  return {
    connect: (given) => void (receivers = { ...receivers, ...given }),
    wakeClaim: () => receivers.wakeClaim?.(),
    runsReady: () => receivers.runsReady?.(),
    lookEverywhere: () => receivers.lookEverywhere?.(),
    promoteKey: (key) => receivers.promoteKey?.(key),
    dueIn: (inMs) => receivers.dueIn?.(inMs),
    wakeSchedules: () => receivers.wakeSchedules?.(),
    operationRequested: () => receivers.operationRequested?.(),
    destinationsChanged: () => receivers.destinationsChanged?.(),
    runBegan: (lease) => receivers.runBegan?.(lease),
    handingOver: (slot, runs) => receivers.handingOver?.(slot, runs),
    suspended: () => receivers.suspended?.(),
    drainOrdered: (order) => receivers.drainOrdered?.(order),
    programTooOld: () => receivers.programTooOld?.(),
  }
}

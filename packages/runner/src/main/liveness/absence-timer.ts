/**
 * The watcher counts how long replicas have been gone, on its own monotonic clock: a step of the database's clock
 * neither shortens nor prolongs a grace. The count begins when this replica first sees the evidence, and any sign of life
 * changes the evidence.
 *
 * A new watcher continues the count of the one before, by the mark in the database, if it has seen the database's clock
 * run steadily for at least as long. Otherwise it counts from its own first look.
 */
import type { MissingReplica } from '@q/store'

export interface AbsenceTimer {
  /** Returns the same replicas, with `goneForMs` as counted here. `steadyMs`: how long the database's clock has run steadily. */
  seen(gone: readonly MissingReplica[], nowMs: number, steadyMs: number): MissingReplica[]
}

export function createAbsenceTimer(): AbsenceTimer {
  let since = new Map<string, number>()
  return {
    seen(gone, nowMs, steadyMs) {
      const first = ({ goneForMs }: MissingReplica) => nowMs - (goneForMs <= steadyMs ? goneForMs : 0)
      since = new Map(gone.map((one) => [one.evidence, since.get(one.evidence) ?? first(one)]))
      return gone.map((one) => ({ ...one, goneForMs: nowMs - (since.get(one.evidence) ?? nowMs) }))
    },
  }
}

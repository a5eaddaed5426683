/**
 * Tells idle replicas that there is work, after the commit, at most one notification per queue under way: enqueues
 * that come meanwhile share the next one. Nobody waits for it, and if it is lost the replicas' poll finds the run.
 */
import type { Store } from '@q/store'

export interface Wakes {
  send(queue: string): void
  /** Wakes replicas for a run that is due in `inMs` milliseconds. */
  sendDue(inMs: number): void
  /** Resolves when nothing is under way. */
  settled(): Promise<void>
}

export function createWakes(store: Store): Wakes {
  const underWay = new Map<string, Promise<void>>()
  const again = new Set<string>()

  async function notify(queue: string): Promise<void> {
    do {
      again.delete(queue)
      await store.wakeQueue(queue).catch(() => {})
    } while (again.has(queue))
    underWay.delete(queue)
  }

  /** When the earliest run without a wake is due, by `performance.now()`. */
  let dueMs = Number.POSITIVE_INFINITY
  let sendingDue: Promise<void> | undefined

  async function sendDueWakes(): Promise<void> {
    while (dueMs < Number.POSITIVE_INFINITY) {
      const inMs = Math.max(0, dueMs - performance.now())
      dueMs = Number.POSITIVE_INFINITY
      await store.wakeDue(inMs).catch(() => {})
    }
    sendingDue = undefined
  }

  return {
    sendDue(inMs) {
      dueMs = Math.min(dueMs, performance.now() + inMs)
      sendingDue ??= sendDueWakes()
    },
    send(queue) {
      if (underWay.has(queue)) again.add(queue)
      else underWay.set(queue, notify(queue))
    },
    async settled() {
      await Promise.all([...underWay.values(), sendingDue])
    },
  }
}

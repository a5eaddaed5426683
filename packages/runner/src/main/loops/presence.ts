/**
 * Sees in seconds that a replica died: its lock is gone and it has given no sign of life for longer than its own grace.
 * One replica watches, by a short lease, and acts exactly when a grace ends. Its deputy looks often enough to take over
 * within 0.75 s of its death; the others ask again when the lease of the deputy would end (store, liveness/watch.ts).
 *
 * Only a replica whose own session is good watches over those of others, and it holds its fire until its own presence
 * has been good for the whole grace that it is about to apply.
 */
import type { Gone, Store } from '@q/store'
import { createDatabaseClock } from '../database-clock.ts'
import { createAbsenceTimer } from '../absence-timer.ts'
import { after, type Next } from '../loop.ts'
import type { OwnPresence } from '../presence.ts'
import type { Trust } from '../trust.ts'

export interface PresenceDeps {
  readonly control: Pick<Store, 'watchPresence'>
  readonly replicaId: string
  /** The name of the duty. */
  readonly duty: string
  readonly presence: OwnPresence
  readonly trust: Trust
  readonly nowMs: () => number
  /** Our own lock is gone, without a lost session: a replica that looks gone itself recovers no other. */
  readonly onSelfGone: () => void
  /** Recovers the runs of replicas whose grace has passed. */
  readonly reap: (overdue: readonly Gone[]) => Promise<void>
}

/** Without a session of its own, a replica checks this often whether it has one. Trust expects a sign this often, too. */
export const presenceTickMs = 500
const lookEveryMs = { watcher: 1_000, deputy: 650 } as const
const lease = { watcherMs: 1_500, deputyMs: 2_200 } as const
const jitterMs = 100

export interface PresenceWatch {
  tick(): Promise<Next>
}

export function createPresenceWatch(deps: PresenceDeps): PresenceWatch {
  const { replicaId, duty, nowMs } = deps
  const clock = createDatabaseClock()
  const count = createAbsenceTimer()

  async function recover(gone: readonly Gone[]): Promise<Next> {
    if (gone.some((one) => one.replicaId === replicaId)) {
      deps.trust.beatFailed()
      deps.onSelfGone()
      return after(lookEveryMs.watcher)
    }
    const trustMs = deps.trust.goodForMs(nowMs())
    const overdue = gone.filter(({ goneForMs, graceMs }) => goneForMs >= graceMs && trustMs >= graceMs)
    if (overdue.length > 0) await deps.reap(overdue)
    const waiting = gone.map(({ goneForMs, graceMs }) => graceMs - goneForMs).filter((ms) => ms > 0)
    return after(Math.min(lookEveryMs.watcher, ...waiting))
  }

  /** Its session was lost, perhaps while the database did not respond: other replicas may have been unable to beat, too. */
  function withoutSession(): Next {
    deps.trust.beatFailed()
    return after(presenceTickMs)
  }

  async function watch(): Promise<Next> {
    const sentMs = nowMs()
    const { post, untilInMs, clockMs, gone } = await deps.control.watchPresence({ replicaId, duty, ...lease })
    const heardMs = nowMs()
    clock.heard({ clockMs, sentMs, heardMs })
    if (!deps.presence.isHeld()) return withoutSession()
    deps.trust.beatAccepted(heardMs)
    if (post === 'watcher') return recover(count.seen(gone, heardMs, clock.steadyForMs(heardMs)))
    return after(post === 'deputy' ? lookEveryMs.deputy : untilInMs + Math.random() * jitterMs)
  }

  return {
    async tick() {
      if (!deps.presence.isHeld()) return withoutSession()
      return watch().catch((error: unknown) => {
        deps.trust.beatFailed()
        throw error
      })
    },
  }
}

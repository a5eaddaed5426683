/**
 * Detects within seconds that a replica died: its lock is gone, and it has sent no sign of life for longer than its own
 * grace. One replica watches, by a short lease, and acts exactly when a grace ends. Its deputy looks often enough to take
 * over within 0.75 s of the watcher's death; the others ask again when the lease of the deputy would end (store,
 * liveness/watch.ts).
 *
 * Only a replica that has a working session watches. It recovers no runs until its own presence has been unbroken for the
 * whole grace that it is about to apply.
 */
import type { MissingReplica, Store } from '@q/store'
import { createDatabaseClock } from './database-clock.ts'
import { createAbsenceTimer } from './absence-timer.ts'
import { after, type Next } from '../loop.ts'
import type { OwnPresence } from './own-presence.ts'
import type { BeatStreak } from './beat-streak.ts'

export interface PresenceWatchDeps {
  readonly control: Pick<Store, 'watchPresence'>
  readonly replicaId: string
  /** The name of the duty. */
  readonly duty: string
  readonly presence: OwnPresence
  readonly streak: BeatStreak
  readonly nowMs: () => number
  /** Our own lock is gone, although the session is not lost. Such a replica recovers no other. */
  readonly onSelfGone: () => void
  /** Recovers the runs of replicas whose grace has passed. */
  readonly reap: (overdue: readonly MissingReplica[]) => Promise<void>
}

/** How often a replica without a session checks for one, and how often its presence streak expects a sign. */
export const presenceTickMs = 500
const lookEveryMs = { watcher: 1_000, deputy: 650 } as const
const lease = { watcherMs: 1_500, deputyMs: 2_200 } as const
const jitterMs = 100

export interface PresenceWatch {
  tick(): Promise<Next>
}

export function createPresenceWatch(deps: PresenceWatchDeps): PresenceWatch {
  const { replicaId, duty, nowMs } = deps
  const clock = createDatabaseClock()
  const count = createAbsenceTimer()

  async function recover(gone: readonly MissingReplica[]): Promise<Next> {
    if (gone.some((one) => one.replicaId === replicaId)) {
      deps.streak.beatFailed()
      deps.onSelfGone()
      return after(lookEveryMs.watcher)
    }
    const unbrokenMs = deps.streak.unbrokenForMs(nowMs())
    const overdue = gone.filter(({ goneForMs, graceMs }) => goneForMs >= graceMs && unbrokenMs >= graceMs)
    if (overdue.length > 0) await deps.reap(overdue)
    const waiting = gone.map(({ goneForMs, graceMs }) => graceMs - goneForMs).filter((ms) => ms > 0)
    return after(Math.min(lookEveryMs.watcher, ...waiting))
  }

  /**
   * The session was lost, perhaps because the database did not respond. Then other replicas could not send heartbeats
   * either.
   */
  function withoutSession(): Next {
    deps.streak.beatFailed()
    return after(presenceTickMs)
  }

  async function watch(): Promise<Next> {
    const sentMs = nowMs()
    const { post, untilInMs, clockMs, gone } = await deps.control.watchPresence({ replicaId, duty, ...lease })
    const receivedMs = nowMs()
    clock.record({ clockMs, sentMs, receivedMs })
    if (!deps.presence.isHeld()) return withoutSession()
    deps.streak.beatAccepted(receivedMs)
    if (post === 'watcher') return recover(count.seen(gone, receivedMs, clock.steadyForMs(receivedMs)))
    return after(post === 'deputy' ? lookEveryMs.deputy : untilInMs + Math.random() * jitterMs)
  }

  return {
    async tick() {
      if (!deps.presence.isHeld()) return withoutSession()
      return watch().catch((error: unknown) => {
        deps.streak.beatFailed()
        throw error
      })
    },
  }
}

/**
 * Sees in seconds that a replica died: its lock is gone and it has not beaten since, for longer than its own grace.
 * Looking is the duty of one, by a short lease; the others come back when it would run out. What was seen missing is
 * written down, so a new watcher does not begin again, and acts exactly when the grace of one is over.
 *
 * Only a replica whose own session is good watches over those of others, and it holds its fire until its own presence
 * has been good for the whole grace that it is about to apply.
 */
import type { Store } from '@q/store'
import { after, type Next } from '../loop.ts'
import type { OwnPresence } from '../presence.ts'
import type { Trust } from '../trust.ts'

export interface PresenceDeps {
  readonly control: Store
  readonly replicaId: string
  /** The name of the duty. */
  readonly duty: string
  readonly presence: OwnPresence
  readonly trust: Trust
  readonly nowMs: () => number
  /** Our own lock is gone, though we were not told: nobody is reaped by one who is gone himself. */
  readonly onSelfGone: () => void
  /** Those who are gone for longer than their grace are recovered; no grace beyond `trustMs` is applied. */
  readonly reap: (trustMs: number) => Promise<void>
}

export const presenceTickMs = 500
const dutyMs = 1_500
const lookEveryMs = 1_000
const jitterMs = 100

export interface PresenceWatch {
  tick(): Promise<Next>
}

export function createPresenceWatch(deps: PresenceDeps): PresenceWatch {
  let lookedMs = Number.NEGATIVE_INFINITY

  async function look(): Promise<number> {
    lookedMs = deps.nowMs()
    const gone = await deps.control.markPresence()
    if (gone.some(({ replicaId }) => replicaId === deps.replicaId)) {
      deps.trust.beatFailed()
      deps.onSelfGone()
      return lookEveryMs
    }
    const trustMs = deps.trust.goodForMs(deps.nowMs())
    if (gone.some(({ goneForMs, graceMs }) => goneForMs >= graceMs && trustMs >= graceMs)) await deps.reap(trustMs)
    const waiting = gone.map(({ goneForMs, graceMs }) => graceMs - goneForMs).filter((ms) => ms > 0)
    return Math.min(lookEveryMs, ...waiting)
  }

  let nextLookMs = 0
  async function watch(): Promise<Next> {
    const duty = await deps.control.takeDuty({ name: deps.duty, holder: deps.replicaId, forMs: dutyMs })
    deps.trust.beatAccepted(deps.nowMs())
    if (!duty.mine) return after(duty.untilInMs + Math.random() * jitterMs)
    if (deps.nowMs() - lookedMs >= nextLookMs - 1) nextLookMs = await look()
    return after(Math.max(1, Math.min(presenceTickMs, lookedMs + nextLookMs - deps.nowMs())))
  }

  return {
    async tick() {
      if (!deps.presence.isHeld()) {
        deps.trust.beatFailed()
        return after(presenceTickMs)
      }
      return watch().catch((error: unknown) => {
        deps.trust.beatFailed()
        throw error
      })
    },
  }
}

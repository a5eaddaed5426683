/**
 * Work that one replica does for all, from time to time: samples, old rows. By duty, so that it is done once per
 * interval in the whole fleet; doing it twice does no harm. A chore may be a list of jobs: each fails alone.
 *
 * A job does a bounded part. If there is more it goes on soon, and rests for longer than it worked: rows that come
 * faster than one part per interval must not pile up, and what is done for old ones must not crowd out new ones.
 */
import type { Store } from '@q/store'
import type { Observe } from '../events.ts'
import { after, type Next } from '../loop.ts'

export interface Chore {
  readonly name: string
  readonly everyMs: number
  /** Also when this replica starts, whoever has the duty. */
  readonly atBoot?: boolean
  /** True: there is more. */
  readonly jobs: Readonly<Record<string, () => Promise<unknown>>>
}

export interface ChoreDeps {
  readonly control: Store
  readonly replicaId: string
  readonly observe: Observe
  readonly nowMs: () => number
}

const jitterMs = 1_000
/** At most a fifth of the time. */
const rest = { factor: 4, msMin: 100 } as const

export function createChore(deps: ChoreDeps, chore: Chore): { tick(): Promise<Next> } {
  let booting = chore.atBoot === true
  return {
    async tick() {
      const { mine, untilInMs } = await deps.control.takeDuty({
        name: chore.name,
        holder: deps.replicaId,
        forMs: chore.everyMs * 0.9,
      })
      if (!mine && !booting) return after(untilInMs + Math.random() * jitterMs)
      booting = false
      const begunMs = deps.nowMs()
      let more = false
      for (const [job, work] of Object.entries(chore.jobs)) {
        const answer = await work().catch((error: unknown) => deps.observe({ type: 'job-failed', job, error }))
        more ||= answer === true
      }
      const restMs = Math.max(rest.msMin, rest.factor * (deps.nowMs() - begunMs))
      return after(more ? Math.min(restMs, chore.everyMs) : chore.everyMs)
    },
  }
}

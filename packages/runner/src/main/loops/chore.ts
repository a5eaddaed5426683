/**
 * Work that one replica does for all, from time to time: samples, old rows. By duty, so that it is done once per
 * interval in the whole fleet; doing it twice does no harm. A chore may be a list of jobs: each fails alone.
 */
import type { Store } from '@q/store'
import type { Observe } from '../events.ts'
import { after, type Next } from '../loop.ts'

export interface Chore {
  readonly name: string
  readonly everyMs: number
  /** Also when this replica starts, whoever has the duty. */
  readonly atBoot?: boolean
  readonly jobs: Readonly<Record<string, () => Promise<unknown>>>
}

export interface ChoreDeps {
  readonly control: Store
  readonly replicaId: string
  readonly observe: Observe
}

const jitterMs = 1_000

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
      for (const [job, work] of Object.entries(chore.jobs)) {
        await work().catch((error: unknown) => deps.observe({ type: 'job-failed', job, error }))
      }
      return after(chore.everyMs)
    },
  }
}

/**
 * Work that one replica does for all, from time to time: samples, old rows. By duty, so that it is done once per
 * interval in the whole fleet; doing it twice does no harm. A job may have several steps: each fails alone.
 *
 * A step does a bounded part. If there is more it goes on soon, and rests for longer than it worked: rows that come
 * faster than one part per interval must not pile up, and what is done for old ones must not crowd out new ones.
 */
import type { Store } from '@q/store'
import type { Observe } from '../events.ts'
import { after, type Next } from '../loop.ts'

export interface MaintenanceJob {
  readonly name: string
  readonly everyMs: number
  /** For how long a replica keeps the duty; nine tenths of the interval unless set. Longer: the other replicas ask more rarely. */
  readonly dutyMs?: number
  /** Also when this replica starts, whoever has the duty. */
  readonly atBoot?: boolean
  /** True: there is more. */
  readonly steps: Readonly<Record<string, () => Promise<unknown>>>
}

export interface JobLoopDeps {
  readonly control: Store
  readonly replicaId: string
  readonly observe: Observe
  readonly nowMs: () => number
}

const jitterMs = 1_000
/** At most a fifth of the time. */
const rest = { factor: 4, msMin: 100 } as const

export function createJobLoop(deps: JobLoopDeps, job: MaintenanceJob): { tick(): Promise<Next> } {
  let booting = job.atBoot === true
  return {
    async tick() {
      const { mine, untilInMs } = await deps.control.takeDuty({
        name: job.name,
        holder: deps.replicaId,
        forMs: job.dutyMs ?? job.everyMs * 0.9,
      })
      if (!mine && !booting) return after(untilInMs + Math.random() * jitterMs)
      booting = false
      const begunMs = deps.nowMs()
      let more = false
      for (const [step, work] of Object.entries(job.steps)) {
        const answer = await work().catch((error: unknown) => deps.observe({ type: 'job-failed', job: step, error }))
        more ||= answer === true
      }
      const restMs = Math.max(rest.msMin, rest.factor * (deps.nowMs() - begunMs))
      return after(more ? Math.min(restMs, job.everyMs) : job.everyMs)
    },
  }
}

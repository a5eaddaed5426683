/**
 * Runs a periodic job that one replica does for all, such as sampling or pruning. A duty lets it run once per interval in
 * the whole fleet; running it twice does no harm. A job may have several steps: each fails alone.
 *
 * A step does a bounded part. If there is more, the next part follows soon, after a pause longer than the work: rows that
 * arrive faster than one part per interval must not accumulate, and pruning must not slow down runs.
 */
import type { Store } from '@q/store'
import type { Observe } from '../events.ts'
import { after, type Next } from '../loop.ts'

export interface MaintenanceJob {
  readonly name: string
  readonly everyMs: number
  /** How long a replica keeps the duty; default: nine tenths of the interval. With a longer one the other replicas ask less often. */
  readonly dutyMs?: number
  /** Whether the job also runs when this replica starts, even if another replica has the duty. */
  readonly atBoot?: boolean
  /** Returns true if there is more to do. */
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

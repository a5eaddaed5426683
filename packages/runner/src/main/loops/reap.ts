/**
 * Recovers the runs of replicas that stopped beating, and single runs that nobody beats for: one replica per check, by
 * duty; two at once do no harm. A replica that has just started or reconnected cannot tell how long others have been
 * silent: it judges by what the server has accepted from all replicas (store, liveness/streak.ts), and leaves the duty to
 * replicas whose own heartbeats have been accepted for long enough.
 */
import type { Gone, StaleQuestion, Store } from '@q/store'
import type { Observe } from '../events.ts'
import { after, type Next } from '../loop.ts'

export interface ReapDeps {
  readonly control: Store
  readonly store: Store
  readonly replicaId: string
  readonly checkEveryMs: number
  /** What may be recovered without a person: the two switches. */
  readonly states: readonly ('CLAIMED' | 'RUNNING')[]
  /** How long our own beats have been good. */
  readonly trustMs: () => number
  /** Shared trust counts no further back than the last step of the database's clock that we saw. */
  readonly sharedMsMax: () => number
  /** What the database's clock can show at least and at most, if it has not stepped since our last heartbeat. */
  readonly clockMsMin: () => number
  readonly clockMsMax: () => number
  /** Below this we leave it to others. */
  readonly trustedMs: number
  readonly observe: Observe
  readonly onRecovered: () => void
}

const jitterMs = 100

/** A duty is shared by those who would do the same: who leaves stale runs alone must not keep it from others. */
export function dutyOf(name: 'reap' | 'presence', states: ReapDeps['states']): string {
  return states.length === 2 ? name : `${name} of ${states.join() || 'nothing'}`
}

export async function reapTick(deps: ReapDeps): Promise<Next> {
  const forMs = deps.checkEveryMs * 0.9
  if (deps.trustMs() >= deps.trustedMs) {
    const name = dutyOf('reap', deps.states)
    const duty = await deps.control.takeDuty({ name, holder: deps.replicaId, forMs })
    if (!duty.mine) return after(duty.untilInMs + Math.random() * jitterMs)
  }
  await recover(deps, {
    causes: ['never-alive', 'replica-beat', 'claimer-beat', 'runner-beat'],
    thresholdMsMax: deps.trustMs(),
    sharedMsMax: deps.sharedMsMax(),
    clockMsMin: deps.clockMsMin(),
    clockMsMax: deps.clockMsMax(),
  })
  return after(deps.checkEveryMs)
}

/** By the first layer: the watcher has waited out the grace of these replicas. */
export async function reapGone(deps: ReapDeps, gone: readonly Gone[]): Promise<void> {
  await recover(deps, { causes: ['presence'], gone: gone.map(({ evidence }) => evidence) })
}

async function recover(
  deps: ReapDeps,
  question: StaleQuestion & Required<Pick<StaleQuestion, 'causes'>>,
): Promise<void> {
  const { replicaId: by, states } = deps
  if (states.length === 0) return
  const { ids, stuck = [] } = await deps.store.reap({ by, states, ...question })
  for (const { id: runId, error } of stuck) deps.observe({ type: 'recovery-failed', runId, error })
  if (ids.length === 0) return
  deps.observe({ type: 'runs-recovered', runIds: ids, cause: question.causes.join(', ') })
  deps.onRecovered()
}

/**
 * Recovers the runs of replicas whose heartbeats stopped, and single runs without heartbeats. One replica checks at a
 * time, by duty; two at once do no harm. A replica that has just started or reconnected cannot tell how long others
 * have been silent: it relies on what the server has accepted from all replicas (store, liveness/streak.ts), and leaves
 * the duty to replicas whose own heartbeats have been accepted for long enough.
 */
import type { MissingReplica, RunId, StaleQuery, Store } from '@q/store'
import type { Observe } from '../events.ts'
import { after, type Next } from '../loop.ts'

export interface ReapDeps {
  readonly control: Store
  readonly store: Store
  readonly replicaId: string
  readonly checkEveryMs: number
  /** The states that this replica recovers, by its two settings. */
  readonly states: readonly ('CLAIMED' | 'RUNNING')[]
  /** How long our own heartbeats have been accepted without a gap. */
  readonly unbrokenMs: () => number
  /**
   * The streak of all replicas does not reach back beyond the last step of the database's clock that this replica saw.
   */
  readonly sharedMsMax: () => number
  /** The earliest and the latest time that the database's clock can show, if it has not stepped since our last heartbeat. */
  readonly clockMsMin: () => number
  readonly clockMsMax: () => number
  /** Below this, the duty goes to other replicas. */
  readonly unbrokenMsMin: number
  readonly observe: Observe
  readonly onRecovered: (ids: readonly RunId[]) => Promise<void>
}

const jitterMs = 100

/** Replicas that recover the same states share a duty, so a replica that does not recover cannot hold the duty of those that do. */
export function dutyOf(name: 'reap' | 'presence', states: ReapDeps['states']): string {
  return states.length === 2 ? name : `${name} of ${states.join() || 'nothing'}`
}

export async function reapTick(deps: ReapDeps): Promise<Next> {
  const forMs = deps.checkEveryMs * 0.9
  if (deps.unbrokenMs() >= deps.unbrokenMsMin) {
    const name = dutyOf('reap', deps.states)
    const duty = await deps.control.takeDuty({ name, holder: deps.replicaId, forMs })
    if (!duty.mine) return after(duty.untilInMs + Math.random() * jitterMs)
  }
  await recover(deps, {
    causes: ['never-alive', 'replica-beat', 'claimer-beat', 'runner-beat'],
    thresholdMsMax: deps.unbrokenMs(),
    sharedMsMax: deps.sharedMsMax(),
    clockMsMin: deps.clockMsMin(),
    clockMsMax: deps.clockMsMax(),
  })
  return after(deps.checkEveryMs)
}

/** Recovers the runs of replicas whose lock is gone and whose grace has passed. */
export async function reapGone(deps: ReapDeps, gone: readonly MissingReplica[]): Promise<void> {
  const goneMs = new Map(gone.map(({ replicaId, goneForMs }) => [replicaId, goneForMs]))
  await recover(deps, { causes: ['presence'], gone: gone.map(({ evidence }) => evidence) }, goneMs)
}

/** `goneMs`: how long the lock of each replica has been gone. */
async function recover(
  deps: ReapDeps,
  question: StaleQuery & Required<Pick<StaleQuery, 'causes'>>,
  goneMs: ReadonlyMap<string, number> = new Map(),
): Promise<void> {
  const { replicaId: by, states } = deps
  if (states.length === 0) return
  const { ids, holders = [], stuck = [] } = await deps.store.reap({ by, states, ...question })
  for (const { id: runId, error } of stuck) deps.observe({ type: 'recovery-failed', runId, error })
  for (const { replicaId: holder, name: holderName, hostname, cause, ids: runIds, ...dead } of holders) {
    const silentMs = goneMs.get(holder) ?? dead.silentMs
    deps.observe({ type: 'runs-recovered', holder, holderName, hostname, cause, silentMs, runIds })
  }
  if (ids.length > 0) await deps.onRecovered(ids)
}

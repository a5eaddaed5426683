/**
 * Sends the heartbeats of runs to the database: one statement for all runs whose heartbeat is due or whose progress has
 * changed. The response names leases that are lost or cancelled, and those runs are stopped. A short run is never due.
 *
 * A cancel request names the replica, not the run. After one arrives, a run is due if its last heartbeat, or the claim that
 * returned it, was sent before: the response may be older than the request.
 *
 * A run heartbeat is as old as the last evidence that the thread lives. For a run that has a `maxSilent`, that is being
 * stopped, or whose outcome is being written, the replica sends a heartbeat without age. If other replicas have seen only
 * old evidence of a run that is stopped or has ended, its heartbeat is due at once, before they consider it dead.
 */
import type { BeatSender, Lease, RunBeat, Store } from '@q/store'
import { after, type Next } from '../loop.ts'
import type { RunMonitor } from './run-monitor.ts'
import type { RunMonitors } from './run-monitors.ts'

export interface RunHeartbeatsDeps {
  readonly store: Store
  readonly runMonitors: RunMonitors
  readonly sender: BeatSender
  readonly beatEveryMs: number
  readonly nowMs: () => number
  /** When the claim or start of a run was sent. */
  readonly claimSentMs: (lease: Lease) => number | undefined
  /** Opens monitors of all runs whose claim or start was sent at `beforeMs` or earlier. Default: all have one. */
  readonly openMonitors?: (beforeMs: number) => void
}

/** Progress is sent at most this often. */
const progressEveryMs = 2_000

export interface RunHeartbeats {
  tick(): Promise<Next>
  /** A run of this replica must be cancelled, or a request may have been missed. */
  cancelRequested(): void
  /** Whether the run was claimed before the last cancel request arrived, so that the request may mean it. */
  mayBeCancelled(lease: Lease): boolean
  /** Time since the last accepted heartbeat of the run was sent, or at first its claim or start. */
  silentForMs(monitor: RunMonitor, nowMs: number): number
  /** The same for a run that has not needed a heartbeat yet. */
  sinceClaimSentMs(lease: Lease, nowMs: number): number
  /** This process was suspended, and requests may have been missed. `asleepMs`: the part that the monotonic clock did not count. */
  suspended(asleepMs: number): void
}

/** The newest evidence of a run that other replicas can have seen. */
interface Carried {
  readonly sentMs: number
  /** When the thread gave the evidence that the heartbeat reported. */
  readonly evidenceMs: number
  readonly progress: number | null
}

export function createRunHeartbeats(deps: RunHeartbeatsDeps): RunHeartbeats {
  const carried = new WeakMap<RunMonitor, Carried>()
  let cancelRequestedMs = Number.NEGATIVE_INFINITY
  let asleepMs = 0
  /** The monotonic time plus the time that the machine slept. */
  const awakeMs = (nowMs: number) => nowMs + asleepMs

  function lastOf(monitor: RunMonitor, nowMs: number): Carried {
    const claimSentMs = awakeMs(deps.claimSentMs(monitor.lease) ?? nowMs)
    const last = carried.get(monitor) ?? { sentMs: claimSentMs, evidenceMs: claimSentMs, progress: null }
    carried.set(monitor, last)
    return last
  }

  function dueBeat(monitor: RunMonitor, nowMs: number): RunBeat | undefined {
    const last = lastOf(monitor, nowMs)
    const sinceMs = awakeMs(nowMs) - last.sentMs
    const vouches = monitor.isBeingHandled() || monitor.facts.maxSilentMs !== null
    const wanted = last.sentMs <= cancelRequestedMs || (vouches && awakeMs(nowMs) - last.evidenceMs >= deps.beatEveryMs)
    if (!wanted && sinceMs < Math.min(deps.beatEveryMs, progressEveryMs)) return undefined
    const { progress, note } = monitor.progressUpdate()
    if (!wanted && sinceMs < deps.beatEveryMs && progress === last.progress) return undefined
    const ageMs = vouches ? 0 : monitor.look(nowMs).beatMs
    return { lease: monitor.lease, thread: monitor.slot, ageMs, progress, note }
  }

  function cancelRequested(): void {
    cancelRequestedMs = awakeMs(deps.nowMs())
  }

  return {
    cancelRequested,
    mayBeCancelled: (lease) => awakeMs(deps.claimSentMs(lease) ?? Number.POSITIVE_INFINITY) <= cancelRequestedMs,
    silentForMs: (monitor, nowMs) => awakeMs(nowMs) - lastOf(monitor, nowMs).sentMs,
    sinceClaimSentMs: (lease, nowMs) => awakeMs(nowMs) - awakeMs(deps.claimSentMs(lease) ?? nowMs),
    suspended(ms) {
      asleepMs += ms
      cancelRequested()
    },
    async tick() {
      const nowMs = deps.nowMs()
      const sentMs = awakeMs(nowMs)
      deps.openMonitors?.(Math.max(cancelRequestedMs - asleepMs, nowMs - deps.beatEveryMs))
      const due = deps.runMonitors.all().flatMap((monitor) => {
        const beat = dueBeat(monitor, nowMs)
        return beat === undefined ? [] : [{ monitor, beat }]
      })
      const answers = await deps.store.beatTaskRuns(
        deps.sender,
        due.map(({ beat }) => beat),
      )
      for (const [index, { monitor, beat }] of due.entries()) {
        if (answers[index] !== 'busy')
          carried.set(monitor, { sentMs, evidenceMs: sentMs - beat.ageMs, progress: beat.progress })
        if (answers[index] === 'lost') monitor.stop('lease lost')
        if (answers[index] === 'cancelled') monitor.stop('cancelled')
      }
      return after(Math.min(deps.beatEveryMs, progressEveryMs))
    },
  }
}

/**
 * The loops that show other replicas that the runs of this replica are alive, and that stop a run which is not alive or must
 * not continue: run heartbeats, heartbeats of prefetched runs, limits, self-fence.
 */
import type { BeatSender, Lease, Store } from '@q/store'
import type { RunnerConfig } from '../../settings/config.ts'
import type { PrefetchBuffer } from '../claim/prefetch-buffer.ts'
import type { Dispatch } from '../dispatch/dispatch.ts'
import type { Observe } from '../events.ts'
import { mayStartElsewhere } from '../execute/run-command.ts'
import type { StartLoop } from '../loop.ts'
import type { ConnectedSignals } from '../signals.ts'
import { beatPrefetchedTick } from './beat-prefetched.ts'
import type { BeatStreak } from './beat-streak.ts'
import type { HeldRuns } from './held-runs.ts'
import type { OwnPresence } from './own-presence.ts'
import { createRunHeartbeats, type RunHeartbeats } from './run-heartbeats.ts'
import { noEvidenceMsMax, runLimitsTick } from './run-limits.ts'
import type { RunMonitors } from './run-monitors.ts'
import { extendBatch, extendDeadline, selfFenceTick, type SelfFenceDeps } from './self-fence.ts'
import { presenceFenceMs, replicaFenceMs, runBeatIntervalMs, runFenceMs } from './self-fence-limits.ts'
import { createSuspensionDetector } from './suspension-detector.ts'

export interface RunLivenessDeps {
  readonly control: Store
  readonly sender: BeatSender
  readonly config: Pick<RunnerConfig, 'preset' | 'presenceGraceMs'>
  readonly runMonitors: RunMonitors
  readonly heldRuns: HeldRuns
  readonly prefetched: PrefetchBuffer
  readonly dispatch: Pick<Dispatch, 'openMonitors' | 'batches'>
  /** The accepted heartbeats of the replica. */
  readonly beats: BeatStreak
  readonly presence: OwnPresence
  readonly presenceStreak: BeatStreak
  /** Moves runs away from threads whose run takes longer than expected. */
  readonly relieveThreads: () => void
  /** The replica is cut off: no started run may begin. */
  readonly forgetStarted: () => void
  readonly signals: ConnectedSignals
  readonly startLoop: StartLoop
  readonly observe: Observe
  readonly nowMs: () => number
}

export interface RunLiveness {
  /** A run may have been cancelled: all runs are checked. */
  checkForCancels(): void
  stop(): Promise<unknown>
}

export function startRunLiveness(deps: RunLivenessDeps): RunLiveness {
  const { control, sender, runMonitors, heldRuns, prefetched, nowMs, startLoop } = deps
  const { thresholds } = deps.config.preset
  const runHeartbeats = createRunHeartbeats({
    store: control,
    runMonitors,
    sender,
    beatEveryMs: runBeatIntervalMs(thresholds),
    nowMs,
    claimSentMs: heldRuns.claimSentMs,
    openMonitors: deps.dispatch.openMonitors,
  })
  const beatRuns = startLoop('run-heartbeats', runHeartbeats.tick)
  const beatPrefetched = startLoop('beat-prefetched', () =>
    beatPrefetchedTick({ control, prefetched, heldRuns, sender, beatEveryMs: thresholds.claimerBeatMs }),
  )
  const isIdle = () => runMonitors.all().length === 0 && deps.dispatch.batches().length === 0
  const rests = { limits: false, fence: false }
  const runLimits = startLoop('run-limits', () =>
    runLimitsTick({
      runMonitors,
      nowMs,
      noEvidenceMsMax: noEvidenceMsMax(thresholds),
      onStopped: beatRuns.wake,
      relieveThreads: deps.relieveThreads,
      isIdle: () => (rests.limits = isIdle()),
    }),
  )
  const fence = fenceDeps(deps, {
    runHeartbeats,
    beatRuns: beatRuns.wake,
    isIdle: () => (rests.fence = isIdle()),
  })
  const selfFence = startLoop('self-fence', () => selfFenceTick(fence))
  /** Wakes the loops only while they rest: under load they keep their own pace. */
  function endRest(): void {
    if (rests.limits) runLimits.wake()
    if (rests.fence) selfFence.wake()
    rests.limits = rests.fence = false
  }

  function checkIfCancelled(lease: Lease | undefined): void {
    if (lease !== undefined && runHeartbeats.mayBeCancelled(lease)) beatRuns.wake()
  }

  deps.signals.connect({
    runBegan(lease) {
      endRest()
      for (const monitor of runMonitors.all()) if (monitor.lease.runId === lease.runId) extendDeadline(fence, monitor)
      checkIfCancelled(lease)
    },
    handingOver(slot, runs) {
      endRest()
      const batch = deps.dispatch.batches().find((one) => one.slot === slot)
      if (batch !== undefined) extendBatch(fence, batch)
      checkIfCancelled(runs[0])
    },
  })
  return {
    checkForCancels() {
      runHeartbeats.cancelRequested()
      beatRuns.wake()
    },
    stop: () => Promise.all([runLimits, selfFence, beatPrefetched, beatRuns].map((loop) => loop.stop())),
  }
}

interface FenceInputs extends Pick<SelfFenceDeps, 'isIdle'> {
  readonly runHeartbeats: RunHeartbeats
  readonly beatRuns: () => void
}

function fenceDeps(deps: RunLivenessDeps, { runHeartbeats, beatRuns, isIdle }: FenceInputs): SelfFenceDeps {
  const { config, heldRuns, signals } = deps
  const { thresholds } = config.preset
  return {
    suspensions: createSuspensionDetector(),
    beats: deps.beats,
    presenceStreak: deps.presenceStreak,
    presence: deps.presence,
    replicaFenceMs: replicaFenceMs(thresholds),
    presenceFenceMs: presenceFenceMs(config.presenceGraceMs),
    runBeats: runHeartbeats,
    runFenceMs: runFenceMs(thresholds),
    runMonitors: deps.runMonitors,
    mayStartElsewhere({ lease }) {
      const run = heldRuns.find(lease)
      return run !== undefined && mayStartElsewhere(run)
    },
    nowMs: deps.nowMs,
    wallMs: Date.now,
    observe: deps.observe,
    onSuspension() {
      beatRuns()
      signals.suspended()
    },
    batches: deps.dispatch.batches,
    withdrawUnbegun: deps.forgetStarted,
    isIdle,
  }
}

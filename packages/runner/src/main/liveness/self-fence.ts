/**
 * Self-fence. A replica that others may soon consider dead stops the runs that they may start: runs that are retried after a
 * crash, and runs with a concurrency key, whose successor would start. Other runs continue; their fence token decides whether
 * their outcome still counts.
 *
 * The fence applies when no heartbeat was accepted within the limit, when the session is lost and no heartbeat withdrew the
 * presence record in time, or when the clocks show that this process was suspended for that long. It applies to a single run
 * when no heartbeat of that run was accepted within the limit for runs, even if those of the replica are.
 *
 * It also writes its own time to shared memory, as a deadline of each run (`extendDeadline`), so that threads and children
 * stop such runs themselves while the main thread hangs.
 */
import type { Lease } from '@q/store'
import type { Observe } from '../events.ts'
import type { SuspensionDetector } from './suspension-detector.ts'
import { sharedClockMs } from '../../protocol/slot-layout.ts'
import { fenceTickMs, idleFenceTickMs } from './self-fence-limits.ts'
import { after, type Next } from '../loop.ts'
import type { OwnPresence } from './own-presence.ts'
import type { RunMonitor } from './run-monitor.ts'
import type { RunMonitors } from './run-monitors.ts'
import type { RunHeartbeats } from './run-heartbeats.ts'
import type { BeatStreak } from './beat-streak.ts'

export interface SelfFenceDeps {
  readonly suspensions: SuspensionDetector
  readonly beats: BeatStreak
  readonly presenceStreak: BeatStreak
  readonly presence: OwnPresence
  readonly replicaFenceMs: number
  readonly presenceFenceMs: number
  /** The accepted heartbeats of single runs. */
  readonly runBeats: Pick<RunHeartbeats, 'silentForMs' | 'sinceClaimSentMs' | 'suspended'>
  readonly runFenceMs: number
  readonly runMonitors: RunMonitors
  /** Whether another replica may start the run, or a run that waits for it, once it considers this replica dead. */
  readonly mayStartElsewhere: (monitor: RunMonitor) => boolean
  readonly nowMs: () => number
  readonly wallMs: () => number
  readonly observe: Observe
  /** The clocks jumped: send a heartbeat at once, and check the session. */
  readonly onSuspension: () => void
  /** The slots whose threads have runs of batches, with those runs. */
  readonly batches: () => readonly Batch[]
  /** The replica is cut off: runs of batches that have not begun must not begin. */
  readonly withdrawUnbegun: () => void
  /** Whether nothing is in execution. The checks are then less frequent until the next run is handed to a thread or child. */
  readonly isIdle: () => boolean
}

export interface Batch {
  readonly slot: number
  readonly runs: readonly BatchRun[]
}

interface BatchRun {
  readonly run: Lease
  readonly command: { readonly fenced: boolean }
  readonly hasEnded: boolean
  readonly watch: { readonly monitor: RunMonitor } | undefined
}

export function selfFenceTick(deps: SelfFenceDeps): Promise<Next> {
  const nowMs = deps.nowMs()
  const nextInMs = deps.isIdle() ? idleFenceTickMs : fenceTickMs
  const suspension = deps.suspensions.check(nowMs, deps.wallMs(), nextInMs)
  if (suspension !== undefined) {
    deps.beats.suspended(suspension.asleepMs)
    deps.presenceStreak.suspended(suspension.asleepMs)
    deps.runBeats.suspended(suspension.asleepMs)
    deps.observe({ type: 'process-suspended', ...suspension })
  }
  const silentMs = deps.beats.silentForMs(nowMs)
  const exposedMs = deps.presence.exposedForMs(nowMs) ?? 0
  const isCutOff = silentMs > deps.replicaFenceMs || exposedMs > deps.presenceFenceMs
  if (isCutOff) {
    deps.withdrawUnbegun()
    fence(deps, Math.max(silentMs, exposedMs), () => true)
  } else fenceUnheard(deps, nowMs)
  for (const monitor of deps.runMonitors.all()) if (!monitor.batched) extendDeadline(deps, monitor)
  for (const batch of deps.batches()) extendBatch(deps, batch)
  if (suspension !== undefined) deps.onSuspension()
  return Promise.resolve(after(nextInMs))
}

export function extendDeadline(deps: SelfFenceDeps, monitor: RunMonitor): void {
  monitor.setFenceDeadline(
    deps.mayStartElsewhere(monitor)
      ? sharedClockMs() + leftMs(deps, deps.runBeats.silentForMs(monitor, deps.nowMs()))
      : Number.POSITIVE_INFINITY,
  )
}

/** Sets one deadline for all runs of a slot: the earliest of the runs that other replicas may start and whose code may still act. */
export function extendBatch(deps: SelfFenceDeps, { slot, runs }: Batch): void {
  const fenced = runs.filter(({ command, hasEnded }) => command.fenced && !hasEnded)
  if (fenced.length === 0) return
  const nowMs = deps.nowMs()
  const silentMs = ({ run, watch }: BatchRun) =>
    watch === undefined ? deps.runBeats.sinceClaimSentMs(run, nowMs) : deps.runBeats.silentForMs(watch.monitor, nowMs)
  const longestMs = fenced.reduce((most, one) => Math.max(most, silentMs(one)), 0)
  deps.runMonitors.setFenceDeadline(slot, sharedClockMs() + leftMs(deps, longestMs))
}

/** How long a run may continue if no further heartbeat is accepted. */
function leftMs(deps: SelfFenceDeps, silentMs: number): number {
  const nowMs = deps.nowMs()
  return Math.min(
    deps.replicaFenceMs - deps.beats.silentForMs(nowMs),
    deps.presenceFenceMs - (deps.presence.exposedForMs(nowMs) ?? Number.NEGATIVE_INFINITY),
    deps.runFenceMs - silentMs,
  )
}

/** Stops runs whose own heartbeats are not accepted: other replicas consider such runs dead one by one. */
function fenceUnheard(deps: SelfFenceDeps, nowMs: number): void {
  const silentMs = (monitor: RunMonitor) => deps.runBeats.silentForMs(monitor, nowMs)
  const longestMs = deps.runMonitors.all().reduce((most, monitor) => Math.max(most, silentMs(monitor)), 0)
  if (longestMs > deps.runFenceMs) fence(deps, longestMs, (monitor) => silentMs(monitor) > deps.runFenceMs)
}

function fence(deps: SelfFenceDeps, silentMs: number, isUnheard: (monitor: RunMonitor) => boolean): void {
  const theirs = deps.runMonitors.all().filter((monitor) => isUnheard(monitor) && deps.mayStartElsewhere(monitor))
  for (const monitor of theirs) if (monitor.stopping()) monitor.cutShort()
  const stopped = theirs.filter((monitor) => monitor.stopReason === undefined)
  if (stopped.length === 0) return
  for (const monitor of stopped) monitor.stop('cut off from the database')
  deps.observe({
    type: 'fenced',
    runIds: stopped.map((monitor) => monitor.lease.runId),
    silentMs: Math.round(silentMs),
  })
}

/**
 * Self-fence. A replica that others may be about to take for dead stops those of its runs that they may start: runs
 * that are retried after a crash, and runs with a concurrency key, whose successor would start. The others go on, and
 * their fence decides whether what they come to still counts.
 *
 * It is due when no beat was accepted for the fence bound, when the session is lost and no beat could withdraw the
 * presence record in time, or when the clocks show that this process was stopped for that long. And for a single run,
 * when no beat for it was accepted for the bound of runs, however well the replica itself is heard.
 *
 * It also writes the time of the fence to shared memory, as a deadline of each run (`extendDeadline`), so that threads and
 * children stop such runs themselves while this thread hangs.
 */
import type { Lease } from '@q/store'
import type { Observe } from '../events.ts'
import type { ClockWatch } from '../clock-watch.ts'
import { sharedClockMs } from '../../pulse-layout.ts'
import { fenceTickMs } from '../fence-bound.ts'
import { after, type Next } from '../loop.ts'
import type { OwnPresence } from '../presence.ts'
import type { Pulse, PulseBoard } from '../pulse-board.ts'
import type { PulseCarrier } from './pulse.ts'
import type { Trust } from '../trust.ts'

export interface FenceDeps {
  readonly clock: ClockWatch
  readonly beats: Trust
  readonly presenceTrust: Trust
  readonly presence: OwnPresence
  readonly boundMs: number
  readonly presenceBoundMs: number
  /** Beats for single runs, as far as they were accepted. */
  readonly runBeats: Pick<PulseCarrier, 'silentForMs' | 'sinceAskedMs' | 'clockJumped'>
  readonly runBoundMs: number
  readonly pulseBoard: PulseBoard
  /** Somebody else may start it, or what waits for it, once we are taken for dead. */
  readonly mayStartElsewhere: (pulse: Pulse) => boolean
  readonly nowMs: () => number
  readonly wallMs: () => number
  readonly observe: Observe
  /** The clocks jumped: beat at once, and look whether the session is still there. */
  readonly onJump: () => void
  /** Slots whose thread has been handed runs in batches, and those runs. */
  readonly batches: () => readonly Batch[]
  /** It is cut off: runs of batches that have not begun must not begin. */
  readonly withdrawUnbegun: () => void
}

export interface Batch {
  readonly slot: number
  readonly runs: readonly BatchRun[]
}

interface BatchRun {
  readonly run: Lease
  readonly order: { readonly fenced: boolean }
  readonly hasEnded: boolean
  readonly monitor: { readonly pulse: Pulse } | undefined
}

export function fenceTick(deps: FenceDeps): Promise<Next> {
  const nowMs = deps.nowMs()
  const jump = deps.clock.look(nowMs, deps.wallMs())
  if (jump !== undefined) {
    deps.beats.clockJumped(jump.asleepMs)
    deps.presenceTrust.clockJumped(jump.asleepMs)
    deps.runBeats.clockJumped(jump.asleepMs)
    deps.observe({ type: 'clock-jumped', ...jump })
  }
  const silentMs = deps.beats.silentForMs(nowMs)
  const exposedMs = deps.presence.exposedForMs(nowMs) ?? 0
  const isCutOff = silentMs > deps.boundMs || exposedMs > deps.presenceBoundMs
  if (isCutOff) {
    deps.withdrawUnbegun()
    fence(deps, Math.max(silentMs, exposedMs), () => true)
  } else fenceUnheard(deps, nowMs)
  for (const pulse of deps.pulseBoard.all()) if (!pulse.batched) extendDeadline(deps, pulse)
  for (const batch of deps.batches()) extendBatch(deps, batch)
  if (jump !== undefined) deps.onJump()
  return Promise.resolve(after(fenceTickMs))
}

export function extendDeadline(deps: FenceDeps, pulse: Pulse): void {
  pulse.setFenceDeadline(
    deps.mayStartElsewhere(pulse)
      ? sharedClockMs() + leftMs(deps, deps.runBeats.silentForMs(pulse, deps.nowMs()))
      : Number.POSITIVE_INFINITY,
  )
}

/** One deadline for all runs of a slot: the earliest one of runs that other replicas may start and whose code may still act. */
export function extendBatch(deps: FenceDeps, { slot, runs }: Batch): void {
  const fenced = runs.filter(({ order, hasEnded }) => order.fenced && !hasEnded)
  if (fenced.length === 0) return
  const nowMs = deps.nowMs()
  const silentMs = ({ run, monitor }: BatchRun) =>
    monitor === undefined ? deps.runBeats.sinceAskedMs(run, nowMs) : deps.runBeats.silentForMs(monitor.pulse, nowMs)
  const longestMs = fenced.reduce((most, one) => Math.max(most, silentMs(one)), 0)
  deps.pulseBoard.setFenceDeadline(slot, sharedClockMs() + leftMs(deps, longestMs))
}

/** How long a run may continue if no further heartbeat is accepted. */
function leftMs(deps: FenceDeps, silentMs: number): number {
  const nowMs = deps.nowMs()
  return Math.min(
    deps.boundMs - deps.beats.silentForMs(nowMs),
    deps.presenceBoundMs - (deps.presence.exposedForMs(nowMs) ?? Number.NEGATIVE_INFINITY),
    deps.runBoundMs - silentMs,
  )
}

/** Those whose own beats do not arrive: others take them for dead one by one. */
function fenceUnheard(deps: FenceDeps, nowMs: number): void {
  const silentMs = (pulse: Pulse) => deps.runBeats.silentForMs(pulse, nowMs)
  const longestMs = deps.pulseBoard.all().reduce((most, pulse) => Math.max(most, silentMs(pulse)), 0)
  if (longestMs > deps.runBoundMs) fence(deps, longestMs, (pulse) => silentMs(pulse) > deps.runBoundMs)
}

function fence(deps: FenceDeps, silentMs: number, isUnheard: (pulse: Pulse) => boolean): void {
  const theirs = deps.pulseBoard.all().filter((pulse) => isUnheard(pulse) && deps.mayStartElsewhere(pulse))
  for (const pulse of theirs) if (pulse.stopping()) pulse.cutShort()
  const stopped = theirs.filter((pulse) => pulse.stopReason === undefined)
  if (stopped.length === 0) return
  for (const pulse of stopped) pulse.stop('cut off from the database')
  deps.observe({ type: 'fenced', runIds: stopped.map((pulse) => pulse.lease.runId), silentMs: Math.round(silentMs) })
}

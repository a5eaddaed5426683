/**
 * The evidence that a run is alive, as two ages. `beatMs` is the age of the last evidence that its thread lives: a sign
 * of the code, a tick of the thread's timer, or used CPU time. `silentMs` is the age of the last explicit sign of the
 * code. A loop detects evidence as a change since its last look. The age counts from that look, so no limit applies too
 * early.
 */
import { sharedClockMs, tagOf, word, type SlotMemory } from '../../protocol/slot-layout.ts'

export interface EvidenceAges {
  /** Time since a thread took the run; undefined: no thread has. */
  readonly ranMs: number | undefined
  readonly beatMs: number
  readonly silentMs: number
}

/** The CPU and memory that the thread or child of a run uses, measured from outside. */
export interface Usage {
  /** CPU time used so far. */
  readonly cpuMs: number
  readonly heapMb: number | null
  /** 0 to 1, since the last measurement. */
  readonly eventLoopUse: number | null
}

/** The shared memory of a run. */
export interface SlotOfRun {
  readonly slot: number
  /** The number of the run in its slot. */
  readonly seq: number
  readonly shared: SlotMemory
}

export interface RunEvidence {
  /** An executor has the run, and `measure` measures it. Before that, silence is not evidence of death. */
  measureBy(measure: () => Usage | undefined): void
  usage(): Usage | undefined
  /** Looks for evidence. */
  look(nowMs: number): EvidenceAges
  /** The raw counters since the monitor was opened. */
  counts(): { readonly ticks: number; readonly signs: number }
}

/** CPU time is measured only after this long without other evidence. */
const cpuAskedAfterMs = 1_000
const cpuEvidenceMs = 1
/** A longer gap between two looks means that this process was suspended; it says nothing about its threads. */
const lookGapMsMax = 2_000

/** `batched`: the run may wait behind other runs of its thread, and needs no evidence until it begins. */
export function createRunEvidence({ shared, seq }: SlotOfRun, openedMs: number, batched: boolean): RunEvidence {
  const { words } = shared
  const counts = () => ({ ticks: Atomics.load(words, word.ticks), signs: Atomics.load(words, word.signs) })
  const first = counts()
  let last = first
  let measure: (() => Usage | undefined) | undefined
  let beganMs: number | undefined
  let lookedMs = openedMs
  let beatSeenMs = openedMs
  let signSeenMs = openedMs
  let lastCpuMs: number | undefined

  /** Counts from the first reading: the thread has used CPU time before this run. */
  function usesCpu(): boolean {
    const cpuMs = measure?.()?.cpuMs
    const used = cpuMs !== undefined && cpuMs - (lastCpuMs ?? cpuMs) >= cpuEvidenceMs
    if (used || lastCpuMs === undefined) lastCpuMs = cpuMs
    return used
  }

  /** Excludes time in which this process could not look from the silence. */
  function skipMissedTime(nowMs: number): void {
    const missedMs = Math.max(0, nowMs - lookedMs - lookGapMsMax)
    lookedMs = nowMs
    beatSeenMs += missedMs
    signSeenMs += missedMs
  }

  return {
    measureBy: (by) => void (measure = by),
    usage: () => measure?.(),
    look(nowMs) {
      skipMissedTime(nowMs)
      const begun = hasBegun(shared, seq)
      // No executor has the run yet, or it waits behind another run of its batch.
      if (measure === undefined || (batched && !begun)) beatSeenMs = nowMs
      if (beganMs === undefined && begun) {
        beganMs = nowMs - sinceMs(shared.beganAt[0])
        beatSeenMs = nowMs
        signSeenMs = beganMs
      }
      const { ticks, signs } = counts()
      if (signs !== last.signs) signSeenMs = nowMs
      const shown = signs !== last.signs || ticks !== last.ticks
      if (shown || (nowMs - beatSeenMs >= cpuAskedAfterMs && usesCpu())) beatSeenMs = nowMs
      last = { ticks, signs }
      const ranMs = beganMs === undefined ? undefined : nowMs - beganMs
      return { ranMs, beatMs: nowMs - beatSeenMs, silentMs: ranMs === undefined ? 0 : nowMs - signSeenMs }
    },
    counts() {
      const { ticks, signs } = counts()
      return { ticks: ticks - first.ticks, signs: signs - first.signs }
    },
  }
}

/** Whether the run is the last one that has begun in its slot. */
export function hasBegun({ words }: SlotMemory, seq: number): boolean {
  return Atomics.load(words, word.begun) === tagOf(seq)
}

/** How long ago a time of the shared clock was; 0 if it is unknown. */
function sinceMs(atMs: number | undefined): number {
  return atMs === undefined || atMs === 0 ? 0 : Math.max(0, sharedClockMs() - atMs)
}

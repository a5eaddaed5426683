/**
 * Carries the threads' signs of life to the database: one statement for all runs that are due a beat or have news.
 * Its answer names leases that are lost or cancelled, and those runs are stopped. Short runs are never due.
 */
import type { BeatSender, RunBeat, Store } from '@q/store'
import { after, type Next } from '../loop.ts'
import type { Pulse, PulseBoard } from '../pulse-board.ts'

export interface PulseDeps {
  readonly store: Store
  readonly pulseBoard: PulseBoard
  readonly sender: BeatSender
  readonly beatEveryMs: number
  readonly nowMs: () => number
}

/** News (progress) is carried at most this often. */
const newsEveryMs = 2_000

export interface PulseCarrier {
  tick(): Promise<Next>
}

export function createPulseCarrier(deps: PulseDeps): PulseCarrier {
  /** When each run was beaten for last, and with what progress. */
  const carried = new WeakMap<Pulse, { atMs: number; progress: number | null }>()

  function dueBeat(pulse: Pulse, nowMs: number): RunBeat | undefined {
    const { silentMs, progress, note } = pulse.look(nowMs)
    const last = carried.get(pulse) ?? carried.set(pulse, { atMs: nowMs, progress: null }).get(pulse)
    if (last === undefined) return undefined
    const due =
      nowMs - last.atMs >= deps.beatEveryMs || (progress !== last.progress && nowMs - last.atMs >= newsEveryMs)
    return due ? { lease: pulse.lease, thread: pulse.slot, ageMs: silentMs, progress, note } : undefined
  }

  return {
    async tick() {
      const nowMs = deps.nowMs()
      const due = deps.pulseBoard.all().flatMap((pulse) => {
        const beat = dueBeat(pulse, nowMs)
        return beat === undefined ? [] : [{ pulse, beat }]
      })
      const answers = await deps.store.beatRunningTaskRuns(
        deps.sender,
        due.map(({ beat }) => beat),
      )
      for (const [index, { pulse, beat }] of due.entries()) {
        carried.set(pulse, { atMs: nowMs, progress: beat.progress })
        if (answers[index] === 'lost') pulse.stop('lease lost')
        if (answers[index] === 'cancelled') pulse.stop('cancelled')
      }
      return after(Math.min(deps.beatEveryMs, newsEveryMs))
    },
  }
}

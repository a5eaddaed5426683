/**
 * Carries the threads' signs of life to the database: one statement for all runs that are due a beat or have news.
 * Its answer names leases that are lost or cancelled, and those runs are stopped. Short runs are never due.
 *
 * For a run that is being stopped, or whose outcome is being written, the replica itself vouches: it is in good hands,
 * however silent its thread is.
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

const hurryMs = 2_000
const hurryEveryMs = 250

export interface PulseCarrier {
  tick(): Promise<Next>
  /** For a moment every round beats for every run: one is to be cancelled, and its claim may just be under way. */
  hurry(): void
}

export function createPulseCarrier(deps: PulseDeps): PulseCarrier {
  /** When each run was beaten for last, and with what progress. */
  const carried = new WeakMap<Pulse, { atMs: number; progress: number | null }>()
  let hurriedUntilMs = Number.NEGATIVE_INFINITY

  function dueBeat(pulse: Pulse, nowMs: number): RunBeat | undefined {
    const last = carried.get(pulse) ?? { atMs: nowMs, progress: null }
    carried.set(pulse, last)
    const sinceMs = nowMs - last.atMs
    const hurried = nowMs < hurriedUntilMs
    if (!hurried && sinceMs < Math.min(deps.beatEveryMs, newsEveryMs)) return undefined
    const { progress, note } = pulse.news()
    if (!hurried && sinceMs < deps.beatEveryMs && progress === last.progress) return undefined
    const ageMs = pulse.inGoodHands() ? 0 : pulse.look(nowMs).beatMs
    return { lease: pulse.lease, thread: pulse.slot, ageMs, progress, note }
  }

  return {
    hurry() {
      hurriedUntilMs = deps.nowMs() + hurryMs
    },
    async tick() {
      const nowMs = deps.nowMs()
      const due = deps.pulseBoard.all().flatMap((pulse) => {
        const beat = dueBeat(pulse, nowMs)
        return beat === undefined ? [] : [{ pulse, beat }]
      })
      const answers = await deps.store.beatTaskRuns(
        deps.sender,
        due.map(({ beat }) => beat),
      )
      for (const [index, { pulse, beat }] of due.entries()) {
        carried.set(pulse, { atMs: nowMs, progress: beat.progress })
        if (answers[index] === 'lost') pulse.stop('lease lost')
        if (answers[index] === 'cancelled') pulse.stop('cancelled')
      }
      return after(Math.min(deps.beatEveryMs, nowMs < hurriedUntilMs ? hurryEveryMs : newsEveryMs))
    },
  }
}

/**
 * Carries the threads' signs of life to the database: one statement for all runs that are due a beat or have news.
 * Its answer names leases that are lost or cancelled, and those runs are stopped. Short runs are never due.
 *
 * A wish to cancel says which replica it is for and not which run. So once one was heard, every run is due whose last
 * beat, or the claim that brought it, was sent before: its answer may have been given before the wish. That holds however
 * long the answer to a claim was under way.
 *
 * A run heartbeat is as old as the last evidence that the thread lives. For a run that has a `maxSilent`, that is being
 * stopped, or whose outcome is being written, the replica sends a heartbeat without age. If other replicas have seen only
 * old evidence of a run that is stopped or has ended, its heartbeat is due at once, before they consider it dead.
 */
import type { BeatSender, Lease, RunBeat, Store } from '@q/store'
import { after, type Next } from '../loop.ts'
import type { Pulse, PulseBoard } from '../pulse-board.ts'

export interface PulseDeps {
  readonly store: Store
  readonly pulseBoard: PulseBoard
  readonly sender: BeatSender
  readonly beatEveryMs: number
  readonly nowMs: () => number
  /** When the claim or start of a run was sent. */
  readonly askedMs: (lease: Lease) => number | undefined
  /** Opens monitors of all runs whose claim or start was sent at `beforeMs` or earlier. Default: all have one. */
  readonly openMonitors?: (beforeMs: number) => void
}

/** News (progress) is carried at most this often. */
const newsEveryMs = 2_000

export interface PulseCarrier {
  tick(): Promise<Next>
  /** Somebody wants a run of ours to stop, or may have said so while nobody listened. */
  wished(): void
  /** It was claimed before the last wish was heard, and may be the one. */
  mayBeWanted(lease: Lease): boolean
  /** Since the last accepted beat for it was sent; at first, since its claim or start was. */
  silentForMs(pulse: Pulse, nowMs: number): number
  /** The same, of a run that needed no beat yet. */
  sinceAskedMs(lease: Lease, nowMs: number): number
  /** This process was stopped, or asleep for so long that the monotonic clock does not know of: nobody listened. */
  clockJumped(asleepMs: number): void
}

/** What others can have seen of a run. */
interface Carried {
  readonly sentMs: number
  /** When the thread gave the evidence that the heartbeat reported. */
  readonly evidenceMs: number
  readonly progress: number | null
}

export function createPulseCarrier(deps: PulseDeps): PulseCarrier {
  const carried = new WeakMap<Pulse, Carried>()
  let wishedMs = Number.NEGATIVE_INFINITY
  let asleepMs = 0
  /** With the time that the clock slept through. */
  const awakeMs = (nowMs: number) => nowMs + asleepMs

  function lastOf(pulse: Pulse, nowMs: number): Carried {
    const askedMs = awakeMs(deps.askedMs(pulse.lease) ?? nowMs)
    const last = carried.get(pulse) ?? { sentMs: askedMs, evidenceMs: askedMs, progress: null }
    carried.set(pulse, last)
    return last
  }

  function dueBeat(pulse: Pulse, nowMs: number): RunBeat | undefined {
    const last = lastOf(pulse, nowMs)
    const sinceMs = awakeMs(nowMs) - last.sentMs
    const vouches = pulse.inGoodHands() || pulse.facts.maxSilentMs !== null
    const wanted = last.sentMs <= wishedMs || (vouches && awakeMs(nowMs) - last.evidenceMs >= deps.beatEveryMs)
    if (!wanted && sinceMs < Math.min(deps.beatEveryMs, newsEveryMs)) return undefined
    const { progress, note } = pulse.news()
    if (!wanted && sinceMs < deps.beatEveryMs && progress === last.progress) return undefined
    const ageMs = vouches ? 0 : pulse.look(nowMs).beatMs
    return { lease: pulse.lease, thread: pulse.slot, ageMs, progress, note }
  }

  function wished(): void {
    wishedMs = awakeMs(deps.nowMs())
  }

  return {
    wished,
    mayBeWanted: (lease) => awakeMs(deps.askedMs(lease) ?? Number.POSITIVE_INFINITY) <= wishedMs,
    silentForMs: (pulse, nowMs) => awakeMs(nowMs) - lastOf(pulse, nowMs).sentMs,
    sinceAskedMs: (lease, nowMs) => awakeMs(nowMs) - awakeMs(deps.askedMs(lease) ?? nowMs),
    clockJumped(ms) {
      asleepMs += ms
      wished()
    },
    async tick() {
      const nowMs = deps.nowMs()
      const sentMs = awakeMs(nowMs)
      deps.openMonitors?.(Math.max(wishedMs - asleepMs, nowMs - deps.beatEveryMs))
      const due = deps.pulseBoard.all().flatMap((pulse) => {
        const beat = dueBeat(pulse, nowMs)
        return beat === undefined ? [] : [{ pulse, beat }]
      })
      const answers = await deps.store.beatTaskRuns(
        deps.sender,
        due.map(({ beat }) => beat),
      )
      for (const [index, { pulse, beat }] of due.entries()) {
        if (answers[index] !== 'busy')
          carried.set(pulse, { sentMs, evidenceMs: sentMs - beat.ageMs, progress: beat.progress })
        if (answers[index] === 'lost') pulse.stop('lease lost')
        if (answers[index] === 'cancelled') pulse.stop('cancelled')
      }
      return after(Math.min(deps.beatEveryMs, newsEveryMs))
    },
  }
}

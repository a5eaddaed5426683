/** Sends heartbeats for prefetched runs, and forgets the runs whose lease is lost. */
import type { BeatSender, Store } from '@q/store'
import type { PrefetchBuffer } from '../claim/prefetch-buffer.ts'
import type { HeldRuns } from './held-runs.ts'
import { after, type Next } from '../loop.ts'

export interface BeatPrefetchedDeps {
  readonly control: Store
  readonly prefetched: PrefetchBuffer
  readonly heldRuns: HeldRuns
  readonly sender: BeatSender
  readonly beatEveryMs: number
}

export async function beatPrefetchedTick(deps: BeatPrefetchedDeps): Promise<Next> {
  const waiting = deps.prefetched.all()
  const beats = waiting.map(({ runId, fence }) => ({
    lease: { runId, fence },
    thread: null,
    ageMs: 0,
    progress: null,
    note: null,
  }))
  const answers = await deps.control.beatTaskRuns(deps.sender, beats)
  for (const [index, run] of waiting.entries()) {
    if (answers[index] === 'alive' || answers[index] === 'busy') continue
    // A run that has begun in the meantime stays held: its execution learns of the lost lease.
    if (deps.prefetched.remove(run)) deps.heldRuns.ended(run)
  }
  return after(deps.beatEveryMs)
}

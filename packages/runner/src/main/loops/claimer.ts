/** Beats for runs that were claimed ahead and wait for a slot. Whatever is not ours any more is forgotten. */
import type { BeatSender, Store } from '@q/store'
import type { Ahead } from '../ahead.ts'
import type { Holdings } from '../holdings.ts'
import { after, type Next } from '../loop.ts'

export interface ClaimerDeps {
  readonly control: Store
  readonly ahead: Ahead
  readonly holdings: Holdings
  readonly sender: BeatSender
  readonly beatEveryMs: number
}

export async function claimerTick(deps: ClaimerDeps): Promise<Next> {
  const waiting = deps.ahead.all()
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
    // One that began meanwhile is in execution, which will hear of it: it is ours until that has ended.
    if (deps.ahead.remove(run)) deps.holdings.ended(run)
  }
  return after(deps.beatEveryMs)
}

/** Predicts what a drain does to each run of a node, before and while it drains. Pure. */
import type { HeldRunView, OnDeadline } from '../../api/contract.ts'
import { duration } from '../../words/durations.ts'

interface DrainOutcome {
  readonly kind: 'stopping' | 'returned' | 'finishes' | 'likely' | 'released' | 'failed' | 'waits'
  readonly words: string
}

/** `deadlineMs`: from now; null: the node waits until its runs have finished. */
export function drainOutcome(run: HeldRunView, deadlineMs: number | null, onDeadline: OnDeadline): DrainOutcome {
  if (run.status === 'CLAIMED') return { kind: 'returned', words: 'not started: goes back to its queue at once' }
  if (run.cancelRequested) return { kind: 'stopping', words: 'already stopping, its cancel was requested' }
  if (deadlineMs === null) return { kind: 'waits', words: 'the node waits until it has finished' }
  if (run.expectedEndMs !== null && run.expectedEndMs <= deadlineMs)
    return { kind: 'finishes', words: 'finishes in time' }
  const isReleased = onDeadline === 'release' || (onDeadline === 'by-task' && run.onCrash === 'retry')
  if (run.expectedEndMs === null)
    return isReleased
      ? { kind: 'released', words: 'finishes, or is released at the deadline' }
      : { kind: 'likely', words: 'finishes, or ends FAILED DRAINED at the deadline' }
  return isReleased
    ? { kind: 'released', words: 'released, continues from its checkpoint' }
    : { kind: 'failed', words: 'ends FAILED DRAINED at the deadline' }
}

/** How long the run may still take, or what is known instead. */
export function timeLeft({ cancelRequested, expectedEndMs, forMs }: HeldRunView): string {
  if (cancelRequested) return 'stopping'
  return expectedEndMs === null ? `ran ${duration(forMs)}` : `~${duration(expectedEndMs)}`
}

/** The sum of the outcomes as one sentence. */
export function drainSummary(outcomes: readonly DrainOutcome[]): string {
  const of = (...kinds: DrainOutcome['kind'][]) => outcomes.filter(({ kind }) => kinds.includes(kind)).length
  const parts = [
    part(of('finishes'), 'finishes in time', 'finish in time'),
    part(of('waits'), 'is waited for', 'are waited for'),
    part(of('released'), 'is released unless it finishes first', 'are released unless they finish first'),
    part(of('failed', 'likely'), 'ends FAILED unless it finishes first', 'end FAILED unless they finish first'),
    part(of('stopping'), 'is stopping already', 'are stopping already'),
    part(of('returned'), 'goes back to its queue', 'go back to their queues'),
  ].filter((text) => text !== '')
  if (outcomes.length === 0) return 'It holds no run, so it leaves at once.'
  return `Of its ${outcomes.length === 1 ? 'one run' : `${outcomes.length} runs`} ${parts.join(', ')}.`
}

function part(count: number, one: string, many: string): string {
  return count === 0 ? '' : `${count} ${count === 1 ? one : many}`
}

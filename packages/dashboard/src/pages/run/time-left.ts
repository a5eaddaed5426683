/**
 * When a run may end, from the progress that its code reported last. Pure. The rule is that of the store for the runs of a node
 * (`expectedEnd`), so that the page of a run, its node and a drain agree.
 */
import type { RunDetail } from '../../api/run-contract.ts'

export interface Reported {
  readonly progress: number
  /** When the heartbeat with this progress was sent. */
  readonly at: number
}

/** The part of the way after which the speed is known well enough. */
const knownFrom = 0.1

type Facts = Pick<RunDetail, 'checkpointText' | 'attempts'> & { readonly run: Pick<RunDetail['run'], 'fence'> }

/** Whether the attempt continues from the checkpoint of an earlier one: then it began with progress that it did not make. */
export function isContinued({ checkpointText, attempts, run }: Facts): boolean {
  return checkpointText !== null && attempts.some(({ fence }) => fence < run.fence)
}

/** Undefined: unknown. Zero: the run exceeds its estimate, and may end at any time. */
export function timeLeftMs(startedAt: number, { progress, at }: Reported, now: number): number | undefined {
  if (progress < knownFrom) return undefined
  return Math.max(0, startedAt + (at - startedAt) / progress - now)
}

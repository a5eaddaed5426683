/** Builds the order that a thread or child process receives for a run. */
import type { ClaimedRun } from '@q/store'
import type { OptionData } from '@q/task'
import type { RunOrder } from '../protocol.ts'

export interface OrderDeps {
  readonly optionsOf: (task: string) => OptionData
  /** For tasks with `database: true`. */
  readonly databaseUrl: string | undefined
}

/** `seq`: the number of the run in its slot. */
export function orderOf({ optionsOf, databaseUrl }: OrderDeps, claimed: ClaimedRun, seq: number): RunOrder {
  const { runId, fence, epoch, attempt, task, payload, checkpoint } = claimed
  return {
    seq,
    fenced: mayStartElsewhere(claimed),
    runId,
    fence,
    epoch,
    attempt,
    task,
    payload,
    checkpoint,
    databaseUrl: optionsOf(task).database ? databaseUrl : undefined,
  }
}

/** Once other replicas consider this one dead: the run itself, or the next one of its concurrency key. */
export function mayStartElsewhere({ keyed, onCrash }: Pick<ClaimedRun, 'keyed' | 'onCrash'>): boolean {
  return keyed || onCrash === 'retry'
}

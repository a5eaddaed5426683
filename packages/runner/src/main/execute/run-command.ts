/** Builds the command that a thread or child process receives for a run. */
import type { ClaimedRun } from '@q/store'
import type { OptionData } from '@q/task'
import type { RunCommand } from '../../protocol/messages.ts'

export interface CommandDeps {
  readonly optionsOf: (task: string) => OptionData
  /** For tasks with `database: true`. */
  readonly databaseUrl: string | undefined
}

/** `seq`: the sequence number of the run in its slot. */
export function commandOf({ optionsOf, databaseUrl }: CommandDeps, claimed: ClaimedRun, seq: number): RunCommand {
  const { runId, fence, epoch, attempt, task, payload, checkpoint, trace } = claimed
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
    trace: trace ?? undefined,
  }
}

/** Whether another replica may start the run, or the next run of its concurrency key, once it considers this one dead. */
export function mayStartElsewhere({ keyed, onCrash }: Pick<ClaimedRun, 'keyed' | 'onCrash'>): boolean {
  return keyed || onCrash === 'retry'
}

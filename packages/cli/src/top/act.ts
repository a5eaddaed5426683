/** Executes an action that a person confirmed in `q top`, and returns a sentence with its result. */
import { asRunId } from '@q/store'
import { audited } from '../frame/audited.ts'
import type { CommandContext } from '../frame/command.ts'
import type { PendingAction } from './view.ts'

export async function doAct(context: CommandContext, act: PendingAction): Promise<string> {
  const answer = await audited(context, {
    what: act.what === 'pause' || act.what === 'resume' ? `${act.what}-queue` : act.what,
    subject: subjectOf(act),
    act: () => carryOut(context, act),
    answerOf: String,
  })
  return `${subjectOf(act)}: ${answer}`
}

function subjectOf({ what, id }: PendingAction): string {
  if (what === 'cancel' || what === 'retry') return `run ${id}`
  return what === 'pause' || what === 'resume' ? `queue ${id}` : `node ${id}`
}

async function carryOut({ store, by }: CommandContext, { what, id }: PendingAction): Promise<string> {
  const run = asRunId(id)
  switch (what) {
    case 'drain':
      return store.drainReplica(id, { by })
    case 'undrain':
      return store.undrainReplica(id)
    case 'pause':
      await store.pauseQueue(id, by)
      return 'paused'
    case 'resume':
      await store.resumeQueue(id)
      return 'resumed'
    case 'cancel':
      return run === undefined ? 'not-found' : ((await store.cancelTaskRuns([run]))[0] ?? 'not-found')
    case 'retry':
      return run === undefined ? 'not-found' : store.retryTaskRun(run)
  }
}

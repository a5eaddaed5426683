/**
 * Requests an operation on every run that matches a filter: shows a preview with three samples, asks for confirmation,
 * then shows progress until the operation has ended. Replicas execute it; if none is alive, this command does.
 */
import { exitCodes } from '@q/runner/report-error'
import type { RunFilter, Operation, OperationKind } from '@q/store'
import { operationText } from '../screens/operations.ts'
import { runsTable } from '../screens/runs.ts'
import { isLiving } from '../screens/nodes.ts'
import { count, plural } from '../words/counts.ts'
import { audited } from './audited.ts'
import type { Frame } from './command.ts'
import { confirmed } from './confirm.ts'
import { repeat } from './repeat.ts'

export interface BulkOptions {
  readonly yes?: true
  readonly dryRun?: true
  readonly detach?: true
}

/** Answers that count as a change. */
const goodAnswers = new Set(['retried', 'cancelled', 'requested', 'reviewed'])

const lookEveryMs = 500
const stepMs = 2_000
const stepRuns = 200
/** A replica takes an operation within its sweep; after this time the command executes it itself. */
const patienceMs = 15_000

export async function bulk(
  frame: Frame,
  kind: OperationKind,
  filter: RunFilter,
  options: BulkOptions,
): Promise<number> {
  const { store, terminal, answer } = frame
  const { match, samples } = await store.previewOperation(kind, filter)
  if (match.count === 0) {
    answer({ match, samples }, () => 'No run matches.')
    return exitCodes.ok
  }
  if (options.dryRun === true) {
    answer(
      { match, samples },
      (look) => `${plural(match, 'run')} would be read to ${kind}.\n${runsTable(look, samples)}`,
    )
    return exitCodes.ok
  }
  if (!frame.json) terminal.tell(runsTable(frame.look, samples))
  if (!(await confirmed(terminal, `${verbOf(kind)} ${plural(match, 'run')} like these?`, options))) {
    terminal.tell('Nothing was changed.')
    return exitCodes.runFailed
  }
  const operation = await audited(frame, {
    what: 'start-operation',
    subject: kind,
    detail: { filter, match },
    act: () => store.requestOperation({ kind, filter, by: frame.by }),
    answerOf: ({ id }) => `operation ${id}`,
  })
  if (options.detach === true) {
    answer(operation, () => `Operation ${operation.id} was requested. Follow: q operations ${operation.id}`)
    return exitCodes.ok
  }
  return reportEnd(frame, await followed(frame, operation))
}

/** Shows progress until the operation has ended; after Ctrl-C the replicas continue it. */
export async function followed(frame: Frame, operation: Operation): Promise<Operation> {
  const { store, terminal } = frame
  const isAlone = !(await store.listNodes()).some(isLiving)
  const begun = performance.now()
  let last = operation
  const end = await repeat(lookEveryMs, async () => {
    const isStuck = last.state === 'waiting' && performance.now() - begun > patienceMs
    if (isAlone || isStuck) await store.stepOperations({ holder: frame.by, forMs: stepMs, runsMax: stepRuns })
    last = (await store.getOperation(operation.id)) ?? last
    if (last.state === 'done' || last.state === 'stopped') return 'done'
    terminal.progress(
      `operation ${last.id} ${last.state}: ${count(last.looked)} checked, ${count(last.changed)} changed`,
    )
    return 'again'
  })
  terminal.progress('')
  if (end === 'interrupted') terminal.tell(`Operation ${last.id} continues. Stop it: q operations stop ${last.id}`)
  return last
}

function reportEnd({ answer }: Frame, operation: Operation): number {
  answer(operation, (look) => operationText(look, operation))
  if (operation.state !== 'done') return exitCodes.partly
  const refused = Object.entries(operation.answers).some(([name, runs]) => runs > 0 && !goodAnswers.has(name))
  return refused ? exitCodes.partly : exitCodes.ok
}

function verbOf(kind: OperationKind): string {
  return kind === 'retry' ? 'Retry' : kind === 'cancel' ? 'Cancel' : 'Mark as reviewed:'
}

/**
 * Requests an operation on every run that matches a filter: shows a preview with three samples, asks for confirmation,
 * then shows progress until the operation has ended. Replicas execute it; if none is alive, this command does.
 */
import { exitCodes } from '@q/runner/report-error'
import type { Operation, OperationKind, OperationPreview, RunFilter } from '@q/store'
import { operationText } from '../screens/operations.ts'
import { runsTable } from '../screens/runs.ts'
import { isLiving } from '../screens/nodes.ts'
import { wholeNumber } from '../typed/numbers.ts'
import { filterArguments, type FilterOptions } from '../typed/run-filter.ts'
import { unknownNames } from '../typed/unknown-names.ts'
import { moment } from '../words/ages.ts'
import { countText, plural } from '../words/counts.ts'
import { audited } from './audited.ts'
import type { CommandContext } from './command.ts'
import { confirmed } from './confirm.ts'
import { nothingChanged, type DryRunOption } from './each-run.ts'
import { patiently } from './patience.ts'
import { repeat } from './repeat.ts'

export interface BulkOptions extends DryRunOption, FilterOptions {
  readonly yes?: true
  readonly detach?: true
  readonly look?: string
}

export interface BulkRequest {
  readonly kind: OperationKind
  /** The name of the command with its parents: `review accept`. */
  readonly path: string
  readonly filter: RunFilter
}

/** Answers that count as a change. */
const goodAnswers = new Set(['retried', 'cancelled', 'requested', 'reviewed'])

const lookEveryMs = 500
const stepMs = 2_000
const stepRuns = 200
/** A replica takes an operation within its sweep; after this time the command executes it itself. */
const patienceMs = 15_000
const previewLook = 200_000

export async function bulk(context: CommandContext, request: BulkRequest, options: BulkOptions): Promise<number> {
  const { store, terminal, answer, look: fit } = context
  const { kind, path, filter } = request
  const look = options.look === undefined ? previewLook : wholeNumber('--look', options.look, 1, 1_000_000)
  const preview = await patiently(
    terminal,
    () => 'looking for runs that match',
    () => store.previewOperation(kind, filter, { look }),
  )
  const { match, samples } = preview
  if (options.dryRun === true || (match.count === 0 && preview.exhausted)) {
    const dryRun = options.dryRun === true
    answer({ ...(dryRun && { dryRun }), ...preview }, (table) =>
      [
        match.count === 0
          ? noneText(preview, look)
          : `${matchText(match)}; q ${path} would ${effects[kind](match.count === 1)}.`,
        ...(match.count === 0 ? [] : [runsTable(table, samples)]),
        ...(preview.exhausted ? [] : [goOnText(request, preview, options)]),
        nothingChanged,
      ].join('\n'),
    )
    if (!context.json && match.count === 0)
      for (const sentence of await unknownNames(store, options)) terminal.tell(sentence)
    return exitCodes.ok
  }
  if (!context.json && match.count > 0) terminal.tell(runsTable(fit, samples))
  if (!(await confirmed(terminal, questionOf(kind, preview, look), options))) {
    terminal.tell(nothingChanged)
    return exitCodes.runFailed
  }
  const operation = await audited(context, {
    what: 'start-operation',
    subject: kind,
    detail: { filter, match },
    act: () => store.requestOperation({ kind, filter, by: context.by }),
    answerOf: ({ id }) => `operation ${id}`,
  })
  if (options.detach === true) {
    answer(operation, () => `Operation ${operation.id} was requested. Follow: q operations ${operation.id} --follow`)
    return exitCodes.ok
  }
  return reportEnd(context, await followed(context, operation))
}

const effects: Readonly<Record<OperationKind, (isOne: boolean) => string>> = {
  retry: (isOne) => `start ${isOne ? 'it' : 'them'} again`,
  cancel: (isOne) => `cancel ${isOne ? 'it' : 'them'}`,
  review: (isOne) => `mark ${isOne ? 'it' : 'them'} as reviewed`,
}

function matchText(match: OperationPreview['match']): string {
  return `${plural(match, 'run')} ${match.count === 1 && !match.atLeast ? 'matches' : 'match'}`
}

function noneText({ exhausted, lookedBackTo }: OperationPreview, look: number): string {
  if (exhausted) return 'No run matches.'
  const since = lookedBackTo === null ? '' : `, enqueued since ${moment(lookedBackTo)}`
  return `No run matches among the newest ${countText(look)}${since}. Older runs were not read.`
}

/** The advice if the preview did not read all runs: list the older runs, or let the operation read them. */
function goOnText({ kind, path }: BulkRequest, { next }: OperationPreview, options: BulkOptions): string {
  const given = filterArguments(options)
  const states = kind === 'retry' && options.status === undefined ? ' --status failed' : ''
  const older = next === undefined ? 'List all of them' : 'List the older ones'
  const list =
    kind === 'review' ? 'q review' : `q runs${given}${states}${next === undefined ? '' : ` --before ${next}`}`
  return `${older}: ${list}\nChange all that match, the older ones too: q ${path}${given} --yes`
}

function questionOf(kind: OperationKind, preview: OperationPreview, look: number): string {
  if (preview.match.count > 0) return `${verbOf(kind)} ${plural(preview.match, 'run')} like these?`
  return `${noneText(preview, look)} ${verbOf(kind)} those of the older ones that match?`
}

/** Shows progress until the operation has ended; after Ctrl-C the replicas continue it. */
export async function followed(context: CommandContext, operation: Operation): Promise<Operation> {
  const { store, terminal } = context
  const isAlone = !(await store.listNodes()).some(isLiving)
  const begun = performance.now()
  let last = operation
  const end = await repeat(lookEveryMs, async () => {
    const isStuck = last.state === 'waiting' && performance.now() - begun > patienceMs
    if (isAlone || isStuck) {
      const step = () => store.stepOperations({ holder: context.by, forMs: stepMs, runsMax: stepRuns })
      await patiently(terminal, () => progressLine(last), step)
    }
    last = (await store.getOperation(operation.id)) ?? last
    if (last.state === 'done' || last.state === 'stopped') return 'done'
    terminal.progress(progressLine(last))
    return 'again'
  })
  terminal.progress('')
  if (end === 'interrupted') terminal.tell(interruptedText(last, isAlone))
  return last
}

function progressLine({ id, state, looked, changed }: Operation): string {
  return `operation ${id} ${state}: ${countText(looked)} checked, ${countText(changed)} changed`
}

/** Without a live replica nothing continues it until one starts. */
function interruptedText({ id }: Operation, isAlone: boolean): string {
  const future = isAlone ? 'continues when a node is alive' : 'continues'
  return `Operation ${id} ${future}. Follow: q operations ${id} --follow. Stop it: q operations stop ${id}`
}

function reportEnd({ answer }: CommandContext, operation: Operation): number {
  answer(operation, (look) => operationText(look, operation))
  if (operation.state !== 'done') return exitCodes.partly
  const refused = Object.entries(operation.answers).some(([name, runs]) => runs > 0 && !goodAnswers.has(name))
  return refused ? exitCodes.partly : exitCodes.ok
}

function verbOf(kind: OperationKind): string {
  return kind === 'retry' ? 'Retry' : kind === 'cancel' ? 'Cancel' : 'Mark as reviewed:'
}

/**
 * Changes runs given by id: prints one answer per run, and returns the exit code for all of them. A dry run says what
 * would happen, and changes nothing.
 */
import { exitCodes } from '@q/runner/report-error'
import type { RunId, Store } from '@q/store'
import { runNotFound } from '../typed/not-found.ts'
import { audited } from './audited.ts'
import type { CommandContext } from './command.ts'

/** The sentence for an answer. An answer that counts as success also has the sentence for a dry run. */
export type AnswerSentence =
  | readonly [sentence: string, isDone: true, would: string]
  | readonly [sentence: string, isDone: false]

export interface RunChange<Answer extends string> {
  readonly what: string
  act(context: CommandContext, ids: readonly RunId[]): Promise<readonly Answer[]>
  /** Returns the same answers, and changes nothing. */
  rehearse(store: Store, ids: readonly RunId[]): Promise<readonly Answer[]>
  readonly sentences: Readonly<Record<Answer, AnswerSentence>>
}

export interface DryRunOption {
  readonly dryRun?: true
}

export const nothingChanged = 'Nothing was changed.'

export async function changeEach<Answer extends string>(
  context: CommandContext,
  ids: readonly RunId[],
  change: RunChange<Answer>,
  { dryRun = false }: { readonly dryRun?: boolean } = {},
): Promise<number> {
  const answers = await (dryRun ? change.rehearse(context.store, ids) : changed(context, ids, change))
  const items = ids.map((id, index) => ({ id, answer: answers[index] as Answer }))
  const [only, ...others] = items
  if (only !== undefined && others.length === 0 && only.answer === 'not-found') throw runNotFound(only.id)
  const sentences = items.map(({ id, answer }) => `Run ${id} ${sentenceOf(change.sentences[answer], dryRun)}.`)
  context.answer(dryRun ? { dryRun, items } : { items }, () =>
    [...sentences, ...(dryRun ? [nothingChanged] : [])].join(dryRun && ids.length === 1 ? ' ' : '\n'),
  )
  const done = items.filter(({ answer }) => change.sentences[answer][1]).length
  if (done === items.length) return exitCodes.ok
  return done === 0 ? exitCodes.runFailed : exitCodes.partly
}

function changed<Answer extends string>(
  context: CommandContext,
  ids: readonly RunId[],
  change: RunChange<Answer>,
): Promise<readonly Answer[]> {
  return audited(context, {
    what: change.what,
    subject: ids.length === 1 ? `run ${ids[0]}` : `${ids.length} runs`,
    detail: { ids: ids.slice(0, 100) },
    act: () => change.act(context, ids),
    answerOf: (all) => [...new Set(all)].join(', '),
  })
}

function sentenceOf(answer: AnswerSentence, dryRun: boolean): string {
  const [sentence, isDone, would] = answer
  return dryRun && isDone ? would : sentence
}

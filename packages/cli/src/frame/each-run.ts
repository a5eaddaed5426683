/** Changes runs given by id: prints one answer per run, and returns the exit code for all of them. */
import { exitCodes } from '@q/runner/report-error'
import type { RunId } from '@q/store'
import { runNotFound } from '../typed/not-found.ts'
import { audited } from './audited.ts'
import type { Frame } from './command.ts'

export interface RunChange<Answer extends string> {
  readonly what: string
  act(ids: readonly RunId[]): Promise<readonly Answer[]>
  /** The sentence for each answer, and whether it counts as success. */
  readonly verdicts: Readonly<Record<Answer, readonly [sentence: string, isDone: boolean]>>
}

export async function changeEach<Answer extends string>(
  frame: Frame,
  ids: readonly RunId[],
  change: RunChange<Answer>,
): Promise<number> {
  const [only, ...others] = ids
  const answers = await audited(frame, {
    what: change.what,
    subject: ids.length === 1 ? `run ${only}` : `${ids.length} runs`,
    detail: { ids: ids.slice(0, 100) },
    act: () => change.act(ids),
    answerOf: (all) => [...new Set(all)].join(', '),
  })
  const items = ids.map((id, index) => ({ id, answer: answers[index] as Answer }))
  if (only !== undefined && others.length === 0 && items[0]?.answer === 'not-found') throw runNotFound(only)
  frame.answer({ items }, () => items.map(({ id, answer }) => `Run ${id} ${change.verdicts[answer][0]}.`).join('\n'))
  const done = items.filter(({ answer }) => change.verdicts[answer][1]).length
  if (done === items.length) return exitCodes.ok
  return done === 0 ? exitCodes.runFailed : exitCodes.partly
}

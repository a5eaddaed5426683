/**
 * Executes an action that changes the cluster. Its audit row is written before: the person, the action and its subject.
 * Its answer, or the code of its error, completes the row afterwards. So no action is without a row, and a row whose end
 * could not be written says only that the action was asked for.
 */
import { isExplained } from '@q/schema'
import { askedAnswer } from '@q/store'
import type { CommandContext } from './command.ts'
import { patiently } from './patience.ts'

export interface AuditedAction<T> {
  readonly what: string
  readonly subject: string
  readonly detail?: object
  readonly act: () => Promise<T>
  readonly answerOf: (result: T) => string
}

export async function audited<T>({ store, by, terminal }: CommandContext, action: AuditedAction<T>): Promise<T> {
  const { what, subject, detail = {} } = action
  const id = await store.recordAction({ by, via: 'cli', what, subject, detail, answer: askedAnswer })
  const end = (answer: string) => store.endAction(id, { subject, detail, answer })
  let result: T
  try {
    result = await patiently(terminal, () => `${what} ${subject}`, action.act)
  } catch (error) {
    // The caller reports the error; if the database is the problem, the row cannot be completed.
    await end(isExplained(error) ? error.code : 'error').catch(() => {})
    throw error
  }
  await end(action.answerOf(result)).catch((error: unknown) => {
    terminal.tell(`Done, but the audit says only that it was asked for: ${String(error)}`)
  })
  return result
}

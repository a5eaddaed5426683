/**
 * Executes an action that changes the cluster, and then writes its audit row: the person, the action, its subject and
 * the answer. A failed action leaves a row with its error code.
 */
import { isExplained } from '@q/schema'
import type { Frame } from './command.ts'

export interface AuditedAction<T> {
  readonly what: string
  readonly subject: string
  readonly detail?: object
  readonly act: () => Promise<T>
  readonly answerOf: (result: T) => string
}

export async function audited<T>(frame: Frame, action: AuditedAction<T>): Promise<T> {
  try {
    const result = await action.act()
    await record(frame, action, action.answerOf(result))
    return result
  } catch (error) {
    // The error is reported either way; if the database is the problem, there is no row to write.
    await record(frame, action, isExplained(error) ? error.code : 'error').catch(() => {})
    throw error
  }
}

async function record<T>(
  { store, by }: Frame,
  { what, subject, detail = {} }: AuditedAction<T>,
  answer: string,
): Promise<void> {
  await store.recordAction({ by, via: 'cli', what, subject, detail, answer })
}

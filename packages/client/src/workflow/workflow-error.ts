/** The error of an invalid workflow definition; nothing was written. */
import { ExplainedError } from '@q/schema'

export function invalidWorkflow(name: string, problems: readonly string[]): ExplainedError {
  return new ExplainedError({
    code: 'WORKFLOW_INVALID',
    what: `The workflow ${JSON.stringify(name)} cannot be started; nothing was written.`,
    why: `${problems.join('; ')}.`,
    fix: 'Correct its definition.',
  })
}

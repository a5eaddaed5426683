/** Asks for confirmation before an action that cannot be undone. Without a terminal, `--yes` is required. */
import { ExplainedError } from '@q/schema'
import type { Terminal } from './terminal.ts'

export async function confirmed(
  terminal: Terminal,
  question: string,
  options: { readonly yes?: true },
): Promise<boolean> {
  if (options.yes === true) return true
  if (!terminal.canAsk) {
    throw new ExplainedError({
      code: 'CONFIRMATION_MISSING',
      what: `${question} Nothing was changed.`,
      why: 'There is no terminal to answer the question.',
      fix: 'Run the command again with --yes.',
    })
  }
  const answer = await terminal.ask(`${question} [y/N] `)
  return /^y(es)?$/i.test(answer.trim())
}

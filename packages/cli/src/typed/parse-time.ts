/** Parses a time of the command line, by the clock of this machine. */
import { ExplainedError } from '@q/schema'
import { timeOf, waysToWriteTimes } from '@q/server/client'

export function parseTime(text: string, now: Date = new Date()): Date {
  const at = timeOf(text, now.getTime())
  if (at !== undefined) return at
  throw new ExplainedError({
    code: 'TIME_INVALID',
    what: `"${text}" is not a time.`,
    why: 'No known way to write a time fits.',
    fix: waysToWriteTimes,
  })
}

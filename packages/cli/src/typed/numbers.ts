/** Parses a whole number. */
import { ExplainedError } from '@q/schema'

export function wholeNumber(option: string, text: string, least: number, most: number): number {
  const value = Number(text.replaceAll(/[ _]/g, ''))
  if (/^[\d _]+$/.test(text) && value >= least && value <= most) return value
  throw new ExplainedError({
    code: 'NUMBER_INVALID',
    what: `${option} cannot be ${text}.`,
    why: `${option} takes a whole number from ${least} to ${most}.`,
    fix: `Write ${option} ${least}, for instance.`,
  })
}

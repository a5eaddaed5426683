/**
 * Turns logged values into text that PostgreSQL can store, of limited size. A log line is never rejected: it is cut,
 * repaired, or replaced by a note that it was left out.
 */
import { repairJson, storableText } from '@q/schema/json'

/** `linesMax` is per claim; further lines are not stored. */
export const logLimits = { linesMax: 10_000, lineBytesMax: 8_192, factsBytesMax: 8_192 } as const

const factLimits = { bytesMax: logLimits.factsBytesMax, depthMax: 64, bigintAsText: true }

const encoder = new TextEncoder()
const room = new Uint8Array(logLimits.lineBytesMax)

/** Cut between two characters. */
export function storableLine(line: string): string {
  const text = storableText(line.slice(0, logLimits.lineBytesMax + 1))
  const { read } = encoder.encodeInto(text, room)
  return read < text.length ? `${text.slice(0, read)}…` : text
}

/** Returns JSON text. */
export function storableFacts(facts: unknown): string {
  if (facts === undefined) return 'null'
  const repaired = repairJson(facts, factLimits)
  switch (repaired.kind) {
    case 'json':
      return repaired.text
    case 'too-large':
      return leftOut(`more than ${logLimits.factsBytesMax} bytes`)
    case 'not-json':
      return leftOut(
        `${repaired.problem.pointer === '' ? 'the whole' : repaired.problem.pointer} ${repaired.problem.detail}`,
      )
  }
}

function leftOut(why: string): string {
  return JSON.stringify({ leftOut: why })
}

/** Level as in pino; any other number becomes info. */
export function storableLevel(level: number): number {
  return Number.isInteger(level) && level >= 0 && level <= 32_767 ? level : 30
}

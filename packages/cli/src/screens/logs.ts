/** The log of a run, one line each: time, level, text and facts. Pure. */
import type { LoggedLine } from '@q/store'
import type { Look } from '../frame/terminal.ts'
import { precise } from '../words/ages.ts'
import { styled, type Style } from '../words/style.ts'

const levels = [
  ['trace', 10],
  ['debug', 20],
  ['info', 30],
  ['warn', 40],
  ['error', 50],
  ['fatal', 60],
] as const

export const levelNames: readonly string[] = levels.map(([name]) => name)

export function levelNumber(name: string): number {
  return levels.find(([known]) => known === name)?.[1] ?? 0
}

export function logLineTexts(look: Look, lines: readonly LoggedLine[]): string[] {
  return lines.map((line) => logLineText(look, line))
}

export function logLineText(look: Look, { at, level, line, facts }: LoggedLine): string {
  const name = levels.findLast(([, number]) => number <= level)?.[0] ?? 'trace'
  return `${styled(look, 'dim', precise(at))}  ${styled(look, styleOf(level), name.padEnd(5))}  ${line}${factsText(look, facts)}`
}

function styleOf(level: number): Style {
  if (level >= 50) return 'red'
  if (level >= 40) return 'yellow'
  return level >= 30 ? 'green' : 'gray'
}

function factsText(look: Look, facts: unknown): string {
  if (facts === null || typeof facts !== 'object' || Object.keys(facts).length === 0) return ''
  return `  ${styled(look, 'dim', JSON.stringify(facts))}`
}

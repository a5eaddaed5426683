/** Formats numbers for people. */
import type { Spread } from './statistics.ts'

/** Three significant digits, with no more decimals than they need. */
export function digits(value: number): string {
  if (!Number.isFinite(value)) return '–'
  const size = Math.abs(value)
  if (size >= 1_000) return Math.round(value).toLocaleString('en').replaceAll(',', ' ')
  if (size < 0.1 && size > 0) return value.toPrecision(2)
  return size >= 100 ? value.toFixed(0) : size >= 10 ? value.toFixed(1) : value.toFixed(2)
}

export function medianAndRange({ median, least, most, count }: Spread): string {
  if (count === 0) return '–'
  return count === 1 ? digits(median) : `${digits(median)} [${digits(least)}–${digits(most)}]`
}

export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

/**
 * Formats rows under headings, no wider than the terminal. If they do not fit, the widest shrinkable columns shrink
 * first; if that is not enough, columns are left out, those with the highest `drop` first, at last those at the right. Texts of users become one
 * printable line.
 */
import { stripVTControlCharacters } from 'node:util'
import type { Look } from '../frame/terminal.ts'
import { escape, safeLine } from './safe.ts'
import { cut, styled, widthOf } from './style.ts'

export interface Column<Row> {
  readonly heading: string
  readonly cell: (row: Row) => string
  readonly align?: 'right'
  /** The smallest width to which its texts may be truncated; without it they are never truncated. */
  readonly shrink?: number
  /** Columns with the highest number are left out first; without a number, only if nothing else helps. */
  readonly drop?: number
}

const gap = '  '

export function table<Row>(look: Look, columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const filled = columns.map((column) => ({ column, cells: rows.map((row) => safeLine(column.cell(row), look)) }))
  const shown = fitting(
    filled.map((each) => ({ ...each, width: naturalWidth(each.column.heading, each.cells) })),
    look.columns === 0 ? Number.POSITIVE_INFINITY : look.columns,
  )
  const line = (textOf: (column: Fitted<Row>) => string) =>
    shown
      .map((column, index) => padded(look, column, textOf(column), index === shown.length - 1))
      .join(gap)
      .trimEnd()
  const heading = styled(
    look,
    'dim',
    line(({ column }) => column.heading),
  )
  return [heading, ...rows.map((_, row) => line(({ cells }) => cells[row] ?? ''))].join('\n')
}

interface Fitted<Row> {
  readonly column: Column<Row>
  readonly cells: readonly string[]
  readonly width: number
}

function naturalWidth(heading: string, cells: readonly string[]): number {
  return cells.reduce((widest, cell) => Math.max(widest, widthOf(cell)), widthOf(heading))
}

const keptMin = 2

function fitting<Row>(columns: readonly Fitted<Row>[], room: number): Fitted<Row>[] {
  let shown = columns.filter(({ cells }) => cells.length === 0 || cells.some((cell) => cell !== ''))
  for (;;) {
    const fits = shrunk(shown, room)
    if (fits !== undefined) return fits
    const dropped = shown.reduce<Fitted<Row> | undefined>(
      (last, each) => ((each.column.drop ?? 0) > (last?.column.drop ?? 0) ? each : last),
      undefined,
    )
    // In a very narrow terminal the last columns go too; a line that wraps would be read as two rows.
    if (dropped === undefined && shown.length <= keptMin) return shown.map((each) => ({ ...each, width: least(each) }))
    shown = dropped === undefined ? shown.slice(0, -1) : shown.filter((each) => each !== dropped)
  }
}

/** Shrinks the widest shrinkable columns until the row fits; undefined if it cannot fit. */
function shrunk<Row>(columns: readonly Fitted<Row>[], room: number): Fitted<Row>[] | undefined {
  const widths = columns.map(({ width }) => width)
  let over = totalWidth(widths) - room
  while (over > 0) {
    let widest: number | undefined
    for (const [index, each] of columns.entries()) {
      if ((widths[index] ?? 0) <= least(each)) continue
      if (widest === undefined || (widths[index] ?? 0) > (widths[widest] ?? 0)) widest = index
    }
    if (widest === undefined) return undefined
    widths[widest] = (widths[widest] ?? 0) - 1
    over--
  }
  return columns.map((each, index) => ({ ...each, width: widths[index] ?? each.width }))
}

function least<Row>({ column, width }: Fitted<Row>): number {
  return Math.min(width, Math.max(column.shrink ?? width, widthOf(column.heading)))
}

function totalWidth(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, gap.length * Math.max(0, widths.length - 1))
}

function padded<Row>(look: Look, { column, width }: Fitted<Row>, text: string, isLast: boolean): string {
  const fits = widthOf(text) > width ? cutCell(look, text, width) : text
  const space = ' '.repeat(Math.max(0, width - widthOf(fits)))
  if (column.align === 'right') return space + fits
  return isLast ? fits : fits + space
}

const oneColour = new RegExp(`^(${escape}\\[\\d+m)([^${escape}]*)(${escape}\\[\\d+m)$`)

/** A cell in one colour keeps it. */
function cutCell(look: Look, text: string, width: number): string {
  const [, before = '', inner, after = ''] = oneColour.exec(text) ?? []
  return before + cut(inner ?? stripVTControlCharacters(text), width, look) + after
}

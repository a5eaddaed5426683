/** Rows under headings, in columns, cut to the width of the terminal. Colours have no width. */
import { stripVTControlCharacters, styleText } from 'node:util'

const widthOf = (text: string): number => stripVTControlCharacters(text).length

export function table(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  columnsMax: number = process.stdout.columns ?? 0,
): string {
  const widths = headings.map((heading, column) =>
    Math.max(widthOf(heading), ...rows.map((row) => widthOf(row[column] ?? ''))),
  )
  // Columns that do not fit are left out whole, from the right: put what matters first.
  const ends = widths.map((_, column) => widths.slice(0, column + 1).reduce((sum, width) => sum + width + 2, -2))
  const shown = ends.filter((end) => columnsMax === 0 || end <= columnsMax).length
  const line = (cells: readonly string[]) =>
    cells
      .slice(0, Math.max(1, shown))
      .map((cell, column) => cell + ' '.repeat(Math.max(0, (widths[column] ?? 0) - widthOf(cell))))
      .join('  ')
      .trimEnd()
  return [styleText('dim', line(headings)), ...rows.map(line)].join('\n')
}

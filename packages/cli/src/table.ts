/** Rows under headings, in columns, cut to the width of the terminal. */
import { styleText } from 'node:util'

export function table(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  columnsMax: number = process.stdout.columns ?? 0,
): string {
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...rows.map((row) => (row[column] ?? '').length)),
  )
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd()
  const fit = (text: string) =>
    columnsMax > 0 && text.length > columnsMax ? `${text.slice(0, columnsMax - 1)}…` : text
  return [styleText('dim', fit(line(headings))), ...rows.map((row) => fit(line(row)))].join('\n')
}

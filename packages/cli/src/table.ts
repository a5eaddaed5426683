/** Rows under headings, in columns, cut to the width of the terminal. Texts of users become one printable line. */
import { styleText } from 'node:util'
import { oneLine } from '@q/schema'

type Style = 'green' | 'yellow' | 'red'

export type Cell = string | { readonly text: string; readonly style: Style }

export function table(
  headings: readonly string[],
  rows: readonly (readonly Cell[])[],
  columnsMax: number = process.stdout.columns ?? 0,
): string {
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...rows.map((row) => textOf(row[column] ?? '').length)),
  )
  // Columns that do not fit are left out whole, from the right: put what matters first.
  const ends = widths.map((_, column) => widths.slice(0, column + 1).reduce((sum, width) => sum + width + 2, -2))
  const shown = ends.filter((end) => columnsMax === 0 || end <= columnsMax).length
  const line = (cells: readonly Cell[]) =>
    cells
      .slice(0, Math.max(1, shown))
      .map((cell, column) => styled(cell) + ' '.repeat(Math.max(0, (widths[column] ?? 0) - textOf(cell).length)))
      .join('  ')
      .trimEnd()
  return [styleText('dim', line(headings)), ...rows.map(line)].join('\n')
}

function textOf(cell: Cell): string {
  return oneLine(typeof cell === 'string' ? cell : cell.text)
}

function styled(cell: Cell): string {
  return typeof cell === 'string' ? textOf(cell) : styleText(cell.style, textOf(cell))
}

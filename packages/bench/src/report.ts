/** Figures as a table for people. */
import { styleText } from 'node:util'
import type { Figure } from './bench-store.ts'

export function report(figures: readonly Figure[]): string {
  const rows = figures.map(({ scenario, cpuUs, walBytes, aim }) => [
    scenario,
    cpuUs[0].toFixed(1),
    `${cpuUs[1].toFixed(1)}–${cpuUs[2].toFixed(1)}`,
    ...compared(cpuUs[0], aim?.cpuUs),
    walBytes[0].toFixed(0),
    ...compared(walBytes[0], aim?.walBytes),
  ])
  const headings = ['per run', 'CPU µs', 'range', 'aim', '', 'WAL B', 'aim', '']
  const widths = headings.map((heading, column) => Math.max(...[headings, ...rows].map((row) => row[column]!.length)))
  const line = (cells: readonly string[]) =>
    cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!))).join('  ')
  return [styleText('dim', line(headings)), ...rows.map(line)].join('\n')
}

function compared(figure: number, aim: number | undefined): [string, string] {
  return aim === undefined ? ['', ''] : [`≤ ${aim}`, figure <= aim ? 'met' : 'missed']
}

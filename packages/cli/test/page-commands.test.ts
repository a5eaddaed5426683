/** The page shows a command beside every button: each exists, with every option it has. */
import { glob, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { createProgram } from '../src/program.ts'

const page = fileURLToPath(new URL('../../dashboard/src/', import.meta.url))
const sources = await Promise.all(
  (await Array.fromAsync(glob('**/*.{ts,tsx}', { cwd: page }))).map((file) => readFile(page + file, 'utf8')),
)
const lines = sources.flatMap((text) => [...text.matchAll(/[`"']q ([a-z][^`"'\n]*)/g)].map(([, line = '']) => line))
const program = createProgram({} as never)

/** The command that the words name, and the option names after it. */
function find(line: string): { readonly command: Command; readonly options: readonly string[] } {
  let command: Command = program
  for (const word of line.split(/[ $]/)) {
    const next = command.commands.find((one) => one.name() === word)
    if (next === undefined) break
    command = next
  }
  return { command, options: line.match(/--[a-z-]+/g) ?? [] }
}

test('the page shows commands', () => {
  expect(lines.length).toBeGreaterThan(20)
})

test.each([...new Set(lines)].toSorted())('q %s', (line) => {
  const { command, options } = find(line)
  expect(command).not.toBe(program)
  const known = command.options.map(({ long }) => long)
  expect(options.filter((option) => !known.includes(option))).toEqual([])
})

/** Every help text, by the table of commands: a person who has never used a command learns it from its examples. */
import { readFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { createProgram } from '../src/program.ts'
import { allPaths } from './commands-all.ts'
import { q } from './terminal.ts'

test.each(allPaths())('q %s --help has two examples that the command line accepts', async (path) => {
  const { code, stdout } = await q([...path.split(' '), '--help'], {})
  expect(code).toBe(0)
  const examples = stdout
    .split('\n')
    .map((line) => /^ {2}(.*?)\s{2,}\S/.exec(line)?.[1] ?? '')
    .filter((line) => /(^|[\s(|])q /.test(line) && !line.startsWith('-'))
  expect(examples.length).toBeGreaterThanOrEqual(2)
  for (const example of examples) expect([example, unknownOptions(example)]).toEqual([example, []])
})

test('every command in docs/operations.md exists, with its options', async () => {
  const document = await readFile(new URL('../../../docs/operations.md', import.meta.url), 'utf8')
  const lines = [...document.matchAll(/`(q [a-z][^`]*)`/g)].map(([, line = '']) => line)
  expect(lines.length).toBeGreaterThan(30)
  const paths = new Set(allPaths().map((path) => path.split(' ')[0]))
  for (const line of lines) {
    expect([line, paths.has(line.split(' ')[1] ?? '')]).toEqual([line, true])
    expect([line, unknownOptions(line)]).toEqual([line, []])
  }
})

test('an unknown command is answered with the nearest one', async () => {
  expect(await q(['staus'], {})).toMatchObject({ code: 2, stderr: expect.stringContaining('Did you mean status?') })
})

/** Options of the q command in a command line that the command does not have. */
function unknownOptions(line: string): string[] {
  const words = /(?:^|[\s(|])q (.*)$/.exec(line)?.[1]?.split(/[|)>]/)[0]?.trim().split(/\s+/) ?? []
  let command: Command = createProgram({} as never)
  for (const word of words) command = command.commands.find((one) => one.name() === word) ?? command
  const known = command.options.flatMap(({ long, short }) => [long, short])
  return words.filter((word) => /^--?[a-z]/.test(word) && !known.includes(word))
}

/** Every help text, by the table of commands: a person who has never used a command learns it from its examples. */
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { allPaths } from './commands-all.ts'
import { problemsOf } from './parse-line.ts'
import { q } from './terminal.ts'

test.each(allPaths())('q %s --help has two examples that the command line accepts', async (path) => {
  const { code, stdout } = await q([...path.split(' '), '--help'], {})
  expect(code).toBe(0)
  const examples = stdout
    .split('\n')
    .map((line) => /^ {2}(.*?)\s{2,}\S/.exec(line)?.[1] ?? '')
    .filter((line) => /(^|[\s(|])q /.test(line) && !line.startsWith('-'))
  expect(examples.length).toBeGreaterThanOrEqual(2)
  expect(await problemsOf(examples)).toEqual([])
})

test('every command in docs/operations.md exists, with its options', async () => {
  const document = await readFile(new URL('../../../docs/operations.md', import.meta.url), 'utf8')
  const lines = [...document.matchAll(/`(q [a-z][^`]*)`/g)].map(([, line = '']) => line)
  expect(lines.length).toBeGreaterThan(30)
  // A document may name a command without what it needs.
  expect((await problemsOf(lines)).filter((line) => !/missing|not specified/.test(line))).toEqual([])
})

test('an unknown command is answered with the nearest one', async () => {
  expect(await q(['staus'], {})).toMatchObject({ code: 2, stderr: expect.stringContaining('Did you mean status?') })
})

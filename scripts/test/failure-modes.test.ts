/** Each row of docs/failure-modes.md names the test or the command that shows it: [file](path "title") or `pnpm command`. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { workspace } from '../workspace.ts'
import { titlesOf } from './titles-of.ts'

const columns = '| event | noticed by | after | what q does | shown by |'
const document = await readFile(join(workspace, 'docs/failure-modes.md'), 'utf8')
const { scripts } = JSON.parse(await readFile(join(workspace, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>
}
const rows = document.split(columns).slice(1).flatMap(rowsOf)

function rowsOf(table: string): { event: string; shownBy: string }[] {
  const [lines = ''] = table.trimStart().split('\n\n')
  return lines
    .split('\n')
    .slice(1)
    .map((line) => line.split(' | '))
    .map((cells) => ({ event: cells[0]!.replace('| ', ''), shownBy: cells.slice(4).join(' | ') }))
}

test('every table is read', () => {
  expect(rows.length).toBeGreaterThan(55)
})

test.each(rows)('shown by a test or command that exists: $event', async ({ shownBy }) => {
  const tests = [...shownBy.matchAll(/\[[^\]]+\]\(\.\.\/([^ )]+) "([^"]+)"\)/g)]
  const commands = [...shownBy.matchAll(/`pnpm ([\w:]+)`/g)]
  expect(tests.length + commands.length).toBeGreaterThan(0)
  for (const [, path = '', title = ''] of tests) expect(titlesOf(await source(path))).toContain(title)
  for (const [, name = ''] of commands) expect(scripts).toHaveProperty([name])
})

test('titles are found in every kind of quotes and after test.each', () => {
  const code = "test('a run\\'s end', x)\ntest.each([1])(\n  `b %s`,\n)\ntest(\"c\", x)"
  expect(titlesOf(code)).toEqual(["a run's end", 'b %s', 'c'])
})

const source = (path: string) => readFile(join(workspace, path), 'utf8')

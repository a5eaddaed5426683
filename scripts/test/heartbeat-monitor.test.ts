/** Each requirement in docs/reference/heartbeat-monitor.md names a test that exists, or a command. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { workspace } from '../workspace.ts'
import { titlesOf } from './titles-of.ts'

const document = await readFile(join(workspace, 'docs/reference/heartbeat-monitor.md'), 'utf8')
const [, table = ''] = document.split('| requirement | shown by |\n|---|---|\n')
const rows = (table.split('\n\n')[0] ?? '').split('\n').map((line) => {
  const [, requirement = '', shownBy = ''] = line
    .split(' | ')
    .flatMap((cell, place) => (place === 0 ? ['', cell] : cell))
  return { requirement: requirement.replace('| ', ''), shownBy }
})

test('every requirement is read', () => {
  expect(rows.length).toBeGreaterThan(25)
})

const links = [...document.matchAll(/\[[^\]]+\]\(\.\.\/\.\.\/([^ )]+) "((?:[^"\\]|\\.)+)"\)/g)]

test.each(rows)('shown by a test or a measurement: $requirement', ({ shownBy }) => {
  expect(shownBy).toMatch(/\(\.\.\/\.\.\/packages\/\S+ "|`pnpm bench`/)
})

test.each(links.map(([, path = '', title = '']) => ({ path, title: title.replaceAll('\\"', '"') })))(
  '$path has the test "$title"',
  async ({ path, title }) => {
    expect(titlesOf(await readFile(join(workspace, path), 'utf8'))).toContain(title)
  },
)

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { differences, grownWords } from '../words/allow-list.ts'
import { countWords, forbiddenWords } from '../words/count-words.ts'
import { readCounts } from '../words/read-counts.ts'

const root = await mkdtemp(join(tmpdir(), 'q words '))
afterAll(() => rm(root, { recursive: true }))

async function plant(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true })
  await writeFile(join(root, path), text)
}

test('every forbidden word is counted, in any case', () => {
  for (const word of forbiddenWords) expect(countWords(`A ${word}, ${word.toUpperCase()}.`)).toEqual({ [word]: 2 })
})

test('a phrase is counted with a hyphen, and when a comment or a document breaks it over two lines', () => {
  expect(countWords('// kept for\n// ever\n/** not any\n * more */\nby\nhand, by-hand')).toEqual({
    'any more': 1,
    'for ever': 1,
    'by hand': 2,
  })
})

test('a word that only contains a forbidden one is not counted', () => {
  expect(countWords('untold wishes, by handling, forever, for every')).toEqual({})
})

test('a planted word is found in sources and documents, and not in released SQL', async () => {
  await plant('packages/store/src/a.ts', '/** Nobody reads this. */')
  await plant('docs/how-to/b.md', 'The caller is told.')
  await plant('db/roles.sql', '-- by hand')
  await plant('db/migrations/0001-a.sql', '-- nobody')
  await plant('packages/store/node_modules/c/c.ts', '// nobody')
  expect(await readCounts(root)).toEqual({
    'db/roles.sql': { 'by hand': 1 },
    'docs/how-to/b.md': { told: 1 },
    'packages/store/src/a.ts': { nobody: 1 },
  })
})

test('a count above the recorded one fails, and so does a count below it', () => {
  expect(differences({ a: { told: 2 } }, { a: { told: 2 } })).toEqual([])
  expect(differences({ a: { told: 3 } }, { a: { told: 2 } })).toHaveLength(1)
  expect(differences({ a: { told: 1 } }, { a: { told: 2 } })).toHaveLength(1)
  expect(differences({}, { a: { told: 2 } })).toHaveLength(1)
})

test('the list can be lowered or follow a moved file, and cannot grow', () => {
  expect(grownWords({ b: { told: 2 } }, { a: { told: 2 } })).toEqual([])
  expect(grownWords({ a: { told: 1 } }, { a: { told: 2 } })).toEqual([])
  expect(grownWords({ a: { told: 2, wish: 1 } }, { a: { told: 2 } })).toEqual(['wish'])
})

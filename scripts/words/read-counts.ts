/** Counts the forbidden words of every source file and document of a workspace. */
import { glob, readFile } from 'node:fs/promises'
import { basename, join, matchesGlob } from 'node:path'
import type { CountsByFile } from './allow-list.ts'
import { countWords, type WordCounts } from './count-words.ts'

const places = [
  '*.md',
  'docs/**/*.md',
  'db/*.sql',
  'packages/**/*.{ts,tsx,mts,js,mjs,css,html,sql,pml,md}',
  'scripts/**/*.{ts,mts,mjs}',
]

/** Excluded, each for its reason. */
const excluded: Readonly<Record<string, string>> = {
  'db/schema.sql': 'is made from the migrations, whose released text never changes',
  'packages/schema/src/migrations/**': 'are the released migrations',
  'packages/*/src/generated/**': 'carries the comments of released migrations',
  'packages/store/test/previous-release/**': 'is the SQL of the previous release',
  'packages/store/sql/**': 'is compiled from the sources, which are counted',
  'docs/benchmarks.md': 'is a measurement; its words are in packages/bench',
  'scripts/words/**': 'has the list of words',
  'scripts/test/check-words.test.ts': 'plants the words',
}

export async function readCounts(root: string): Promise<CountsByFile> {
  const counts: [path: string, words: WordCounts][] = []
  for await (const path of glob(places, { cwd: root, exclude: isSkippedFolder })) {
    if (isExcluded(path)) continue
    const words = countWords(await readFile(join(root, path), 'utf8'))
    if (Object.keys(words).length > 0) counts.push([path, words])
  }
  return Object.fromEntries(counts.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

function isSkippedFolder(path: string): boolean {
  return ['node_modules', 'dist', '.q'].includes(basename(path))
}

function isExcluded(path: string): boolean {
  return Object.keys(excluded).some((pattern) => matchesGlob(path, pattern))
}

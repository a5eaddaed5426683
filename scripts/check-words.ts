/**
 * Compares the forbidden words in sources and documents with `words/allowed.json`; exit 1 if a count differs.
 * `--lower` writes the present counts to that file, unless the total of a word grew.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { scriptOptions } from '../packages/schema/src/script-options.ts'
import { type CountsByFile, differences, grownWords, totalOf } from './words/allow-list.ts'
import { readCounts } from './words/read-counts.ts'
import { workspace } from './workspace.ts'

const { lower } = scriptOptions('check-words', {
  lower: { flag: true, means: 'write the present counts, unless one grew' },
})
const path = join(workspace, 'scripts/words/allowed.json')
const allowed = JSON.parse(await readFile(path, 'utf8')) as CountsByFile
const found = await readCounts(workspace)

if (lower && grownWords(found, allowed).length === 0) {
  await writeFile(path, onePathPerLine(found))
  console.log(`allowed words: ${totalOf(allowed)} before, ${totalOf(found)} now`)
} else {
  report(differences(found, allowed))
}

function report(problems: readonly string[]): void {
  for (const problem of problems) console.log(problem)
  if (problems.length === 0) console.log(`${totalOf(found)} forbidden words are left, as the allow-list says`)
  else console.log('Use other words where a count grew; where it fell, run scripts/check-words.ts --lower.')
  process.exitCode = problems.length === 0 ? 0 : 1
}

/** One line for each path, so that two branches that lower different files merge without a conflict. */
function onePathPerLine(counts: CountsByFile): string {
  const lines = Object.entries(counts).map(([file, words]) => {
    const inner = Object.entries(words).map(([word, count]) => `"${word}": ${count}`)
    return `  ${JSON.stringify(file)}: { ${inner.join(', ')} }`
  })
  return `{\n${lines.join(',\n')}\n}\n`
}

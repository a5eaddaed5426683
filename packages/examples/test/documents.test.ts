/** The code in documents compiles, runs, and prints what the document says. */
import { execFile } from 'node:child_process'
import { glob, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { printsAsExpected, readDocument } from './document.ts'
import { play, setTheStage, stage } from './playing.ts'

const workspace = fileURLToPath(new URL('../../../', import.meta.url))

/** Documents whose code needs other surroundings than a replica, and who runs it. */
const elsewhere: Readonly<Record<string, string>> = {
  'docs/how-to/enqueue-from-sql.md': 'packages/client/test/sql/document.test.ts',
  'docs/how-to/memory-server.md': 'packages/cli/test/memory.test.ts',
  'docs/how-to/monitor.md': 'packages/server/test/tracing.test.ts',
  'docs/how-to/testing.md': 'scripts/test/documents.test.ts',
  'docs/how-to/your-own-transaction.md': 'packages/client/test/examples.test.ts',
}
const places = ['README.md', 'packages/*/README.md', 'docs/{tutorial,how-to,migrate}/*.md']
const paths = (await Array.fromAsync(glob(places, { cwd: workspace })))
  .filter((path) => !Object.hasOwn(elsewhere, path))
  .toSorted()
await rm(stage, { recursive: true, force: true })
const documents = await Promise.all(
  paths.map(async (path) => {
    const document = readDocument(await readFile(join(workspace, path), 'utf8'))
    return { path, document, folder: await setTheStage(path.replace(/\.md$/, ''), document) }
  }),
)

test('the code of all documents compiles, as strictly as ours', async () => {
  const options = { noEmit: true, composite: false, incremental: false, isolatedDeclarations: false, rootDir: '../..' }
  // The documents compile the sources of the packages, which may declare what a module of theirs does not.
  const include = ['.', '../../../*/src/**/*.d.ts']
  const config = { extends: '../../../../tsconfig.base.json', compilerOptions: options, include }
  await writeFile(join(stage, 'tsconfig.json'), JSON.stringify(config))
  const compiler = join(workspace, 'node_modules/.bin/tsc')
  const checked = await promisify(execFile)(compiler, ['-p', stage]).catch((error: { stdout: string }) => error)
  expect(checked.stdout).toBe('')
})

describe.each(documents)('$path', ({ document, folder }) => {
  test('its commands work and print the shown output', { timeout: 300_000 }, async () => {
    for (const { step, printed } of await play(folder, document)) {
      if (step.kind !== 'command' || printsAsExpected(printed, step.prints)) continue
      expect(`$ ${step.command}\n${printed}`).toBe(`$ ${step.command}\n${step.prints}`)
    }
  })
})

test.each(Object.entries(elsewhere))('the code of %s is run by %s', async (document, runner) => {
  expect(await readFile(join(workspace, runner), 'utf8')).toContain(document)
})

test('output is compared line by line, except for parts that the document leaves open', () => {
  expect(printsAsExpected('a 17 b\nc\n', 'a … b\nc\n')).toBe(true)
  expect(printsAsExpected('a\nx\ny\nb\n', 'a\n…\nb\n')).toBe(true)
  expect(printsAsExpected('a 17 c\n', 'a … b\n')).toBe(false)
  expect(printsAsExpected('a\nb\n', 'a\n')).toBe(false)
})

test('a block without a name, a duplicate name, and a console block without a command are errors', () => {
  const block = (language: string, code: string) => `\`\`\`${language}\n${code}\n\`\`\`\n`
  expect(() => readDocument(block('ts', 'const a = 1'))).toThrow('no name')
  expect(() => readDocument(block('ts', '// a.ts').repeat(2))).toThrow('Two blocks')
  expect(() => readDocument(block('console', 'hello'))).toThrow('no command')
})

/** Compares statements of documents with the code. */
import { glob, readFile, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { errorCodes } from '@q/schema'
import { documentFiles } from '../packed-consumer/document-code.ts'
import { workspace } from '../workspace.ts'

const documents = ['*.md', 'docs/**/*.md', 'packages/*/README.md']
const read = (path: string) => readFile(join(workspace, path), 'utf8')

async function foundInSource(pattern: RegExp): Promise<Set<string>> {
  const found = new Set<string>()
  for await (const path of glob(['packages/*/src/**/*.ts', 'packages/*/bin/*.js'], { cwd: workspace })) {
    for (const [, name = ''] of (await read(path)).matchAll(pattern)) found.add(name)
  }
  return found
}

test('docs/errors.md explains every error code, and no other', async () => {
  const met = await foundInSource(/\bcode: '([A-Z][A-Z_]+)'/g)
  const codes = new Set([...met, ...Object.keys(errorCodes), 'USAGE', 'UNEXPECTED'])
  const explained = new Set(codesOf(await read('docs/errors.md')))
  expect(explained).toEqual(codes)
})

test('docs/errors.md explains each code once for callers, and once as the end of a run', async () => {
  const [callers = '', ends = ''] = (await read('docs/errors.md')).split('## Codes a run can end with')
  for (const tables of [callers, ends]) expect(twice(codesOf(tables))).toEqual([])
  expect(twice(codesOf('| `A` | 1 |\n| `B` | 2 |\n| `A` | 3 |'))).toEqual(['A'])
})

function codesOf(tables: string): string[] {
  return [...tables.matchAll(/^\| `([A-Z_]+)`/gm)].map(([, code = '']) => code)
}

function twice(names: readonly string[]): string[] {
  return names.filter((name, index) => names.indexOf(name) !== index)
}

test('the codes a run can end with have one explanation, in code and document', async () => {
  const text = await read('docs/errors.md')
  for (const [code, meaning] of Object.entries(errorCodes)) expect(text).toContain(`| \`${code}\` | ${meaning} |`)
})

test('docs/reference/configuration.md names every variable that is read anywhere', async () => {
  const used = await foundInSource(/env\['((?:Q|DATABASE)_[A-Z_]+)'\]/g)
  const documented = [...(await read('docs/reference/configuration.md')).matchAll(/^\| `([A-Z_]+)`/gm)].map(
    ([, name]) => name,
  )
  const settings = [...used].filter((name) => !name.startsWith('Q_TEST_'))
  expect(documented).toEqual(expect.arrayContaining(settings))
})

test('the README has the two files that the packed consumer runs', async () => {
  expect([...(await documentFiles('README.md')).keys()]).toEqual(['tasks.ts', 'app.ts'])
})

test('the code of docs/how-to/testing.md is the code that is tested, to the letter', async () => {
  const printed = await documentFiles('docs/how-to/testing.md')
  const tested = new Map<string, string>()
  for await (const path of glob('packages/testing/test/how-to/*', { cwd: workspace })) {
    tested.set(basename(path), await read(path))
  }
  expect(printed).toEqual(tested)
})

test('every pool in documents and examples has an error handler, without which a lost idle connection ends the process', async () => {
  const places = [...documents, 'packages/examples/src/**/*.ts', 'packages/client/test/examples/*.ts']
  const bare: string[] = []
  let pools = 0
  for await (const path of glob(places, { cwd: workspace })) {
    for (const [, after = ''] of (await read(path)).matchAll(/new Pool\(([^]{0,300})/g)) {
      pools++
      if (!after.includes(".on('error'")) bare.push(path)
    }
  }
  expect(bare).toEqual([])
  expect(pools).toBeGreaterThan(5)
})

test('code in a document that names a file of ours is that file', async () => {
  const quoted: string[] = []
  for await (const path of glob(documents, { cwd: workspace })) {
    for (const [, code = '', file = ''] of (await read(path)).matchAll(/^```ts\n(\/\/ (packages\/\S+)\n[^]*?)^```/gm)) {
      expect(code).toBe(await read(file))
      quoted.push(file)
    }
  }
  expect(quoted).not.toEqual([])
})

test('every file, folder and heading that documents link to exists', async () => {
  const missing: string[] = []
  for await (const path of glob(documents, { cwd: workspace })) {
    for (const [, file = '', heading] of (await read(path)).matchAll(
      /\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?(?: "[^"]*")?\)/g,
    )) {
      const target = file === '' ? path : join(path, '..', file)
      if (!(await exists(target, heading)))
        missing.push(`${path}: ${file}${heading === undefined ? '' : `#${heading}`}`)
    }
  }
  expect(missing).toEqual([])
})

async function exists(target: string, heading: string | undefined): Promise<boolean> {
  if (heading !== undefined) return headingsOf(await read(target)).includes(heading)
  return (await stat(join(workspace, target)).catch(() => undefined)) !== undefined
}

/** As GitHub names the anchors of headings. */
function headingsOf(markdown: string): string[] {
  const headings = [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, text = '']) => text)
  return headings.map((text) =>
    text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

test('task modules in documents and examples import @q/task, so that no thread loads the client', async () => {
  const heavy: string[] = []
  for await (const path of glob(documents, { cwd: workspace })) {
    for (const [, file, code = ''] of (await read(path)).matchAll(/^```ts\n\/\/ (\S*tasks\.ts)\b([^]*?)^```/gm)) {
      if (loadsClient(code)) heavy.push(`${path}: ${file}`)
    }
  }
  for await (const path of glob('packages/examples/src/*/tasks.ts', { cwd: workspace })) {
    if (loadsClient(await read(path))) heavy.push(path)
  }
  expect(heavy).toEqual([])
})

/** Types are erased, and cost a thread nothing. */
function loadsClient(code: string): boolean {
  return /^import (?!type\b)[^\n]+ from '@q\/client'/m.test(code)
}

/** What documents say about the code is held against the code. */
import { glob, readFile, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { errorCodes } from '@q/schema'
import { documentFiles } from '../packed-consumer/document-code.ts'
import { workspace } from '../workspace.ts'

const read = (path: string) => readFile(join(workspace, path), 'utf8')

async function foundInSource(pattern: RegExp): Promise<Set<string>> {
  const found = new Set<string>()
  for await (const path of glob(['packages/*/src/**/*.ts', 'packages/*/bin/*.js'], { cwd: workspace })) {
    for (const [, name = ''] of (await read(path)).matchAll(pattern)) found.add(name)
  }
  return found
}

test('docs/errors.md explains every code a person can meet, and no other', async () => {
  const met = await foundInSource(/\bcode: '([A-Z][A-Z_]+)'/g)
  const codes = new Set([...met, ...Object.keys(errorCodes), 'USAGE', 'UNEXPECTED'])
  const explained = new Set([...(await read('docs/errors.md')).matchAll(/^\| `([A-Z_]+)`/gm)].map(([, code]) => code))
  expect(explained).toEqual(codes)
})

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
  const places = ['*.md', 'docs/**/*.md', 'packages/examples/src/**/*.ts', 'packages/client/test/examples/*.ts']
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
  for await (const path of glob(['*.md', 'docs/**/*.md'], { cwd: workspace })) {
    for (const [, code = '', file = ''] of (await read(path)).matchAll(/^```ts\n(\/\/ (packages\/\S+)\n[^]*?)^```/gm)) {
      expect(code).toBe(await read(file))
      quoted.push(file)
    }
  }
  expect(quoted).not.toEqual([])
})

test('every file and folder that documents link to exists', async () => {
  const missing: string[] = []
  for await (const path of glob(['*.md', 'docs/**/*.md'], { cwd: workspace })) {
    for (const [, target = ''] of (await read(path)).matchAll(/\]\((?!https?:|#)([^)#]+)/g)) {
      const exists = await stat(join(workspace, path, '..', target)).catch(() => undefined)
      if (exists === undefined) missing.push(`${path}: ${target}`)
    }
  }
  expect(missing).toEqual([])
})

test('task modules in documents and examples import @q/task, so that no thread loads the client', async () => {
  const heavy: string[] = []
  for await (const path of glob(['*.md', 'docs/**/*.md'], { cwd: workspace })) {
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

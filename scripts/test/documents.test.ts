/** What documents say about the code is held against the code. */
import { glob, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { errorCodes } from '@q/schema'
import { readmeFiles } from '../packed-consumer/readme-code.ts'
import { workspace } from '../workspace.ts'

const read = (path: string) => readFile(join(workspace, path), 'utf8')

async function foundInSource(pattern: RegExp): Promise<Set<string>> {
  const found = new Set<string>()
  for await (const path of glob('packages/*/src/**/*.ts', { cwd: workspace })) {
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
  expect([...(await readmeFiles()).keys()]).toEqual(['tasks.ts', 'app.ts'])
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

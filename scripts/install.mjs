/**
 * Installs before a script of package.json runs. Plain JavaScript that every Node can run, because it installs Node 24.
 *
 *   node scripts/install.mjs        everything: tests, linters, benchmarks
 *   node scripts/install.mjs run    only what `start` and `q` need, unless everything is installed already
 *
 * The shell of a script remembers where it found `node`: `hash -r`, or `exec`, makes it find the Node that was just installed.
 * pnpm answers within a tenth of a second when nothing has changed. Its own `verifyDepsBeforeRun` always installs everything.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

const workspace = dirname(dirname(fileURLToPath(import.meta.url)))
const state = `${workspace}/node_modules/.pnpm-workspace-state-v1.json`
const onlyToRun = process.argv[2] === 'run' && !hasEverything()
const selection = [
  '--prod',
  '--filter=q-workspace',
  '--filter=@q/cli...',
  '--filter=@q/runner...',
  '--filter=@q/server...',
  '--filter=@q/dashboard...',
]
const args = ['install', ...(existsSync(state) ? ['--silent'] : []), ...(onlyToRun ? selection : [])]

const { status, signal } = runPnpm(args)
if (signal !== null) process.kill(process.pid, signal)
process.exitCode = status ?? 1

function hasEverything() {
  if (!existsSync(state)) return false
  const { settings, filteredInstall } = JSON.parse(readFileSync(state, 'utf8'))
  return settings?.dev === true && filteredInstall !== true
}

/** The pnpm that runs the script: a program, or a file for Node. */
function runPnpm(pnpmArgs) {
  const path = process.env.npm_execpath ?? ''
  const options = { cwd: workspace, stdio: 'inherit' }
  if (!path.includes('pnpm')) return spawnSync('npx', ['--yes', 'pnpm@12', ...pnpmArgs], options)
  if (/\.[cm]?js$/.test(path)) return spawnSync(process.execPath, [path, ...pnpmArgs], options)
  return spawnSync(path, pnpmArgs, options)
}

#!/usr/bin/env node
/**
 * Starts the `q` command. Plain JavaScript that every Node can parse, so that an old Node reports what it lacks instead
 * of a SyntaxError. In the workspace it runs the source, in a published package the build.
 */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const neededMajor = 24
const source = fileURLToPath(new URL('../src/bin.ts', import.meta.url))

if (Number.parseInt(process.versions.node, 10) < neededMajor) reportOldNode()
else if (existsSync(source)) runSource()
else await import('../dist/bin.js')

/** Replaces this process, so that signals and the exit code are the command's own. */
function runSource() {
  // pnpm runs a script in the folder of its package.json; paths on the command line are relative to the caller's folder.
  if (process.env.npm_lifecycle_event === 'q' && process.env.INIT_CWD) process.chdir(process.env.INIT_CWD)
  const args = ['--conditions=@q/source', source, ...process.argv.slice(2)]
  // Set before Node starts, it also spares loading what removes types (packages/runner/src/startup/load-modules.ts).
  const cache =
    process.env.NODE_COMPILE_CACHE || fileURLToPath(new URL('../../../node_modules/.cache/q', import.meta.url))
  process.execve(process.execPath, [process.execPath, ...args], { ...process.env, NODE_COMPILE_CACHE: cache })
}

function reportOldNode() {
  const error = {
    code: 'NODE_TOO_OLD',
    message: `q needs Node ${neededMajor} or newer, and this is Node ${process.versions.node}.`,
    why: 'q runs TypeScript tasks as they are and uses features that older releases do not have.',
    fix: `Install Node ${neededMajor}, or put it first in PATH, and run the command again.`,
  }
  if (process.argv.includes('--json')) console.log(JSON.stringify({ error }))
  else console.error(`${error.code}  ${error.message}\n  why  ${error.why}\n  fix  ${error.fix}`)
  process.exitCode = 2
}

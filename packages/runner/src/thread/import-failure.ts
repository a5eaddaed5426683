/** Why a task module cannot be loaded, with the line that is to blame. */
import { spawnSync } from 'node:child_process'
import { inspect } from 'node:util'
import { ownFrame, shownPath } from '../own-frame.ts'
import type { Problem } from '../protocol.ts'

export function importFailed(url: string, error: unknown): Problem {
  const missing = error instanceof Error && Reflect.get(error, 'code') === 'ERR_MODULE_NOT_FOUND'
  const at = error instanceof Error ? placeOf(url, error) : undefined
  const words = error instanceof Error ? `${error.name}: ${error.message}` : `It threw ${inspect(error)}.`
  return {
    code: 'TASK_MODULE_FAILED',
    what: `The task module ${shownPath(url)} cannot be loaded.`,
    why: at === undefined ? words : `${words} (at ${at})`,
    fix: missing
      ? 'Check the path in Q_TASKS and the imports of that file.'
      : 'Correct the module so that importing it does not throw; do work inside tasks, not at import.',
    ...(error instanceof Error && error.stack !== undefined ? { stack: error.stack } : {}),
  }
}

function placeOf(url: string, error: Error): string | undefined {
  return ownFrame(error.stack ?? '') ?? (error instanceof SyntaxError ? syntaxPlace(url) : undefined)
}

const importMsMax = 10_000

/**
 * Node tells the line of a JavaScript syntax error only when it dies of it. None of the module's code is executed: the
 * whole of it is read before.
 */
function syntaxPlace(url: string): string | undefined {
  const importing = ['--input-type=module', '--eval', `await import(${JSON.stringify(url)})`]
  const { stderr } = spawnSync(process.execPath, [...process.execArgv, ...importing], {
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
    timeout: importMsMax,
  })
  return ownFrame(stderr)
}

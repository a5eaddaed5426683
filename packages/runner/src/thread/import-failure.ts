/** Explains why a task module cannot be loaded, with the line that failed. Never throws, even if a getter of the error does. */
import { spawnSync } from 'node:child_process'
import { inspect } from 'node:util'
import { TaskDefinitionError } from '@q/task'
import { errorMessage } from '../output/error-message.ts'
import { userFrame, displayPath } from '../output/user-frame.ts'
import type { ExplainedProblem } from '../protocol/messages.ts'

export function importFailed(url: string, error: unknown): ExplainedProblem {
  try {
    return explained(url, error)
  } catch {
    return failedImport(url, 'It threw something that cannot be written as text.', fixes.other)
  }
}

function explained(url: string, error: unknown): ExplainedProblem {
  const stack = error instanceof Error ? stackOf(error) : undefined
  const at = error instanceof Error ? placeOf(url, error, stack) : undefined
  const place = at === undefined ? '' : ` (at ${at})`
  return {
    ...(error instanceof TaskDefinitionError
      ? wrongDefinition(error, place)
      : failedImport(url, `${wordsOf(error)}${place}`, fixOf(error))),
    ...(stack === undefined ? {} : { stack }),
  }
}

/** Only text reaches the main thread. */
function stackOf({ stack }: { readonly stack?: unknown }): string | undefined {
  return typeof stack === 'string' ? stack : undefined
}

function wrongDefinition({ code, message, why, fix }: TaskDefinitionError, place: string): ExplainedProblem {
  return { code, what: `${message}${place}`, why, fix }
}

function failedImport(url: string, why: string, fix: string): ExplainedProblem {
  return { code: 'TASK_MODULE_FAILED', what: `The task module ${displayPath(url)} cannot be loaded.`, why, fix }
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${errorMessage(error)}` : `It threw ${inspect(error)}.`
}

const fixes = {
  notFound: 'Check the path in Q_TASKS and the imports of that file.',
  commonJs: 'Node reads the file as CommonJS: run `npm pkg set type=module`, or name the file .mts or .mjs.',
  other: 'Correct the module so that importing it does not throw; do work inside tasks, not at import.',
} as const

function fixOf(error: unknown): string {
  if (error instanceof Error && Reflect.get(error, 'code') === 'ERR_MODULE_NOT_FOUND') return fixes.notFound
  if (error instanceof SyntaxError && /outside a module|Unexpected token 'export'/.test(error.message))
    return fixes.commonJs
  return fixes.other
}

function placeOf(url: string, error: Error, stack = ''): string | undefined {
  return userFrame(stack) ?? (error instanceof SyntaxError ? syntaxErrorLocation(url) : undefined)
}

const importMsMax = 10_000

/**
 * Node prints the line of a JavaScript syntax error only when the error ends the process. No code of the module is
 * executed: Node parses all of it first.
 */
function syntaxErrorLocation(url: string): string | undefined {
  const importing = ['--input-type=module', '--eval', `await import(${JSON.stringify(url)})`]
  const { stderr } = spawnSync(process.execPath, [...process.execArgv, ...importing], {
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
    timeout: importMsMax,
  })
  return userFrame(stderr)
}

/**
 * Resolves Q_TASKS to file URLs: files or globs, relative to the directory in which the command was entered (pnpm runs
 * scripts in the package's folder and keeps that directory in INIT_CWD). Without Q_TASKS: the demo tasks.
 */
import { existsSync, globSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { TaskDefinitionError } from '@q/task'

export function findTaskModules(patterns: readonly string[], env: NodeJS.ProcessEnv): string[] {
  if (patterns.length === 0) return [import.meta.resolve('@q/runner/demo-tasks')]
  const base = env['INIT_CWD'] ?? process.cwd()
  const found = patterns.map((pattern) =>
    existsSync(resolve(base, pattern)) ? [pattern] : globSync(pattern, { cwd: base }).toSorted(),
  )
  const missing = patterns.filter((_, index) => found[index]?.length === 0)
  if (missing.length > 0) throw noSuchModules(missing, base)
  const files = found.flat().map((file) => resolve(base, file))
  return [...new Set(files)].map((file) => pathToFileURL(file).href)
}

function noSuchModules(patterns: readonly string[], base: string): TaskDefinitionError {
  return new TaskDefinitionError({
    code: 'TASK_MODULE_MISSING',
    what: `No file matches ${patterns.map((pattern) => `"${pattern}"`).join(' or ')} in Q_TASKS.`,
    why: `Paths are relative to ${base}.`,
    fix: 'Name files or globs, separated by commas, for instance Q_TASKS=src/tasks/*.ts.',
  })
}

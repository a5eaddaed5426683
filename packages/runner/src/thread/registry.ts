/**
 * The tasks that a worker knows, by name. User code is loaded here, in worker threads, and never on the main thread. All
 * problems of all modules are reported together, as plain data.
 */
import { isName, isTask, nameOf, type Task } from '@q/task'
import { displayPath } from '../output/user-frame.ts'
import type { ExplainedProblem } from '../protocol/messages.ts'
import { importFailed } from './import-failure.ts'

export interface Registry {
  readonly tasks: ReadonlyMap<string, Task>
  readonly problems: readonly ExplainedProblem[]
}

/** The exports of a module, and its URL. */
export interface LoadedModule {
  readonly home: string
  readonly exported: object
}

export async function loadTasks(moduleUrls: readonly string[]): Promise<Registry> {
  const modules: LoadedModule[] = []
  const unloadable: ExplainedProblem[] = []
  for (const home of moduleUrls) {
    const exported = await importModule(home).catch((error: unknown) => void unloadable.push(importFailed(home, error)))
    if (exported !== undefined) modules.push({ home, exported })
  }
  const { tasks, problems } = registryOf(modules)
  return { tasks, problems: [...unloadable, ...problems] }
}

export function registryOf(modules: readonly LoadedModule[]): Registry {
  const tasks = new Map<string, Task>()
  const homes = new Map<string, string>()
  const problems: ExplainedProblem[] = []
  for (const { home, exported } of modules) {
    const found = Object.entries(exported).filter(([, value]) => isTask(value)) as [string, Task][]
    if (found.length === 0) problems.push(nothingExported(home))
    for (const [exportName, task] of found) {
      const name = nameOf(exportName, task)
      const first = homes.get(name)
      if (first !== undefined) problems.push(definedTwice(name, first, home))
      else if (name === 'default' || !isName(name)) problems.push(unnamed(name, home))
      else tasks.set(name, task)
      homes.set(name, home)
    }
  }
  return { tasks, problems }
}

async function importModule(url: string): Promise<Record<string, unknown>> {
  return (await import(url)) as Record<string, unknown>
}

function nothingExported(url: string): ExplainedProblem {
  return {
    code: 'TASK_MODULE_EMPTY',
    what: `The task module ${displayPath(url)} exports no task.`,
    why: 'None of its exports was made with task().',
    fix: "Write: export const hello = task(({ name }: { name: string }) => …), with task from '@q/task'.",
  }
}

function definedTwice(name: string, first: string, second: string): ExplainedProblem {
  return {
    code: 'TASK_DEFINED_TWICE',
    what: `The task "${name}" is defined twice.`,
    why: `Both ${displayPath(first)} and ${displayPath(second)} export it.`,
    fix: 'Rename one of them (their exports, or their option name), or load only one of the modules.',
  }
}

function unnamed(name: string, url: string): ExplainedProblem {
  return {
    code: 'TASK_NAME_INVALID',
    what: `The task module ${displayPath(url)} exports a task as "${name}", which cannot be its name.`,
    why: 'A task is named by its export, or by its option name; names are 1 to 100 letters, digits or . _ - : / and never "default".',
    fix: "Export it by name, export const render = task(…), or name it: task({ name: 'render' }, …).",
  }
}

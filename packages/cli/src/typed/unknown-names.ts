/** Hints about names that nothing has: a list that is empty because of a typing error looks like good news. */
import type { Store } from '@q/store'
import { defaultQueue } from '@q/task'
import { nearestName } from './nearest-name.ts'
import { queueNotFound } from './not-found.ts'
import type { FilterOptions } from './run-filter.ts'

/** One sentence per name of the filter that nothing has. */
export async function unknownNames(store: Store, { task, queue }: FilterOptions): Promise<string[]> {
  const tasks = task === undefined ? [] : (await store.publishedTasks()).map(({ name }) => name)
  const queues = queue === undefined ? [] : await queueNames(store)
  return [
    ...(task === undefined || tasks.includes(task)
      ? []
      : [`No replica has published the task "${task}".${meant(task, tasks)}`]),
    ...(queue === undefined || queues.includes(queue) ? [] : [`There is no queue "${queue}".${meant(queue, queues)}`]),
  ]
}

export async function noSuchQueue(store: Store, name: string): Promise<Error> {
  return queueNotFound(name, meant(name, await queueNames(store)))
}

/** Undefined: a task or a run uses the queue. */
export async function unusedQueueWarning(store: Store, name: string): Promise<string | undefined> {
  const names = await queueNames(store)
  return names.includes(name) ? undefined : `Warning: no run and no task uses the queue "${name}".${meant(name, names)}`
}

/** Tasks that are not published yet will use the default queue unless they say otherwise. */
async function queueNames(store: Store): Promise<string[]> {
  return [...(await store.listQueues()).map(({ queue }) => queue), defaultQueue]
}

function meant(name: string, names: readonly string[]): string {
  const nearest = nearestName(name, names)
  return nearest === undefined ? '' : ` Did you mean "${nearest}"?`
}

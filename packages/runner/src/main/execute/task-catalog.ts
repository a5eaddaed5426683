/** The tasks of this replica: their options, concurrency limits and schedules. */
import type { Store } from '@q/store'
import { optionData, type OptionData } from '@q/task'
import type { TaskDescription } from '../../protocol/messages.ts'

/** Returns the options of a task by name; the defaults for an unknown task. */
export function optionsOf(tasks: readonly TaskDescription[]): (task: string) => OptionData {
  const byName = new Map(tasks.map(({ name, options }) => [name, options]))
  const unknown = optionData({})
  return (task) => byName.get(task) ?? unknown
}

/** Publishes the concurrency limits of the tasks. The last replica to start wins, because it has the newest code. */
export async function publishConcurrencyLimits(store: Store, tasks: readonly TaskDescription[]): Promise<void> {
  for (const { name, options } of tasks) {
    const { concurrency } = options
    if (concurrency !== null) await store.setConcurrencyLimit(concurrency.shared ?? name, concurrency.limit)
  }
}

/** Publishes the schedules that the tasks declare. The last replica to start wins, because it has the newest code. */
export async function publishTaskSchedules(
  store: Store,
  replicaId: string,
  tasks: readonly TaskDescription[],
): Promise<void> {
  const own = tasks.map(({ name, options }) => ({ task: name, schedule: options.schedule }))
  await store.publishSchedules(replicaId, own)
}

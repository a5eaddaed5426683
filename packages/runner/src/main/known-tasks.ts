/** The tasks this replica knows, and what they say about themselves. */
import type { Store } from '@q/store'
import { optionData, type OptionData } from '@q/task'
import type { TaskDescription } from '../protocol.ts'

/** A replica claims only what it knows; for anything else, what a task is that says nothing. */
export function optionsOf(tasks: readonly TaskDescription[]): (task: string) => OptionData {
  const byName = new Map(tasks.map(({ name, options }) => [name, options]))
  const unknown = optionData({})
  return (task) => byName.get(task) ?? unknown
}

/** The last replica to start has the newest code, and says how many runs of a key may be live. */
export async function limitKeys(store: Store, tasks: readonly TaskDescription[]): Promise<void> {
  for (const { name, options } of tasks) {
    const { concurrency } = options
    if (concurrency !== null) await store.setConcurrencyLimit(concurrency.shared ?? name, concurrency.limit)
  }
}

/** What they declare about time; the last replica to start has the newest code. */
export async function publishOwnSchedules(
  store: Store,
  replicaId: string,
  tasks: readonly TaskDescription[],
): Promise<void> {
  const own = tasks.map(({ name, options }) => ({ task: name, schedule: options.schedule }))
  await store.publishSchedules(replicaId, own)
}

/** A run that this replica itself asks for, with all that its task has published about itself. */
import type { NewRun, PublishedTask, Store } from '@q/store'
import { defaultQueue, runSettings, type OptionData } from '@q/task'

export interface RunWish {
  readonly task: string
  readonly payload: unknown
  /** What the wish says beyond its task. */
  readonly more?: Partial<Pick<NewRun, 'delayMs' | 'priority' | 'group' | 'expiresInMs'>>
}

export interface MadeRun {
  readonly run: NewRun
  readonly queue: string
}

/** A task that nobody has published is enqueued with defaults: its replicas may just be starting. */
export async function makeRun(
  store: Store,
  published: readonly PublishedTask[],
  { task, payload, more = {} }: RunWish,
): Promise<MadeRun> {
  const notice = published.find(({ name }) => name === task)
  const options: Partial<OptionData> = notice?.options ?? {}
  const queue = notice?.queue ?? defaultQueue
  const lane = await store.internLane({ queue, task, requires: options.requires ?? [] })
  return { queue, run: { task, lane, payload, ...runSettings(task, options, payload), ...more } }
}

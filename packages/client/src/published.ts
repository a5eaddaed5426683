/**
 * Where runs of a task go, and what their payloads must be: what its definition says, if the producer has it; else what
 * replicas have published about it, remembered for a while. A task that nobody has published yet is accepted, with
 * defaults: a producer may be deployed before the replicas that know the task.
 */
import type { LaneName, PublishedTask, Store } from '@q/store'
import { defaultQueue, isTask, nameOf, optionData, type OptionData, type Task } from '@q/task'
import { checkBy, type PayloadCheck } from './payload-check.ts'
import { createPublishedSchemas } from './published-schema.ts'

export interface Destination {
  readonly lane: number
  readonly queueName: string
  readonly options: Partial<OptionData>
  readonly check: PayloadCheck | undefined
}

export interface Published {
  find(task: string): Promise<Destination>
}

/** That a task is not published is remembered for less long: its replicas may just be starting. */
const rememberedMs = { known: 30_000, unknown: 1_000 }

type Notice = Omit<Destination, 'lane'>

export function createPublished(store: Store, definitions: object): Published {
  const defined = new Map(Object.entries(definitions).flatMap(noticeOfDefinition))
  const schemas = createPublishedSchemas()
  const laneOf = createLanes(store)
  let tasks: Promise<PublishedTask[]> | undefined
  let readMs = Number.NEGATIVE_INFINITY

  async function published(notOlderThanMs: number): Promise<PublishedTask[]> {
    if (tasks === undefined || performance.now() - readMs > notOlderThanMs) {
      readMs = performance.now()
      tasks = store.publishedTasks()
    }
    return tasks.catch((error: unknown) => {
      tasks = undefined // a failure is not remembered
      throw error
    })
  }

  async function noticeOf(task: string): Promise<Notice> {
    const definition = defined.get(task)
    if (definition !== undefined) return definition
    const noticeIn = (list: PublishedTask[]) => list.find((candidate) => candidate.name === task)
    const notice = noticeIn(await published(rememberedMs.known)) ?? noticeIn(await published(rememberedMs.unknown))
    return {
      queueName: notice?.queue ?? defaultQueue,
      options: notice?.options ?? {},
      check: schemas.checkBy(task, notice?.payloadSchema ?? null),
    }
  }

  return {
    async find(task) {
      const notice = await noticeOf(task)
      const { queueName: queue, options } = notice
      return { ...notice, lane: await laneOf({ queue, task, requires: options.requires ?? [] }) }
    },
  }
}

function noticeOfDefinition([exported, value]: [string, unknown]): [string, Notice][] {
  if (!isTask(value)) return []
  const task: Task = value
  const options = optionData(task.options)
  return [[nameOf(exported, task), { queueName: options.queue, options, check: checkBy(task.options.input) }]]
}

function createLanes(store: Store): (lane: LaneName) => Promise<number> {
  const lanes = new Map<string, Promise<number>>()
  return (name) => {
    const key = [name.queue, name.task, ...(name.requires ?? [])].join('\n')
    const known = lanes.get(key)
    if (known !== undefined) return known
    const lane = store.internLane(name)
    lanes.set(key, lane)
    lane.catch(() => lanes.delete(key))
    return lane
  }
}

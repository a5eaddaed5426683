/**
 * Where runs of a task go, and what their payloads must be: what its definition says, if the producer has it; else what
 * replicas have published about it, remembered for a while. A task that nobody has published yet is accepted, with
 * defaults: a producer may be deployed before the replicas that know the task.
 */
import { findLane, internLane, publishedTasks, type Connection, type Db, type LaneName } from '@q/store'
import { defaultQueue, isTask, nameOf, optionData, type OptionData, type Task } from '@q/task'
import { checkBy, type PayloadCheck } from './payload-check.ts'
import { createPublishedSchemas } from './published-schema.ts'
import { createRemembered, type Remembered } from './remembered.ts'

export interface Destination {
  readonly lane: number
  readonly queueName: string
  readonly options: Partial<OptionData>
  readonly check: PayloadCheck | undefined
}

export interface Published {
  /** `within`: the transaction of a caller that must not wait for another connection; it is read through that one. */
  find(task: string, within?: Db): Promise<Destination>
}

/** That a task is not published is remembered for less long: its replicas may just be starting. */
const rememberedMs = { known: 30_000, unknown: 1_000 }

type Notice = Omit<Destination, 'lane'>

export function createPublished({ db, apart }: Pick<Connection, 'db' | 'apart'>, definitions: object): Published {
  const defined = new Map(Object.entries(definitions).flatMap(noticeOfDefinition))
  const schemas = createPublishedSchemas()
  const tasks = createRemembered(() => publishedTasks(db))
  const lanes = new Map<string, Remembered<number>>()

  async function noticeOf(task: string, within: Db | undefined): Promise<Notice> {
    const definition = defined.get(task)
    if (definition !== undefined) return definition
    const readWithin = within === undefined ? undefined : () => publishedTasks(within)
    const lookFor = async (maxAgeMs: number) =>
      (await tasks.get(maxAgeMs, readWithin)).find(({ name }) => name === task)
    const notice = (await lookFor(rememberedMs.known)) ?? (await lookFor(rememberedMs.unknown))
    return {
      queueName: notice?.queue ?? defaultQueue,
      options: notice?.options ?? {},
      check: schemas.checkBy(task, notice?.payloadSchema ?? null),
    }
  }

  function laneOf(name: LaneName, within: Db | undefined): Promise<number> {
    const key = [name.queue, name.task, ...(name.requires ?? [])].join('\n')
    const lane = lanes.get(key) ?? createRemembered(() => internLane(db, name))
    lanes.set(key, lane)
    // Made on a connection of its own: two transactions that make the same lane would wait for each other's commit.
    const madeApart = async (tx: Db) => (await findLane(tx, name)) ?? apart((own) => internLane(own, name))
    return lane.get(Number.POSITIVE_INFINITY, within === undefined ? undefined : () => madeApart(within))
  }

  return {
    async find(task, within) {
      const notice = await noticeOf(task, within)
      const { queueName: queue, options } = notice
      return { ...notice, lane: await laneOf({ queue, task, requires: options.requires ?? [] }, within) }
    },
  }
}

function noticeOfDefinition([exported, value]: [string, unknown]): [string, Notice][] {
  if (!isTask(value)) return []
  const task: Task = value
  const options = optionData(task.options)
  return [[nameOf(exported, task), { queueName: options.queue, options, check: checkBy(task.options.input) }]]
}

/**
 * Where runs of a task go, and what their payloads must be: what its definition says, if the producer has it; else what
 * replicas have published about it, cached. For a task that is not published the database decides, and the run
 * waits at the gate `task` until a replica publishes the task.
 */
import {
  createTaskMemory,
  findLane,
  internLane,
  publishedTasks,
  type Connection,
  type Db,
  type TaskReads,
} from '@q/store'
import { defaultQueue, isTask, nameOf, optionData, type OptionData, type Task } from '@q/task'
import { checkBy, type PayloadCheck } from './payload-check.ts'
import { createPublishedSchemas } from './published-schema.ts'

export interface Destination {
  /** Undefined: this producer has not seen a publication of the task. */
  readonly lane?: number
  readonly queueName: string
  readonly options: Partial<OptionData>
  readonly check: PayloadCheck | undefined
}

export interface Published {
  /** `within`: the transaction of a caller that must not wait for another connection; it is read through that one. */
  find(task: string, within?: Db): Promise<Destination>
}

type Notice = Omit<Destination, 'lane'>

export function createPublished({ db, apart }: Pick<Connection, 'db' | 'apart'>, definitions: object): Published {
  const defined = new Map(Object.entries(definitions).flatMap(noticeOfDefinition))
  const schemas = createPublishedSchemas()
  const usual: TaskReads = { publishedTasks: () => publishedTasks(db), internLane: (name) => internLane(db, name) }
  const memory = createTaskMemory(usual, () => performance.now())

  function readsIn(tx: Db): TaskReads {
    return {
      publishedTasks: () => publishedTasks(tx),
      // Made on a connection of its own: two transactions that make the same lane would wait for each other's commit.
      internLane: async (name) => (await findLane(tx, name)) ?? apart((own) => internLane(own, name)),
    }
  }

  async function noticeOf(task: string, reads: TaskReads | undefined): Promise<Notice | undefined> {
    const definition = defined.get(task)
    if (definition !== undefined) return definition
    const notice = await memory.find(task, reads)
    if (notice === undefined) return undefined
    const { queue: queueName, options, payloadSchema } = notice
    return { queueName, options, check: schemas.checkBy(task, payloadSchema) }
  }

  return {
    async find(task, within) {
      const reads = within === undefined ? undefined : readsIn(within)
      const notice = await noticeOf(task, reads)
      if (notice === undefined) return { queueName: defaultQueue, options: {}, check: undefined }
      const { queueName: queue, options } = notice
      return { ...notice, lane: await memory.laneOf({ queue, task, requires: options.requires ?? [] }, reads) }
    },
  }
}

function noticeOfDefinition([exported, value]: [string, unknown]): [string, Notice][] {
  if (!isTask(value)) return []
  const task: Task = value
  const options = optionData(task.options)
  return [[nameOf(exported, task), { queueName: options.queue, options, check: checkBy(task.options.input) }]]
}

/**
 * The queue, lane, options and payload check of a task: from its definition if the producer has it, else from what replicas
 * have published, cached. For an unpublished task the database decides, and the run waits at the gate `task` until a
 * replica publishes the task.
 */
import {
  createTaskCache,
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

export interface TaskRoute {
  /** Undefined if this producer has not seen the task published. */
  readonly lane?: number
  readonly queueName: string
  readonly options: Partial<OptionData>
  readonly check: PayloadCheck | undefined
}

export interface TaskRouting {
  /** `within`: the caller's transaction. It must not wait for another connection, so the reads go through it. */
  routeOf(task: string, within?: Db): Promise<TaskRoute>
}

type RouteFacts = Omit<TaskRoute, 'lane'>

export function createTaskRouting(
  { db, onOwnConnection }: Pick<Connection, 'db' | 'onOwnConnection'>,
  definitions: object,
): TaskRouting {
  const defined = new Map(Object.entries(definitions).flatMap(factsOfDefinition))
  const schemas = createPublishedSchemas()
  const usual: TaskReads = { publishedTasks: () => publishedTasks(db), internLane: (name) => internLane(db, name) }
  const cache = createTaskCache(usual, () => performance.now())

  function readsIn(tx: Db): TaskReads {
    return {
      publishedTasks: () => publishedTasks(tx),
      // On its own connection: two transactions that create the same lane would block until one of them commits.
      internLane: async (name) => (await findLane(tx, name)) ?? onOwnConnection((own) => internLane(own, name)),
    }
  }

  async function factsOf(task: string, reads: TaskReads | undefined): Promise<RouteFacts | undefined> {
    const definition = defined.get(task)
    if (definition !== undefined) return definition
    const facts = await cache.find(task, reads)
    if (facts === undefined) return undefined
    const { queue: queueName, options, payloadSchema } = facts
    return { queueName, options, check: schemas.checkBy(task, payloadSchema) }
  }

  return {
    async routeOf(task, within) {
      const reads = within === undefined ? undefined : readsIn(within)
      const facts = await factsOf(task, reads)
      if (facts === undefined) return { queueName: defaultQueue, options: {}, check: undefined }
      const { queueName: queue, options } = facts
      return { ...facts, lane: await cache.laneOf({ queue, task, requires: options.requires ?? [] }, reads) }
    },
  }
}

function factsOfDefinition([exported, value]: [string, unknown]): [string, RouteFacts][] {
  if (!isTask(value)) return []
  const task: Task = value
  const options = optionData(task.options)
  return [[nameOf(exported, task), { queueName: options.queue, options, check: checkBy(task.options.input) }]]
}
